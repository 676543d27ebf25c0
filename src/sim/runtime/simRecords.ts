/** What a simulated runtime remembers: plain records, replaced and never changed in place. */
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
}

export interface SimSandbox {
  readonly id: string;
  readonly config: PodSandboxConfig;
  readonly runtimeHandler: string;
  readonly createdAt: bigint;
  readonly ready: boolean;
  /** Empty for pods on the host's network, and once stopped. */
  readonly ip: string;
}

export type SimPhase =
  | { readonly kind: "created" }
  | { readonly kind: "running"; readonly startedAt: bigint }
  | {
      readonly kind: "exited";
      /** 0 when it never ran. */
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

/** How a process ended. */
export interface SimEnd extends SimExit {
  /** Default: Completed for code 0, else Error. */
  readonly reason?: string;
}

/** A running process. */
export interface SimProcess {
  readonly program: SimProgram;
  /** Its id on the machine. */
  readonly pid: number;
  /** Emits once when it ended, also to those who come later. */
  readonly ended$: Observable<void>;
  /** Ends it that much later, unless it ends before. */
  endAfter(end: SimEnd): void;
  /** Ends it at this instant, whatever else was to end it. */
  endNow(end: SimEnd): void;
  term(): void;
  kill(): void;
}

/** A step in the life of a simulated runtime, in the order in which they happened. */
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
  /** Of the sandbox, container or image. */
  readonly id: string;
  /** Of the pod a sandbox or container belongs to; empty for images. */
  readonly podUid: string;
  /** `namespace/pod`, `namespace/pod/container#attempt` or the image's first name. */
  readonly name: string;
  /** Of a sandbox whose pod has user ids of its own: which of the node's. */
  readonly userIds?: IdRange;
  /** Of an exit. */
  readonly exitCode?: number;
}
