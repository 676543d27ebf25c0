/**
 * What the runtime said of one pod at one inspection, in the kubelet's own words. Ordered by `sequence`, a local
 * counter, never by the clock of another process. Counterpart: kubecontainer.PodStatus.
 */
import type { ContainerId, EpochMs, MonotonicMs, PodUid, SandboxId } from "../ids.ts";

export interface RuntimeSandbox {
  readonly id: SandboxId;
  readonly attempt: number;
  readonly ready: boolean;
  readonly createdAt: EpochMs;
  /** Primary address first; empty for host-network pods. */
  readonly ips: readonly string[];
  /** True when the sandbox shares the node's network namespace. */
  readonly hostNetwork: boolean;
  /** True when the runtime said nothing of the network: then a missing address is no reason for a new sandbox. */
  readonly networkUnknown?: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface RuntimeUser {
  readonly uid: number;
  readonly gid: number;
  readonly supplementalGroups: readonly number[];
}

/** Limits in force as the runtime reports them, in cgroup v1 units; 0 stands for none. */
export interface RuntimeResources {
  readonly cpuShares: bigint;
  readonly cpuQuotaUs: bigint;
  readonly cpuPeriodUs: bigint;
  readonly memoryLimitBytes: bigint;
}

export type RuntimeContainerState = "created" | "running" | "exited" | "unknown";

export interface RuntimeContainer {
  readonly id: ContainerId;
  readonly name: string;
  readonly sandboxId: SandboxId;
  /** Restart count, from the `io.kubernetes.container.restartCount` annotation; equals the CRI attempt. */
  readonly restartCount: number;
  readonly state: RuntimeContainerState;
  readonly createdAt: EpochMs;
  readonly startedAt: EpochMs | undefined;
  readonly finishedAt: EpochMs | undefined;
  /** Monotonic instant of the exit, fixed when it was first seen; present exactly for exited containers. */
  readonly exitedAt: MonotonicMs | undefined;
  readonly exitCode: number;
  /** Runtime's reason: Completed, Error, OOMKilled, ContainerCannotRun... */
  readonly reason: string;
  /** Runtime's message, or the termination message read from the host once the container has exited. */
  readonly message: string;
  /** Image as the user wrote it. */
  readonly image: string;
  /** Reference that resolves to what runs (`repo@sha256:...`, or the image ID). */
  readonly imageRef: string;
  readonly imageId: string;
  /** `io.kubernetes.container.hash`: hash of the container spec it was created from. */
  readonly specHash: string;
  readonly logPath: string;
  /** Host path of the termination message file, from the container's mounts. */
  readonly terminationMessageFile: string | undefined;
  /** Signal that asks it to end, by name, where the runtime tells. */
  readonly stopSignal?: string;
  /** User the first process runs as, where the runtime tells. */
  readonly user?: RuntimeUser;
  /** Where the runtime tells. */
  readonly resources?: RuntimeResources;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface PodRuntimeStatus {
  readonly podUid: PodUid;
  readonly name: string;
  readonly namespace: string;
  /** Newest first (creation time, then attempt). */
  readonly sandboxes: readonly RuntimeSandbox[];
  /** Every attempt of every container, newest first. */
  readonly containers: readonly RuntimeContainer[];
  /** Drawn when the inspection began: it saw every effect finished before. */
  readonly sequence: number;
}

/** Status of a pod of which the runtime knows nothing. */
export const emptyRuntimeStatus = (
  podUid: PodUid,
  name: string,
  namespace: string,
  sequence: number,
): PodRuntimeStatus => ({ podUid, name, namespace, sandboxes: [], containers: [], sequence });
