/** Hints of resource managers about the NUMA nodes of a container. Upstream: TopologyHint of topologymanager. */
import { addMask, type MaskSet, noMasks } from "./maskSet.ts";
import type { NumaMask } from "./numaMask.ts";

/** A place where a resource can be given out. */
export interface TopologyHint {
  /** Undefined: the resource can be given out anywhere. */
  readonly mask: NumaMask | undefined;
  /** No smaller number of nodes could ever serve the request. */
  readonly isPreferred: boolean;
}

/**
 * All hints about one resource of a container. `anywhere`: the resource has no place. `nowhere`: nothing is free that
 * fits the request.
 */
export type ResourceHints =
  | ({ readonly kind: "anywhere" } & Named)
  | ({ readonly kind: "nowhere" } & Named)
  | NumaHints;

interface Named {
  /** Name of the resource, for explanations. */
  readonly resource?: string;
}

/** Sets of nodes that can serve a request. */
export interface NumaHints extends Named {
  readonly kind: "numa";
  readonly possible: MaskSet;
  /** A subset of `possible`. */
  readonly preferred: MaskSet;
}

export const ANYWHERE: ResourceHints = { kind: "anywhere" };
export const NOWHERE: ResourceHints = { kind: "nowhere" };

/** Returns the hints with the name of their resource. */
export const ofResource = (resource: string, hints: ResourceHints): ResourceHints => ({ ...hints, resource });

/** Returns the hints as sets; no hint at all means nowhere. Masks have nodes below `nodes` only. */
export function numaHints(
  hints: readonly { readonly mask: NumaMask; readonly isPreferred: boolean }[],
  nodes: number,
): ResourceHints {
  if (hints.length === 0) return NOWHERE;
  const possible = noMasks(nodes);
  const preferred = noMasks(nodes);
  for (const { mask, isPreferred } of hints) {
    addMask(possible, mask);
    if (isPreferred) addMask(preferred, mask);
  }
  return { kind: "numa", possible, preferred };
}
