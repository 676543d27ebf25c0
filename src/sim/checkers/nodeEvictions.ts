/** Recognizes evictions at thresholds of the node, for checkers. Evictions for the limit of a pod are others. */
import type { SimObservation } from "../simObservation.ts";

/** An eviction, observed by its event when the kubelet decides it. */
export interface NodeEviction {
  readonly atMs: number;
  readonly podUid: string;
  /** `namespace/pod`. */
  readonly subject: string;
  /** The starved resource: `memory`, `ephemeral-storage`, `inodes` or `pids`. */
  readonly resource: string;
  /** Amount of the threshold that was met, as a quantity; undefined if its signal was not measured. */
  readonly threshold: string | undefined;
}

const LOW = /^The node was low on resource: (\S+)\. (?:Threshold quantity: (\S+), )?/;

/** Returns the eviction that an observation is; undefined for any other. */
export function nodeEvictionOf(observation: SimObservation): NodeEviction | undefined {
  if (observation.kind !== "event" || observation.event.reason !== "Evicted") return undefined;
  const { message, object } = observation.event;
  const [, resource, threshold] = LOW.exec(message) ?? [];
  if (resource === undefined) return undefined;
  const subject = `${object.namespace}/${object.name}`;
  return { atMs: observation.atMs, podUid: object.uid, subject, resource, threshold };
}
