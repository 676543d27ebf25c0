/** Inputs that every step of the eviction manager shares. */
import type { EvictionView } from "../../core/eviction/evictionView.ts";
import type { SignalLooks } from "../../core/eviction/pressureView.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import type { NodePressures } from "../../core/node/nodeFacts.ts";
import type { Instant } from "../../core/timeline/timelineTypes.ts";
import type { Clock } from "../../ports/clock.ts";
import type { NodeStats } from "../../ports/nodeStats.ts";
import type { Cell, ReadonlyCell } from "../../state/cell.ts";
import type { NodeView } from "../../state/nodeState.ts";
import type { NodeReclaim } from "../nodeReclaim.ts";
import type { ObservationConfig, ObservationPorts } from "./observeSignals.ts";

/** Statistics of pods, and ways to free resources without ending one. */
export interface EvictionTools {
  readonly stats: Pick<NodeStats, "summary" | "summaryWithoutDirectories" | "diskLayout">;
  readonly reclaim: NodeReclaim;
}

/** The cells of the manager, and the registry. */
export interface EvictionCells extends Pick<NodeView, "registry"> {
  readonly pressures: Cell<NodePressures>;
  readonly eviction: Cell<EvictionView>;
  /** Measurements between two looks. */
  readonly signalLooks: ReadonlyCell<SignalLooks>;
}

export interface EvictionContext {
  readonly ports: ObservationPorts;
  readonly config: ObservationConfig &
    Pick<KubeletConfig, "nodeName" | "pressureTransitionMs" | "evictionMaxPodGraceSeconds" | "limitsLocalStorage">;
  readonly cells: EvictionCells;
  readonly tools: EvictionTools;
}

/** Returns the current time on both clocks. */
export const instantOf = (clock: Clock): Instant => ({ wall: clock.wallTime(), mono: clock.monotonicMs() });
