/** The parts of a node shutdown that its steps share. */
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { NodeState, NodeView } from "../../state/nodeState.ts";
import type { ShutdownRecord } from "./shutdownRecord.ts";

/** The cells that a shutdown reads, and the one that it owns. */
export type ShutdownCells = Pick<NodeView, "registry" | "podStatuses" | "apiPodObjects" | "node"> &
  Pick<NodeState, "shuttingDown">;

/** Ports, configuration, cells, and the record of the last shutdown. */
export interface ShutdownContext {
  readonly ports: Pick<KubeletPorts, "clock" | "rng" | "telemetry" | "api">;
  readonly config: Pick<KubeletConfig, "nodeName" | "shutdownPeriods">;
  readonly cells: ShutdownCells;
  readonly record: ShutdownRecord;
}
