/**
 * The runtime status of one pod from one inspection. Ordered by `sequence`, a local counter, because clocks of other
 * processes are not comparable. Upstream: kubecontainer.PodStatus.
 */
import type { ContainerId, EpochMs, MonotonicMs, PodUid, SandboxId } from "../ids.ts";

export interface RuntimeSandbox {
  readonly id: SandboxId;
  readonly attempt: number;
  readonly ready: boolean;
  readonly createdAt: EpochMs;
  /** Primary address first; empty for host-network pods. */
  readonly ips: readonly string[];
  /** Whether the sandbox shares the node's network namespace. */
  readonly hostNetwork: boolean;
  /** Set when the runtime reported no network status. A missing address is then no reason for a new sandbox. */
  readonly networkUnknown?: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface RuntimeUser {
  readonly uid: number;
  readonly gid: number;
  readonly supplementalGroups: readonly number[];
}

/** Resource limits as the runtime reports them, in cgroup v1 units; 0 means none. */
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
  /** Monotonic instant of the exit, fixed when first observed; set only for exited containers. */
  readonly exitedAt: MonotonicMs | undefined;
  readonly exitCode: number;
  /** The runtime's reason: Completed, Error, OOMKilled, ContainerCannotRun... */
  readonly reason: string;
  /** The runtime's message, or the termination message read from the host once the container has exited. */
  readonly message: string;
  /** The image as written in the spec. */
  readonly image: string;
  /** Reference that resolves to the running image (`repo@sha256:...`, or the image ID). */
  readonly imageRef: string;
  readonly imageId: string;
  /** `io.kubernetes.container.hash`: hash of the container spec it was created from. */
  readonly specHash: string;
  readonly logPath: string;
  /** Host path of the termination message file, from the container's mounts. */
  readonly terminationMessageFile: string | undefined;
  /** Name of the stop signal, if the runtime reports it. */
  readonly stopSignal?: string;
  /** User of the first process, if the runtime reports it. */
  readonly user?: RuntimeUser;
  /** Set if the runtime reports it. */
  readonly resources?: RuntimeResources;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface PodRuntimeStatus {
  readonly podUid: PodUid;
  readonly name: string;
  readonly namespace: string;
  /** Newest first (attempt, then creation time). */
  readonly sandboxes: readonly RuntimeSandbox[];
  /** Every attempt of every container, newest first. */
  readonly containers: readonly RuntimeContainer[];
  /** Assigned when the inspection began: the inspection saw every effect completed before. */
  readonly sequence: number;
}

/** Returns the status of a pod that the runtime does not know. */
export const emptyRuntimeStatus = (
  podUid: PodUid,
  name: string,
  namespace: string,
  sequence: number,
): PodRuntimeStatus => ({ podUid, name, namespace, sandboxes: [], containers: [], sequence });
