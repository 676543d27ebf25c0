/** A value that is read from several places. `combineLatest` and what follows it would keep each place's value twice. */
import { Observable, type Subscriber } from "rxjs";
import { Causes } from "./causes.ts";

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
): Observable<T> => new Observable<T>((destination) => new Derived(destination, read, same).follow(sources));

class Derived<T> extends Causes<T> {
  private readonly read: () => T;
  private readonly same: (before: T, now: T) => boolean;
  private told: { readonly value: T } | undefined;

  constructor(destination: Subscriber<T>, read: () => T, same: (before: T, now: T) => boolean) {
    super(destination);
    this.read = read;
    this.same = same;
  }

  protected override tell(): void {
    const value = this.read();
    if (this.told !== undefined && this.same(this.told.value, value)) return;
    this.told = { value };
    this.destination.next(value);
  }
}
