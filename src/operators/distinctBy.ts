/** Says what "changed" means. */
import { distinctUntilChanged, type MonoTypeOperatorFunction } from "rxjs";

/**
 * Drops a value that equals the one passed on last.
 *
 *     source                a-a'-b-b'-a-|      a equals a', b equals b'
 *     distinctBy(equal)     a----b----a-|
 *
 * Cancels: nothing. Errors: the source's, and what `equal` throws. Bound: remembers one value.
 */
export const distinctBy = <T>(equal: (before: T, now: T) => boolean): MonoTypeOperatorFunction<T> =>
  distinctUntilChanged(equal);
