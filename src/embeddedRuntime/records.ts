/** Records of sandboxes and containers: immutable data, persisted by `stateFiles.ts` after every change. */
import type { ContainerConfig, LinuxContainerResources, PodSandboxConfig } from "../gen/cri.ts";

/** A pod sandbox. It is only a record, because no namespaces are created. */
export interface SandboxRecord {
  readonly id: string;
  readonly config: PodSandboxConfig;
  /** Nanoseconds since the epoch. */
  readonly createdAt: bigint;
  readonly ready: boolean;
  /** Node-local pod IP; empty for a pod on the host network. */
  readonly ip: string;
}

/** Phase of a container; it only advances from created to running to exited. Times are nanoseconds since the epoch. */
export type ContainerPhase =
  | { readonly kind: "created" }
  | { readonly kind: "running"; readonly pid: number; readonly startedAt: bigint }
  | {
      readonly kind: "exited";
      readonly startedAt: bigint;
      readonly finishedAt: bigint;
      readonly exitCode: number;
      readonly reason: "Completed" | "Error" | "StartError";
      readonly message: string;
    };

/** A container and its process group. */
export interface ContainerRecord {
  readonly id: string;
  readonly sandboxId: string;
  readonly config: ContainerConfig;
  /** Absolute path; empty if the client requested no log. */
  readonly logPath: string;
  readonly createdAt: bigint;
  readonly phase: ContainerPhase;
  /** Resources from the last UpdateContainerResources; recorded but not enforced. */
  readonly resources: LinuxContainerResources | undefined;
}
