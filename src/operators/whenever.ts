/** Many causes of one thing. `merge` would carry their values, and cost a tree of subscribers for each pod. */
import { Observable } from "rxjs";
import { subscribeInner } from "./subscribeInner.ts";

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
export function whenever(...sources: readonly Observable<unknown>[]): Observable<void> {
  return new Observable<void>((destination) => {
    let isFollowed = false;
    let left = sources.length;
    const completeAfterAll = (): void => {
      if (isFollowed && left === 0) destination.complete();
    };
    const observer = {
      next: () => {
        if (isFollowed) destination.next();
      },
      ended: () => {
        left -= 1;
        completeAfterAll();
      },
    };
    for (const source of sources) subscribeInner(destination, () => source, observer);
    isFollowed = true;
    destination.next();
    completeAfterAll();
  });
}
