/** The changes of a stream: `map`, `filter` and `distinctUntilChanged` in one subscriber. */
import { Observable, type OperatorFunction, type Subscriber } from "rxjs";
import { type InnerObserver, subscribeInner } from "./subscribeInner.ts";

/**
 * Emits what `read` makes of each value when that is something, and another than what it emitted last.
 *
 *     source    a--b--c--d--e-|
 *     read      1  1  .  1  2        . undefined
 *     newsOf    1-----------2-|
 *
 * Cancels: the source. Errors: the source's, and what the functions throw. Bound: remembers one value.
 */
export const newsOf =
  <T, R>(read: (value: T) => R | undefined, same: (before: R, now: R) => boolean = Object.is): OperatorFunction<T, R> =>
  (source$) =>
    new Observable<R>((destination) => {
      subscribeInner(destination, () => source$, new News(destination, read, same));
    });

class News<T, R> implements InnerObserver<T> {
  private readonly destination: Subscriber<R>;
  private readonly read: (value: T) => R | undefined;
  private readonly same: (before: R, now: R) => boolean;
  private told: R | undefined;

  constructor(destination: Subscriber<R>, read: (value: T) => R | undefined, same: (before: R, now: R) => boolean) {
    this.destination = destination;
    this.read = read;
    this.same = same;
  }

  next(value: T): void {
    const news = this.read(value);
    if (news === undefined || (this.told !== undefined && this.same(this.told, news))) return;
    this.told = news;
    this.destination.next(news);
  }

  ended(): void {
    this.destination.complete();
  }
}
