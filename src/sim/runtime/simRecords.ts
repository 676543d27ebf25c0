/** State of a simulated runtime: immutable records. */
import type { Observable } from "rxjs";
import type { IdRange } from "../../core/userns/idRanges.ts";
import type { ContainerConfig, LinuxContainerResources, PodSandboxConfig } from "../../gen/cri.ts";
import type { SimExit, SimProgram } from "./simProgram.ts";

export interface SimImage {
  /** `sha256:` and 64 hex digits. */
  readonly id: string;
  /** Canonical references with a tag. */
  readonly repoTags: readonly string[];
  /** `repository@sha256:...` */
  readonly repoDigests: readonly string[];
  readonly sizeBytes: number;
  /** Whether the runtime needs the image itself. */
  readonly pinned?: boolean;
}

export interface SimSandbox {
  readonly id: string;
  readonly config: PodSandboxConfig;
  readonly runtimeHandler: string;
  readonly createdAt: bigint;
  readonly ready: boolean;
  /** Empty for pods on the host's network, and after the sandbox stopped. */
  readonly ip: string;
}

export type SimPhase =
  | { readonly kind: "created" }
  | { readonly kind: "running"; readonly startedAt: bigint }
  | {
      readonly kind: "exited";
      /** 0 if it never ran. */
      readonly startedAt: bigint;
      readonly finishedAt: bigint;
      readonly exitCode: number;
      readonly reason: string;
      readonly message: string;
    };

export interface SimContainer {
  readonly id: string;
  readonly sandboxId: string;
  readonly config: ContainerConfig;
  readonly image: SimImage;
  readonly createdAt: bigint;
  readonly phase: SimPhase;
  readonly resources: LinuxContainerResources | undefined;
}

/** The exit of a process. */
export interface SimEnd extends SimExit {
  /** Default: Completed for code 0, else Error. */
  readonly reason?: string;
}

/** A running process. */
export interface SimProcess {
  readonly program: SimProgram;
  /** Process id on the machine. */
  readonly pid: number;
  /** Emits once on exit, also to later subscribers. */
  readonly ended$: Observable<void>;
  /** Ends the process after this delay, unless it ends earlier. */
  endAfter(end: SimEnd): void;
  /** Ends the process now, regardless of other scheduled ends. */
  endNow(end: SimEnd): void;
  term(): void;
  kill(): void;
}

/** A change of a simulated runtime, in order of occurrence. */
export interface SimChange {
  /** Virtual time in milliseconds. */
  readonly atMs: number;
  readonly kind:
    | "sandbox created"
    | "sandbox stopped"
    | "sandbox removed"
    | "container created"
    | "container started"
    | "container exited"
    | "container removed"
    | "image pulled"
    | "image removed";
  /** Id of the sandbox, container or image. */
  readonly id: string;
  /** UID of the pod that owns the sandbox or container; empty for images. */
  readonly podUid: string;
  /** `namespace/pod`, `namespace/pod/container#attempt` or the image's first name. */
  readonly name: string;
  /** User id range of a sandbox whose pod has a user namespace. */
  readonly userIds?: IdRange;
  /** Set for an exit. */
  readonly exitCode?: number;
  /** Set for an exit. */
  readonly reason?: string;
  /** Set for images. */
  readonly image?: SimImage;
  /** Id of the image of a created container. */
  readonly imageId?: string;
  /** CPUs and NUMA nodes of a created container that is not to run on all. */
  readonly cpus?: string;
  readonly mems?: string;
  /** CDI names of the devices of a created container. */
  readonly devices?: readonly string[];
}
