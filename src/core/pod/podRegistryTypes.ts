/** What goes in and out of the registry of pods: records, inputs, commands to workers. */
import type { AwaitedPod, Leaving, OverdueFor } from "../admission/leavingPods.ts";
import type { AllocationRecord } from "../allocation/allocationFile.ts";
import type { RefusedResize, ResizeOutcome, ResizeRules, ResizeTrigger } from "../allocation/pendingResizes.ts";
import type { PodAllocation } from "../allocation/podAllocation.ts";
import type { Pod } from "../api.ts";
import type { MonotonicMs, PodFullName, PodUid } from "../ids.ts";
import type { ResourceList } from "../resources/resourceList.ts";
import type { ListedPod } from "../runtime/runtimeListing.ts";
import type { PodUpdate } from "./podUpdate.ts";
import type { StatusOverride } from "./status.ts";

export interface PodIdentity {
  readonly uid: PodUid;
  readonly name: string;
  readonly namespace: string;
}

export type PodRecordState = "waiting" | "rejected" | "syncing" | "terminating" | "terminated";

export interface PodRecord {
  readonly identity: PodIdentity;
  /** Latest spec; undefined for an orphan, known from the runtime alone. */
  readonly pod: Pod | undefined;
  /** The spec at the size the node has granted; undefined before admission. */
  readonly allocated: Pod | undefined;
  /** Requests it counts with at least: more than the allocated size has, as long as that is not known to be on disk. */
  readonly held: ResourceList | undefined;
  /** Why the spec's size is not granted; undefined when it is, or was not judged yet. */
  readonly refused: RefusedResize | undefined;
  readonly state: PodRecordState;
  /** False once its source no longer has it: everything of it is to go. */
  readonly wanted: boolean;
  /** Grace in force while terminating; only ever shrinks. undefined: an orphan's default. */
  readonly graceSeconds: number | undefined;
  /** Stopped, and nothing is held any more that another pod may need: its object may go. */
  readonly reclaimed: boolean;
  /** Of a pod that terminates: how long others wait for its room. */
  readonly leaving: Leaving | undefined;
  /** Leaving pods whose room this one waits for, to start or to grow: it is promised what they leave. */
  readonly behind: readonly AwaitedPod[];
  /** Since when it waits for room in order to start. */
  readonly waitsSince: MonotonicMs | undefined;
  /** Pods that were stopped to make room for this one. */
  readonly victims: readonly PodUid[];
  /** The same UID wanted again while its worker still ends. */
  readonly successor: Pod | undefined;
}

/** What a worker is told. Within a phase newer commands replace older ones. */
export type PodCommand =
  | {
      readonly phase: "sync";
      readonly identity: PodIdentity;
      /** At its allocated size. */
      readonly pod: Pod;
      /** Another size that the spec asks for and that is not granted. */
      readonly refused?: RefusedResize;
      /** What its containers have, when an earlier kubelet made them. */
      readonly restoredSize?: PodAllocation;
    }
  | {
      readonly phase: "terminating";
      readonly identity: PodIdentity;
      readonly pod: Pod | undefined;
      readonly graceSeconds: number | undefined;
      /** A decision of the kubelet's own that the status tells of. */
      readonly override: StatusOverride | undefined;
    }
  | {
      readonly phase: "terminated";
      readonly identity: PodIdentity;
      readonly pod: Pod | undefined;
      /** Remove containers, logs and directories, then end the worker. */
      readonly remove: boolean;
    };

export interface PodRejection {
  readonly pod: Pod;
  readonly reason: string;
  readonly message: string;
}

export type RegistryInput =
  /** What an earlier kubelet granted; told before anything else. */
  | { readonly kind: "restored"; readonly allocations: ReadonlyMap<PodUid, AllocationRecord> }
  | { readonly kind: "update"; readonly update: PodUpdate }
  /** Every container that should run has run to its end. */
  | { readonly kind: "finished"; readonly uid: PodUid }
  /** The pod was active for longer than it may be. */
  | { readonly kind: "deadlineExceeded"; readonly uid: PodUid }
  /** The pod has to go at once, and why. */
  | { readonly kind: "evicted"; readonly uid: PodUid; readonly message: string }
  /** The allocated size of the pod is in force. */
  | { readonly kind: "resized"; readonly uid: PodUid }
  /** The size of this pod, as it was granted, is on disk. */
  | { readonly kind: "kept"; readonly uid: PodUid; readonly pod: Pod }
  /** Nothing of the pod runs any more. */
  | { readonly kind: "stopped"; readonly uid: PodUid }
  /** A pod whose room others wait for has not stopped in time; without a UID: sources have not told in time what they want. */
  | { readonly kind: "overdue"; readonly uid: PodUid | undefined; readonly for: OverdueFor }
  /** A stopped pod holds nothing any more that another one may need. */
  | { readonly kind: "reclaimed"; readonly uid: PodUid }
  /** The worker has removed everything and ended. */
  | { readonly kind: "removed"; readonly uid: PodUid }
  /** The runtime was listed while all sources were known: pods nobody wants end now. */
  | { readonly kind: "audit" }
  /** The node is emptied: nothing is wanted any more. */
  | { readonly kind: "drain" };

export interface RegistryContext extends ResizeRules {
  readonly now: MonotonicMs;
  /** Every source has reported: before, nobody knows what else needs room, and no resize is judged. */
  readonly sourcesReady: boolean;
  /** Pods with anything in the runtime, as last seen. */
  readonly runtimePods: readonly ListedPod[];
}

export interface Registry {
  readonly records: ReadonlyMap<PodUid, PodRecord>;
  /** Which UID runs, or ends, under a static pod's full name. */
  readonly holders: ReadonlyMap<PodFullName, PodUid>;
  /** Pods whose spec asks for another size, in the order in which they asked; an infeasible one asks no more. */
  readonly resizing: readonly PodUid[];
  /** Every source has reported, and all they want is in `records`: what is not there is wanted by nobody. */
  readonly isSettled: boolean;
  /** Allocations of an earlier kubelet whose pods have not come yet. */
  readonly restored: ReadonlyMap<PodUid, AllocationRecord>;
  /** For how long others wait to learn whether those of them that run are still wanted. */
  readonly unclaimed: Leaving | undefined;
}

/** A pod that is stopped to make room for a critical one. */
export interface PreemptedPod {
  readonly uid: PodUid;
  readonly pod: Pod;
  readonly graceSeconds: number;
  /** Resource that was missing. */
  readonly shortOf: string;
}

/** A pod that waits for room others are about to free, in order to start. */
export type RoomWait =
  | { readonly kind: "began"; readonly pod: Pod; readonly behind: readonly AwaitedPod[] }
  | { readonly kind: "ended"; readonly outcome: "started" | "rejected" | "removed"; readonly waitedMs: number };

export interface RegistryStep {
  readonly registry: Registry;
  readonly commands: readonly PodCommand[];
  readonly rejections: readonly PodRejection[];
  readonly preempted: readonly PreemptedPod[];
  /** Pods that have begun to wait for room, or do so no longer. */
  readonly roomWaits: readonly RoomWait[];
  /** Resizes that were granted or refused, as far as that is news. */
  readonly resizes: readonly ResizeOutcome[];
  readonly resizeTrigger: ResizeTrigger | undefined;
  /** Pods that never had a worker and are no longer wanted. */
  readonly dropped: readonly PodUid[];
  /** Pods of which only the runtime knew. */
  readonly orphans: readonly PodUid[];
  /** Pods that start over under the UID they had before. */
  readonly restarted: readonly PodUid[];
}

/** The step of an input that changes nothing. */
export const unchangedStep = (registry: Registry): RegistryStep => ({
  registry,
  commands: [],
  rejections: [],
  preempted: [],
  roomWaits: [],
  resizes: [],
  resizeTrigger: undefined,
  dropped: [],
  orphans: [],
  restarted: [],
});

/** A node without pods. */
export const emptyRegistry: Registry = {
  records: new Map(),
  holders: new Map(),
  resizing: [],
  isSettled: false,
  restored: new Map(),
  unclaimed: undefined,
};
