/** The plan of one pod sync: data, never closures. Counterpart: kuberuntime's podActions. */
import type { Pod } from "../api.ts";
import type { KubeletError } from "../errors.ts";
import type { ContainerId, MonotonicMs, SandboxId } from "../ids.ts";
import type { PodRuntimeStatus, RuntimeContainer } from "../runtime/podRuntimeStatus.ts";
import type { BackoffPolicy, ContainerBackoffs } from "../backoff.ts";
import type { ContainerReset } from "./restartAllContainers.ts";

export type ContainerKind = "init" | "regular" | "ephemeral";

/**
 * Verdicts of the probes of one container, by name; a container without an entry has no probes. `live: false` on a
 * container that is not `started` says that its startup probe gave up.
 */
export interface ProbeVerdict {
  readonly started: boolean;
  readonly ready: boolean;
  readonly live: boolean;
  /** The container instance that was probed; a verdict on another instance counts as none. */
  readonly containerId?: ContainerId;
}

export interface PodActionsInput {
  readonly pod: Pod;
  readonly runtime: PodRuntimeStatus;
  readonly verdicts: ReadonlyMap<string, ProbeVerdict>;
  /** Running containers that have to be restarted to get their allocated size, by name. */
  readonly resizeRestarts: ReadonlySet<string>;
  readonly backoffs: ContainerBackoffs;
  readonly backoffPolicy: BackoffPolicy;
  readonly now: MonotonicMs;
}

export type { BackoffPolicy };

export interface ContainerStart {
  readonly name: string;
  readonly kind: ContainerKind;
  /** Restart count the new container carries: previous attempt + 1, or 0. */
  readonly restartCount: number;
  /** Given when this restart follows an exit: to be registered (`registerRestart`) once the start is tried. */
  readonly backoff?: { readonly key: string; readonly exitedAt: MonotonicMs };
  /**
   * Instances of this container that were made but not seen to run. A start of theirs may still be on its way through
   * the runtime, so they have to be removed before this one starts. Absent when there are none.
   */
  readonly replaces?: readonly RuntimeContainer[];
  /** The container whose processes an ephemeral one is to see; its ID is undefined when the runtime knows no such container. */
  readonly target?: { readonly name: string; readonly containerId: ContainerId | undefined };
}

export interface ContainerKill {
  readonly containerId: ContainerId;
  readonly name: string;
  /** Why, as the Killing event says it. */
  readonly message: string;
  /** Why, for choosing the grace period and for metrics. */
  readonly reason:
    | "SpecChanged"
    | "Resized"
    | "LivenessProbe"
    | "StartupProbe"
    | "InitFailed"
    | "Unknown"
    | "PodShouldStop";
}

/** A container that should start but must wait. */
export interface ContainerWait {
  readonly name: string;
  readonly until: MonotonicMs;
  /** reason CrashLoopBackOff with upstream's message. */
  readonly error: KubeletError;
}

export interface PodActions {
  /** Stop everything, sandbox included (then recreate it if createSandbox). */
  readonly killPod: boolean;
  readonly createSandbox: boolean;
  /** The live sandbox to use; with createSandbox the one it replaces (the SandboxChanged event), if any. */
  readonly sandboxId: SandboxId | undefined;
  /** Attempt of the sandbox to create. */
  readonly attempt: number;
  readonly initContainersToStart: readonly ContainerStart[];
  readonly containersToStart: readonly ContainerStart[];
  readonly ephemeralContainersToStart: readonly ContainerStart[];
  /** Without meaning when killPod is set: that stops every container. */
  readonly containersToKill: readonly ContainerKill[];
  readonly waits: readonly ContainerWait[];
  /** Containers to stop and remove, one after the other, before the pod starts anew; nothing else is done then. */
  readonly containersToReset: readonly ContainerReset[];
}
