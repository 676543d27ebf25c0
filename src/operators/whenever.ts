/**
 * Emits whenever one of several sources does. `merge` would pass their values, and need a tree of subscribers per
 * pod.
 */
import { Observable, type Subscriber } from "rxjs";
import { type InnerObserver, subscribeInner } from "./subscribeInner.ts";

/**
 * Emits at once, and again whenever one of the sources does. Values that the sources emit while they are being
 * subscribed, as cells do, count as that first emission. A value read from several cells is
 * `whenever(...cells).pipe(map(read), distinctUntilChanged())`.
 *
 *     a           1-----2-----|
 *     b           -----3--4-|
 *     whenever    x----xx-x---|
 *
 * Cancels: all of them. Errors: the first one ends the stream. Bound: keeps nothing.
 */
export const whenever = (...sources: readonly Observable<unknown>[]): Observable<void> =>
  new Observable<void>((destination) => new Whenever(destination).follow(sources));

/** An object, since closures would keep the sources: a pod has a handful of these. */
class Whenever implements InnerObserver<unknown> {
  private readonly destination: Subscriber<void>;
  private left = 0;
  private isFollowed = false;

  constructor(destination: Subscriber<void>) {
    this.destination = destination;
  }

  /** Follows the sources; the destination completes with the last of them. */
  follow(sources: readonly Observable<unknown>[]): void {
    this.left = sources.length;
    for (const source of sources) subscribeInner(this.destination, () => source, this);
    this.isFollowed = true;
    this.destination.next();
    this.completeAfterAll();
  }

  next(): void {
    if (this.isFollowed) this.destination.next();
  }

  ended(): void {
    this.left -= 1;
    this.completeAfterAll();
  }

  private completeAfterAll(): void {
    if (this.isFollowed && this.left === 0) this.destination.complete();
  }
}
