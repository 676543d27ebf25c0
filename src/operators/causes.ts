/** The base of `whenever` and `derived`: their sources are triggers, and their values are not used. */
import type { Observable, Subscriber } from "rxjs";
import { type InnerObserver, subscribeInner } from "./subscribeInner.ts";

/**
 * Several sources and one thing to tell. An object, as closures would keep the sources: a pod has a handful of these.
 */
export abstract class Causes<T> implements InnerObserver<unknown> {
  protected readonly destination: Subscriber<T>;
  private left = 0;
  private isFollowed = false;

  constructor(destination: Subscriber<T>) {
    this.destination = destination;
  }

  /** Called after a source emitted, and once when all sources are subscribed. */
  protected abstract tell(): void;

  /** Follows them; the destination completes with the last. Called once. */
  follow(sources: readonly Observable<unknown>[]): void {
    this.left = sources.length;
    for (const source of sources) subscribeInner(this.destination, () => source, this);
    this.isFollowed = true;
    this.tell();
    this.completeAfterAll();
  }

  next(): void {
    if (this.isFollowed) this.tell();
  }

  ended(): void {
    this.left -= 1;
    this.completeAfterAll();
  }

  private completeAfterAll(): void {
    if (this.isFollowed && this.left === 0) this.destination.complete();
  }
}
