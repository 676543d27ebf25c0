/** Types of a pod's timeline: its inputs, its entries and its waits. Upstream has only events. */
import type { Pod, PodStatus } from "../api.ts";
import type { KubeletEvent } from "../events.ts";
import type { EpochMs, MonotonicMs, PodUid } from "../ids.ts";
import type { PodIdentity, PodRecordState } from "../pod/podRegistry.ts";

/** An operation with a duration: a CRI call by name, an image pull, a hook. */
export interface Stage {
  readonly name: string;
  /** Name of its container; absent for a stage of the whole pod. */
  readonly container?: string;
  /** Action of a timer if the stage is still running at that time. */
  readonly due?: Due;
}

/** The next action of a timer. */
export interface Due {
  readonly what: string;
  readonly at: MonotonicMs;
}

/** Why a container does not run, and the time of the next try if known. */
export interface ContainerFailure {
  readonly reason: string;
  readonly message: string;
  readonly retryAt: MonotonicMs | undefined;
}

/** An output of a pod worker or the eviction manager other than events and statuses. */
export type PodFact =
  /** An entry of its own, such as the figures behind a decision. */
  | { readonly kind: "remark"; readonly what: string; readonly message: string }
  | { readonly kind: "stageBegan"; readonly id: number; readonly stage: Stage }
  /** `failure` is absent on success. `cutOff`: the stage was cancelled. */
  | { readonly kind: "stageEnded"; readonly id: number; readonly failure?: string; readonly cutOff?: boolean }
  /** All containers that cannot run, by name. */
  | { readonly kind: "failures"; readonly failures: ReadonlyMap<string, ContainerFailure> }
  /** Work on the pod has begun as a span of this trace, which is exported. */
  | { readonly kind: "traced"; readonly traceId: string }
  /** A sync ended with these failures, none on success, and is repeated at `againAt`. */
  | { readonly kind: "round"; readonly failures: readonly string[]; readonly againAt: MonotonicMs | undefined };

/** An input of a timeline. */
export type TimelineInput =
  | PodFact
  | { readonly kind: "event"; readonly event: KubeletEvent }
  | { readonly kind: "status"; readonly status: PodStatus }
  /** The pod's record changed. `behind` holds its name while the pod waits. */
  | {
      readonly kind: "record";
      readonly pod: Pod | undefined;
      readonly state: PodRecordState;
      readonly graceSeconds: number | undefined;
      readonly behind: PodUid | undefined;
      readonly awaited: AwaitedResources | undefined;
    }
  | { readonly kind: "gone" };

/** Resources that other pods are about to free for a pod that waits to start. */
export interface AwaitedResources {
  /** The pods that hold them, as `namespace/name`. Empty: a resized pod whose smaller size is not on disk yet. */
  readonly pods: readonly string[];
  /** Whether some of them are preempted for this pod. */
  readonly isPreempted: boolean;
  /** Action on the waiting pod if they have not stopped by then. */
  readonly due: Due | undefined;
  /** Present instead of pods: a device plugin, and its part in the wait. */
  readonly plugin?: string;
}

/** An instant on both clocks. */
export interface Instant {
  readonly wall: EpochMs;
  readonly mono: MonotonicMs;
}

/** How a stage ended, or the severity of an entry, unless successful. */
export type Outcome = "failed" | "cut off" | "warning";

/** An entry of a timeline. */
export interface TimelineEntry {
  /** When a stage started, or anything else happened: the end of a container is at its end. */
  readonly at: EpochMs;
  /** A stage, the reason of an event, or a state of the pod or container. */
  readonly what: string;
  readonly container?: string;
  /** Duration on the monotonic clock. */
  readonly tookMs?: number;
  /** Absent on success, and for entries that cannot fail. */
  readonly outcome?: Outcome;
  readonly message?: string;
  /** The number of consecutive occurrences if more than one, and the time of the last. */
  readonly count?: number;
  readonly lastAt?: EpochMs;
}

/** A stage in progress. */
export interface StageUnderWay {
  readonly stage: Stage;
  readonly since: Instant;
}

/** The timeline of one pod. Bound: `MAX_ENTRIES` entries of `MAX_MESSAGE` characters. */
export interface PodTimeline {
  readonly identity: PodIdentity;
  readonly pod: Pod | undefined;
  readonly state: PodRecordState | "gone";
  /** When `state` was entered. */
  readonly since: Instant;
  /** UID of the pod that holds this one's name while `state` is waiting. */
  readonly behind: PodUid | undefined;
  /** The resources it waits for while `state` is waiting. */
  readonly awaited: AwaitedResources | undefined;
  readonly status: PodStatus | undefined;
  readonly underWay: ReadonlyMap<number | string, StageUnderWay>;
  readonly failures: ReadonlyMap<string, ContainerFailure & { readonly since: Instant }>;
  /** Set while the last sync failed. */
  readonly failedRound:
    | { readonly failures: readonly string[]; readonly againAt: MonotonicMs | undefined; readonly since: Instant }
    | undefined;
  /** Trace of the latest work on the pod; undefined unless that work is traced and its trace exported. */
  readonly traceId: string | undefined;
  readonly entries: readonly TimelineEntry[];
  /** Number of entries dropped beyond the bound. */
  readonly dropped: number;
}

/** A current wait of a pod. */
export interface PodWait {
  /**
   * The stage in progress, or what blocks the pod: `Backoff`, `Retry`, `InitContainer`, `SidecarStop`, `PodName`,
   * `Resources`, `Preemption`, `Volume`, `Runtime`.
   */
  readonly what: string;
  readonly container?: string;
  /** The cause, including what is ahead. */
  readonly cause?: string;
  /** The pods, containers or images ahead, in order. */
  readonly ahead?: readonly string[];
  /** Duration so far in milliseconds; undefined when unknown. */
  readonly forMs: number | undefined;
  /** The next timer; absent when something else ends the wait. */
  readonly next?: Due;
}

/** Maximum number of entries per pod. */
export const MAX_ENTRIES = 200;
/** Maximum number of characters per message. */
export const MAX_MESSAGE = 512;
