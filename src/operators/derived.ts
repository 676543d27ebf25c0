/**
 * Reads a value from several sources. `merge`, `map` and `distinctUntilChanged` do the same and take 2 % more heap
 * of a simulated fleet: each worker of a pod has two of these streams.
 */
import { Observable, type Subscriber } from "rxjs";
import { type InnerObserver, subscribeInner } from "./subscribeInner.ts";

/**
 * Emits the result of `read`: at once, and after each emission of a source if the result differs from the last one.
 * Values that the sources emit while they are being subscribed, as cells do, count as the first emission.
 *
 *     sources     ---a----b-c-|
 *     read()      1  1    2 3        same = (1, 1)
 *     derived     1-------2-3-|
 *
 * Cancels: all sources. Errors: the first one of a source ends the stream, as does one that a function throws. Bound:
 * keeps one value.
 */
export const derived = <T>(
  sources: readonly Observable<unknown>[],
  read: () => T,
  same: (before: T, now: T) => boolean = Object.is,
): Observable<T> => new Observable<T>((destination) => new Derived(destination, read, same).follow(sources));

/** An object, since closures would keep the sources. */
class Derived<T> implements InnerObserver<unknown> {
  private readonly destination: Subscriber<T>;
  private readonly read: () => T;
  private readonly same: (before: T, now: T) => boolean;
  private last: T | undefined = undefined;
  private left = 0;
  private isFollowed = false;

  constructor(destination: Subscriber<T>, read: () => T, same: (before: T, now: T) => boolean) {
    this.destination = destination;
    this.read = read;
    this.same = same;
  }

  /** Follows the sources; the destination completes with the last of them. */
  follow(sources: readonly Observable<unknown>[]): void {
    this.left = sources.length;
    for (const source of sources) subscribeInner(this.destination, () => source, this);
    this.isFollowed = true;
    this.emit(this.read());
    this.completeAfterAll();
  }

  next(): void {
    if (!this.isFollowed) return;
    const value = this.read();
    if (!this.same(this.last as T, value)) this.emit(value);
  }

  ended(): void {
    this.left -= 1;
    this.completeAfterAll();
  }

  private emit(value: T): void {
    this.last = value;
    this.destination.next(value);
  }

  private completeAfterAll(): void {
    if (this.isFollowed && this.left === 0) this.destination.complete();
  }
}
