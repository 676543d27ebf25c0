/** The plan of one pod sync: data only, no closures. Upstream: podActions of kuberuntime. */
import type { Pod } from "../api.ts";
import type { KubeletError } from "../errors.ts";
import type { ContainerId, MonotonicMs, SandboxId } from "../ids.ts";
import type { PodRuntimeStatus, RuntimeContainer } from "../runtime/podRuntimeStatus.ts";
import type { BackoffPolicy, ContainerBackoffs } from "../backoff.ts";
import type { ContainerReset } from "./restartAllContainers.ts";

export type ContainerKind = "init" | "regular" | "ephemeral";

/**
 * Probe results of one container. A container without an entry has no probes. `live: false` on a container that is not
 * `started` means that its startup probe failed for good.
 */
export interface ProbeVerdict {
  readonly started: boolean;
  readonly ready: boolean;
  readonly live: boolean;
  /** The probed instance. A verdict on another instance is ignored. */
  readonly containerId?: ContainerId;
}

export interface PodActionsInput {
  readonly pod: Pod;
  readonly runtime: PodRuntimeStatus;
  readonly verdicts: ReadonlyMap<string, ProbeVerdict>;
  /** Names of running containers that must be restarted to apply their allocated size. */
  readonly resizeRestarts: ReadonlySet<string>;
  readonly backoffs: ContainerBackoffs;
  readonly backoffPolicy: BackoffPolicy;
  readonly now: MonotonicMs;
}

export type { BackoffPolicy };

export interface ContainerStart {
  readonly name: string;
  readonly kind: ContainerKind;
  /** Restart count of the new container: previous count + 1, or 0. */
  readonly restartCount: number;
  /** Set when this restart follows an exit. Register it (`registerRestart`) once the start is attempted. */
  readonly backoff?: { readonly key: string; readonly exitedAt: MonotonicMs };
  /**
   * Instances of this container that were created but not seen running. Their start may still be in progress in the
   * runtime, so remove them before this start. Absent when there are none.
   */
  readonly replaces?: readonly RuntimeContainer[];
  /** The target of an ephemeral container; its ID is undefined when the runtime has no such container. */
  readonly target?: { readonly name: string; readonly containerId: ContainerId | undefined };
}

export interface ContainerKill {
  readonly containerId: ContainerId;
  readonly name: string;
  /** Text of the Killing event. */
  readonly message: string;
  /** Selects the grace period and the metric label. */
  readonly reason:
    | "SpecChanged"
    | "Resized"
    | "LivenessProbe"
    | "StartupProbe"
    | "InitFailed"
    | "Unknown"
    | "PodShouldStop";
}

/** A container to start once its backoff has expired. */
export interface ContainerWait {
  readonly name: string;
  readonly until: MonotonicMs;
  /** Reason CrashLoopBackOff with upstream's message. */
  readonly error: KubeletError;
}

export interface PodActions {
  /** Stop everything, including the sandbox; then recreate the sandbox if `createSandbox` is set. */
  readonly killPod: boolean;
  readonly createSandbox: boolean;
  /** The live sandbox to use. With `createSandbox`, the sandbox to replace, if any (for the SandboxChanged event). */
  readonly sandboxId: SandboxId | undefined;
  /** Attempt of the sandbox to create. */
  readonly attempt: number;
  readonly initContainersToStart: readonly ContainerStart[];
  readonly containersToStart: readonly ContainerStart[];
  readonly ephemeralContainersToStart: readonly ContainerStart[];
  /** Unused when `killPod` is set, which stops every container. */
  readonly containersToKill: readonly ContainerKill[];
  readonly waits: readonly ContainerWait[];
  /** Containers to stop and remove one by one before the pod restarts. The plan then contains nothing else. */
  readonly containersToReset: readonly ContainerReset[];
}
