/** Inputs of a node: the command line, and later the resources and ports that are open when its kubelet starts. */
import type { KubeletOptions } from "../cli/kubeletOptions.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { LeveledLogger } from "../ports/telemetry.ts";
import type { SpanExport } from "../ports/tracing.ts";
import type { PassedLocalSocket } from "../sources/passedLocalSocket.ts";
import type { NodeResources } from "./nodeResources.ts";

/** Inputs of a node. */
export interface NodeSetup {
  readonly options: KubeletOptions;
  readonly log: LeveledLogger;
  readonly version: string;
  /** Absent: nothing is traced. */
  readonly tracing?: SpanExport | undefined;
  /**
   * Whether the node has the machine, as a daemon does: it sets up the kernel, and makes the root directory a shared mount
   * for pods with mount propagation. `rxlet dev` is a guest of the machine. Default false.
   */
  readonly ownsMachine?: boolean;
  /** The socket of the local commands that systemd passed to this process. */
  readonly passedSocket?: PassedLocalSocket | undefined;
  /** Whether the read-only server listens on any free port if another process uses its port. Default false. */
  readonly mayMoveReadOnly?: boolean;
  /**
   * Also serves kubectl, as an API server would. `writeHint` says how to change objects that cannot be written there.
   */
  readonly localApi?: { readonly writeHint: string };
}

/** Inputs of a kubelet's start. */
export interface KubeletStart
  extends Pick<NodeResources, "metrics" | "client" | "trees" | "memoryShedder">,
    Pick<KubeletPorts, "machine" | "cgroups" | "api"> {
  readonly config: KubeletConfig;
}
