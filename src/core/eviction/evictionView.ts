/** The eviction manager's knowledge at its last look, for people and for other parts of the node. */
import type { PodUid } from "../ids.ts";
import type { Instant } from "../timeline/timelineTypes.ts";
import { noPressureSeen, type PressureState } from "./nodePressure.ts";
import type { Observations } from "./observations.ts";
import type { AwaitedEviction } from "./awaitedEvictions.ts";
import type { EvictionDelay } from "./evictionDelay.ts";
import type { ReclaimStep } from "./nodeReclaim.ts";
import type { PodRank } from "./ranking.ts";
import type { Signal, Threshold } from "./thresholds.ts";

/** State of the eviction manager after its last look. */
export interface EvictionView {
  /** The configured thresholds. */
  readonly thresholds: readonly Threshold[];
  /** The last look; undefined before the first. */
  readonly lookedAt: Instant | undefined;
  readonly observations: Observations;
  /** Thresholds that are met, and since when. */
  readonly state: PressureState;
  /** The order of eviction at the last look that met a threshold; undefined before that. */
  readonly ranking: Ranking | undefined;
  /** The last time the manager acted; undefined before that. */
  readonly decision: EvictionDecision | undefined;
  /** Evicted pods that are not cleaned up yet. */
  readonly awaited: readonly AwaitedEviction[];
  /** An eviction that is postponed; undefined without one. */
  readonly delay: EvictionDelay | undefined;
}

/** The order in which pods would be evicted for a signal. */
export interface Ranking {
  readonly at: Instant;
  readonly signal: Signal;
  readonly pods: readonly PodRank[];
}

/** An action of the eviction manager, with the figures that led to it. */
export interface EvictionDecision {
  readonly at: Instant;
  /** An eviction signal, or the limit that a pod exceeded, such as `emptydirfs.limit`. */
  readonly signal: string;
  /** The threshold and the available amount as quantities; undefined for the limit of a pod. */
  readonly threshold?: string;
  readonly available?: string;
  /** Steps that freed resources of the node before pods were considered. */
  readonly reclaimed: readonly ReclaimStep[];
  /** The evicted pods: one for a threshold, any number for limits. Empty: no pod had to, or could, be evicted. */
  readonly evicted: readonly EvictedPod[];
}

/** An evicted pod. */
export interface EvictedPod {
  readonly uid: PodUid;
  readonly namespace: string;
  readonly name: string;
  readonly graceSeconds: number;
  /** The message of its status. */
  readonly message: string;
}

/** The view before the first look. */
export const NO_EVICTION_VIEW: EvictionView = {
  thresholds: [],
  lookedAt: undefined,
  observations: new Map(),
  state: noPressureSeen,
  ranking: undefined,
  decision: undefined,
  awaited: [],
  delay: undefined,
};
