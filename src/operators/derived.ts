/** A value that is read from several places. `combineLatest` and what follows it would keep each place's value twice. */
import { distinctUntilChanged, map, type Observable } from "rxjs";
import { whenever } from "./whenever.ts";

/**
 * Emits what `read` answers: at once, and whenever it is another after one of the sources has emitted.
 *
 *     sources     ---a----b-c---
 *     read()      1  1    2 3        same = (1, 1)
 *     derived     1-------2-3---
 *
 * Cancels: all sources. Errors: theirs, and what the functions throw. Bound: remembers one value.
 */
export const derived = <T>(
  sources: readonly Observable<unknown>[],
  read: () => T,
  same: (before: T, now: T) => boolean = Object.is,
): Observable<T> => whenever(...sources).pipe(map(read), distinctUntilChanged(same));
