/**
 * What the runtime knows about sandboxes and containers: plain data, replaced never patched, persisted by
 * `stateFiles.ts` after every change.
 */
import type { ContainerConfig, LinuxContainerResources, PodSandboxConfig } from "../gen/cri.ts";

/** A pod sandbox: a record only, as no namespace is made. */
export interface SandboxRecord {
  readonly id: string;
  readonly config: PodSandboxConfig;
  /** Nanoseconds since the epoch. */
  readonly createdAt: bigint;
  readonly ready: boolean;
  /** Node-local pod IP; empty for a pod on the host network. */
  readonly ip: string;
}

/** Created, running, exited: only ever forwards. Instants are nanoseconds since the epoch. */
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

/** A container and the process group it is. */
export interface ContainerRecord {
  readonly id: string;
  readonly sandboxId: string;
  readonly config: ContainerConfig;
  /** Absolute; empty when the client asked for no log. */
  readonly logPath: string;
  readonly createdAt: bigint;
  readonly phase: ContainerPhase;
  /** As last given by UpdateContainerResources; recorded, not enforced. */
  readonly resources: LinuxContainerResources | undefined;
}
