/**
 * What a pod's timeline is made of: facts that the node's streams bring, and what is kept of them. Ours; upstream has
 * events alone.
 */
import type { Pod, PodStatus } from "../api.ts";
import type { KubeletEvent } from "../events.ts";
import type { EpochMs, MonotonicMs, PodUid } from "../ids.ts";
import type { PodIdentity, PodRecordState } from "../pod/podRegistry.ts";

/** Something that takes time and has an end: a call of the runtime by its CRI name, an image pull, a hook. */
export interface Stage {
  readonly name: string;
  /** Name of the container it is about; absent for the whole pod. */
  readonly container?: string;
  /** What happens, and when, should it still be under way then. */
  readonly due?: Due;
}

/** The next thing a timer brings. */
export interface Due {
  readonly what: string;
  readonly at: MonotonicMs;
}

/** Why a container does not run, and when it is tried again where that is known. */
export interface ContainerFailure {
  readonly reason: string;
  readonly message: string;
  readonly retryAt: MonotonicMs | undefined;
}

/** What a pod worker tells of itself beside events and statuses. */
export type PodFact =
  | { readonly kind: "stageBegan"; readonly id: number; readonly stage: Stage }
  /** `failure` is absent when it went well; `cutOff`: nobody waited for its end. */
  | { readonly kind: "stageEnded"; readonly id: number; readonly failure?: string; readonly cutOff?: boolean }
  /** All containers that are held back, by name. */
  | { readonly kind: "failures"; readonly failures: ReadonlyMap<string, ContainerFailure> }
  /** A round ended with these failures, none when it went well, and is repeated then. */
  | { readonly kind: "round"; readonly failures: readonly string[]; readonly againAt: MonotonicMs | undefined };

/** Everything that moves a timeline. */
export type TimelineInput =
  | PodFact
  | { readonly kind: "event"; readonly event: KubeletEvent }
  | { readonly kind: "status"; readonly status: PodStatus }
  /** The pod's record changed; `behind` holds its name meanwhile. */
  | {
      readonly kind: "record";
      readonly pod: Pod | undefined;
      readonly state: PodRecordState;
      readonly graceSeconds: number | undefined;
      readonly behind: PodUid | undefined;
      readonly room: RoomAhead | undefined;
    }
  | { readonly kind: "gone" };

/** Room that others are about to free for a pod that waits to start. */
export interface RoomAhead {
  /** Whose room it is, as `namespace/name`; empty: of a pod whose smaller size is not on disk yet. */
  readonly pods: readonly string[];
  /** Some of them are stopped for this pod. */
  readonly isPreempted: boolean;
  /** What happens to the pod when they have not stopped by then. */
  readonly due: Due | undefined;
}

/** One instant on both clocks. */
export interface Instant {
  readonly wall: EpochMs;
  readonly mono: MonotonicMs;
}

/** How something ended, or how bad it is, when not well. */
export type Outcome = "failed" | "cut off" | "warning";

/** One line of what happened. */
export interface TimelineEntry {
  /** When it was, or began. */
  readonly at: EpochMs;
  /** A stage, the reason of an event, or what became of pod or container. */
  readonly what: string;
  readonly container?: string;
  /** How long it took, on the monotonic clock. */
  readonly tookMs?: number;
  /** Absent when it went well, or is nothing that can go wrong. */
  readonly outcome?: Outcome;
  readonly message?: string;
  /** How often in a row, when more than once, and when last. */
  readonly count?: number;
  readonly lastAt?: EpochMs;
}

/** A stage under way. */
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
  /** The room it waits for while `state` is waiting. */
  readonly room: RoomAhead | undefined;
  readonly status: PodStatus | undefined;
  readonly underWay: ReadonlyMap<number | string, StageUnderWay>;
  readonly failures: ReadonlyMap<string, ContainerFailure & { readonly since: Instant }>;
  /** The last round failed. */
  readonly failedRound:
    | { readonly failures: readonly string[]; readonly againAt: MonotonicMs | undefined; readonly since: Instant }
    | undefined;
  readonly entries: readonly TimelineEntry[];
  /** Entries that made room for newer ones. */
  readonly dropped: number;
}

/** Something a pod waits for now. */
export interface PodWait {
  /**
   * The stage under way, or what holds the pod back: `Backoff`, `Retry`, `InitContainer`, `SidecarStop`, `PodName`,
   * `Room`, `Preemption`, `Volume`, `Runtime`.
   */
  readonly what: string;
  readonly container?: string;
  /** Why, and behind whom. */
  readonly cause?: string;
  /** Whose turn comes first, in order. */
  readonly ahead?: readonly string[];
  /** For how long already, in milliseconds; undefined when nobody noted it. */
  readonly forMs: number | undefined;
  /** The next timer; absent when something else ends the wait. */
  readonly next?: Due;
}

/** Entries kept of one pod. */
export const MAX_ENTRIES = 200;
/** Characters kept of one message. */
export const MAX_MESSAGE = 512;
