/** Inputs and outputs of the pod registry: records, inputs, commands to pod workers. */
import type { Blocker, Leaving, OverdueFor } from "../admission/leavingPods.ts";
import type { AllocationRecord } from "../allocation/allocationFile.ts";
import type { RefusedResize, ResizeOutcome, ResizeRules, ResizeTrigger } from "../allocation/pendingResizes.ts";
import type { PodAllocation } from "../allocation/podAllocation.ts";
import type { Pod } from "../api.ts";
import type { Eviction } from "../eviction/evicted.ts";
import type { MonotonicMs, PodFullName, PodUid } from "../ids.ts";
import type { ResourceList } from "../resources/resourceList.ts";
import type { ListedPod } from "../runtime/runtimeListing.ts";
import type { AssignHardware, PodHardware, Remark } from "../topology/hardware.ts";
import type { PodUpdate } from "./podUpdate.ts";
import type {
  DevicePreparation,
  PreparationChange,
  PreparationOutcome,
  PreparationTask,
} from "./registryPreparation.ts";
import type { StatusOverride } from "./status.ts";

export interface PodIdentity {
  readonly uid: PodUid;
  readonly name: string;
  readonly namespace: string;
}

export type PodRecordState = "waiting" | "rejected" | "syncing" | "terminating" | "terminated";

export interface PodRecord {
  readonly identity: PodIdentity;
  /** Latest spec; undefined for an orphan, which only the runtime knows. */
  readonly pod: Pod | undefined;
  /** The pod at the size that the node granted; undefined before admission. */
  readonly allocated: Pod | undefined;
  /** Requests to count at least: larger than the allocated size until its checkpoint is known to be on disk. */
  readonly held: ResourceList | undefined;
  /** Hardware of its containers, from admission until all of them have stopped. */
  readonly hardware: PodHardware | undefined;
  /** Present while plugins choose or prepare its devices, before it starts. */
  readonly preparation: DevicePreparation | undefined;
  /** Why the spec's size is not granted; undefined when it is granted or not yet judged. */
  readonly refused: RefusedResize | undefined;
  readonly state: PodRecordState;
  /** False once its source has removed the pod, so that everything of it is to be removed. */
  readonly wanted: boolean;
  /** The kubelet evicted or preempted the pod: nothing of it is kept once it has stopped. */
  readonly evicted: boolean;
  /** Grace period in force while terminating; never grows. Undefined: the default of an orphan. */
  readonly graceSeconds: number | undefined;
  /** The decision of the kubelet that ended the pod, such as an eviction; a later one does not replace it. */
  readonly override: StatusOverride | undefined;
  /** Stopped, and holding no resource that another pod may need: its API object may be deleted. */
  readonly reclaimed: boolean;
  /** How long other pods wait for the resources of this terminating pod. */
  readonly leaving: Leaving | undefined;
  /** Terminating pods that this pod waits for, to start or to grow. It is promised the resources they free. */
  readonly behind: readonly Blocker[];
  /** When the pod began to wait for resources to start. */
  readonly waitsSince: MonotonicMs | undefined;
  /** Pods preempted for this pod. */
  readonly victims: readonly PodUid[];
  /** The pod added again with the same UID while its worker still terminates. */
  readonly successor: Pod | undefined;
}

/** How a pod is ended, where that differs from its spec. */
export interface PodEnd {
  readonly graceSeconds?: number | undefined;
  readonly override?: StatusOverride;
  readonly evicted?: boolean;
}

/** A command to a pod worker. Within a phase, newer commands replace older ones. */
export type PodCommand =
  | {
      readonly phase: "sync";
      readonly identity: PodIdentity;
      /** The pod at its allocated size. */
      readonly pod: Pod;
      /** undefined: no container has hardware of its own. */
      readonly hardware?: PodHardware;
      /** The requested size that is not granted. */
      readonly refused?: RefusedResize;
      /** The size of its containers, if an earlier kubelet process created them. */
      readonly restoredSize?: PodAllocation;
    }
  | {
      readonly phase: "terminating";
      readonly identity: PodIdentity;
      readonly pod: Pod | undefined;
      readonly graceSeconds: number | undefined;
      /** A decision of the kubelet that the status reports, such as an eviction. */
      readonly override: StatusOverride | undefined;
    }
  | {
      readonly phase: "terminated";
      readonly identity: PodIdentity;
      readonly pod: Pod | undefined;
      /** Whether to remove containers, logs and directories, and then end the worker. */
      readonly remove: boolean;
      /** Whether containers and logs stay nevertheless: the pod starts again from them. */
      readonly startsAgain?: boolean;
    };

/** An order to end a pod because the node shuts down. */
export interface ShutdownEnd {
  readonly uid: PodUid;
  /** Longest grace period. */
  readonly graceSeconds: number;
}

/** Rejection of a pod that was admitted before. */
export interface LateRejection {
  readonly uid: PodUid;
  readonly reason: string;
  /** Message of the event; the status names the rejection too. */
  readonly message: string;
}

export interface PodRejection {
  readonly pod: Pod;
  readonly reason: string;
  readonly message: string;
  /** The figures behind it, for the pod's timeline. */
  readonly remarks?: readonly Remark[] | undefined;
}

export type RegistryInput =
  /** Allocations of an earlier kubelet process. Always the first input. */
  | {
      readonly kind: "restored";
      readonly allocations: ReadonlyMap<PodUid, AllocationRecord>;
      /** Hardware of pods without such an allocation. */
      readonly inherited?: ReadonlyMap<PodUid, PodHardware>;
    }
  | { readonly kind: "update"; readonly update: PodUpdate }
  /** Every container that should run has run to completion. */
  | { readonly kind: "finished"; readonly uid: PodUid }
  /** The pod exceeded its active deadline. */
  | { readonly kind: "deadlineExceeded"; readonly uid: PodUid }
  /** The pod must stop. */
  | ({ readonly kind: "evicted" } & Eviction)
  /** The pod must stop because the node shuts down. */
  | ({ readonly kind: "shutDown" } & ShutdownEnd)
  /** The static pod was ended or refused by a shutdown that is cancelled. */
  | { readonly kind: "startAgain"; readonly uid: PodUid }
  | ({ readonly kind: "rejected" } & LateRejection)
  /** Devices of plugins came, went, or changed their health. */
  | { readonly kind: "devices" }
  /** Plugins have ended a task for a pod that is being admitted. */
  | {
      readonly kind: "prepared";
      readonly uid: PodUid;
      readonly task: PreparationTask;
      readonly outcome: PreparationOutcome;
    }
  /** The allocated size of the pod is in force. */
  | { readonly kind: "resized"; readonly uid: PodUid }
  /** The checkpoint of this granted size is on disk. */
  | { readonly kind: "kept"; readonly uid: PodUid; readonly pod: Pod }
  /** No container of the pod runs any more. */
  | { readonly kind: "stopped"; readonly uid: PodUid }
  /**
   * A terminating pod that others wait for has not stopped in time. Without a UID: the sources have not all reported in
   * time.
   */
  | { readonly kind: "overdue"; readonly uid: PodUid | undefined; readonly for: OverdueFor }
  /** A stopped pod no longer holds any resource that another pod may need. */
  | { readonly kind: "reclaimed"; readonly uid: PodUid }
  /** The worker has removed everything and ended. */
  | { readonly kind: "removed"; readonly uid: PodUid }
  /** The runtime was listed while all sources were ready: pods without a source are terminated now. */
  | { readonly kind: "resync" }
  /** The node is drained: all pods are removed. */
  | { readonly kind: "drain" };

export interface RegistryContext extends ResizeRules {
  /** Gives a pod its hardware; undefined: the node gives no container hardware of its own. */
  readonly assignHardware?: AssignHardware | undefined;
  readonly now: MonotonicMs;
  /** Whether every source has reported. Before that the demand is unknown, so no resize is judged. */
  readonly sourcesReady: boolean;
  /** Pods with a sandbox or container in the runtime, as last listed. */
  readonly runtimePods: readonly ListedPod[];
}

export interface Registry {
  readonly records: ReadonlyMap<PodUid, PodRecord>;
  /** The UID that runs or terminates under each full name. */
  readonly holders: ReadonlyMap<PodFullName, PodUid>;
  /** Pods whose spec asks for another size, in order of request. An infeasible request leaves the queue. */
  readonly resizing: readonly PodUid[];
  /**
   * Whether every source has reported and `records` has all their pods: a pod without a record belongs to no source.
   */
  readonly isSettled: boolean;
  /** Allocations of an earlier kubelet process that no pod has claimed yet. */
  readonly restored: ReadonlyMap<PodUid, AllocationRecord>;
  /** Hardware that another kubelet gave to pods, which no pod has claimed yet. */
  readonly inherited: ReadonlyMap<PodUid, PodHardware>;
  /** How long other pods wait to learn whether running, unclaimed pods still belong to a source. */
  readonly unclaimed: Leaving | undefined;
}

/** A pod preempted for a critical pod. */
export interface PreemptedPod {
  readonly uid: PodUid;
  readonly pod: Pod;
  readonly graceSeconds: number;
  /** The resource that was missing. */
  readonly shortOf: string;
}

/** A pod starts or stops waiting for resources that terminating pods are about to free. */
export type ResourceWait =
  | {
      readonly kind: "began";
      readonly pod: Pod;
      readonly behind: readonly Blocker[];
      /** The figures behind it, for the pod's timeline. */
      readonly remarks?: readonly Remark[] | undefined;
    }
  | { readonly kind: "ended"; readonly outcome: "started" | "rejected" | "removed"; readonly waitedMs: number };

export interface RegistryStep {
  readonly registry: Registry;
  readonly commands: readonly PodCommand[];
  readonly rejections: readonly PodRejection[];
  readonly preempted: readonly PreemptedPod[];
  /** Tasks of plugins to begin or to end. */
  readonly preparations: readonly PreparationChange[];
  /** Pods that began or ended waiting for resources. */
  readonly resourceWaits: readonly ResourceWait[];
  /** Resizes whose grant or refusal is new. */
  readonly resizes: readonly ResizeOutcome[];
  readonly resizeTrigger: ResizeTrigger | undefined;
  /** Removed pods that never had a worker. */
  readonly dropped: readonly PodUid[];
  /** Pods known only to the runtime. */
  readonly orphans: readonly PodUid[];
  /** Pods that restart under the same UID. */
  readonly restarted: readonly PodUid[];
}

/** Returns the step of an input without effect. */
export const unchangedStep = (registry: Registry): RegistryStep => ({
  registry,
  commands: [],
  rejections: [],
  preempted: [],
  preparations: [],
  resourceWaits: [],
  resizes: [],
  resizeTrigger: undefined,
  dropped: [],
  orphans: [],
  restarted: [],
});

/** The registry of a node without pods. */
export const emptyRegistry: Registry = {
  records: new Map(),
  holders: new Map(),
  resizing: [],
  isSettled: false,
  restored: new Map(),
  inherited: new Map(),
  unclaimed: undefined,
};
