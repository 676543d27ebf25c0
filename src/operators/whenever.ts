/** Many causes of one thing. `merge` would carry their values, and cost a tree of subscribers for each pod. */
import { Observable } from "rxjs";
import { Causes } from "./causes.ts";

/**
 * Emits at once, and again whenever one of the sources does. What they say while they are being subscribed, as cells do,
 * is that first emission.
 *
 *     a           1-----2-----|
 *     b           -----3--4-|
 *     whenever    x----xx-x---|
 *
 * Cancels: all of them. Errors: the first one ends it. Bound: nothing is kept.
 */
export const whenever = (...sources: readonly Observable<unknown>[]): Observable<void> =>
  new Observable<void>((destination) => new Whenever(destination).follow(sources));

class Whenever extends Causes<void> {
  protected override tell(): void {
    this.destination.next();
  }
}
