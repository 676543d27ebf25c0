/**
 * Emits whenever one of several sources does. `merge` would pass their values, and need a tree of subscribers per
 * pod.
 */
import type { Observable } from "rxjs";
import { derived } from "./derived.ts";

/**
 * Emits at once, and again whenever one of the sources does. Values that the sources emit while they are being
 * subscribed, as cells do, count as that first emission. `derived` emits a value read from several cells.
 *
 *     a           1-----2-----|
 *     b           -----3--4-|
 *     whenever    x----xx-x---|
 *
 * Cancels: all of them. Errors: the first one ends the stream. Bound: keeps nothing.
 */
export const whenever = (...sources: readonly Observable<unknown>[]): Observable<void> =>
  derived<void>(sources, readNothing, isNeverSame);

const readNothing = (): void => {};
const isNeverSame = (): boolean => false;
