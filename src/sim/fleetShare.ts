/**
 * A share of a fleet: some of its nodes, all alive at once and advanced in turns. Nodes are independent, so the
 * result does not depend on the distribution of nodes, as long as all shares take their turns together.
 */
import type { FaultKind } from "./faults/faultKinds.ts";
import type { SimViolation } from "./simChecker.ts";
import type { CreateKubelet } from "./simKubelet.ts";
import type { SimObservation } from "./simObservation.ts";
import { replayedPods, type SimReplay } from "./simReplay.ts";
import { createSimRun, type SimOutcome, type SimRun } from "./simRun.ts";

/** A node of a fleet, as plain data. */
export interface FleetNode {
  /** Index in the fleet, from 0. */
  readonly index: number;
  readonly replay: SimReplay;
}

/** The progress of a share, as plain data. */
export interface ShareState {
  /** True while some node has not finished. */
  readonly isLive: boolean;
  readonly hasFailed: boolean;
  /** Virtual time of the slowest node. */
  readonly virtualMs: number;
  readonly events: number;
  readonly faults: number;
}

/** The result of one node, as plain data. */
export interface NodeEnd {
  readonly index: number;
  readonly outcome: SimOutcome;
  readonly violations: readonly SimViolation[];
  readonly virtualMs: number;
  readonly events: number;
  /** Changes of pod statuses. */
  readonly transitions: number;
  readonly faults: Readonly<Partial<Record<FaultKind, number>>>;
  readonly fingerprint: string;
  /** The last lines of the share's first failed node, or else of its first node; empty for all other nodes. */
  readonly lines: readonly string[];
}

/** Options of a share that are not plain data. */
export interface ShareHooks {
  /** Replaces the production kubelet. */
  readonly createKubelet?: CreateKubelet | undefined;
  /** Observes every event on every node. */
  readonly watch?: ((observation: SimObservation, node: number) => void) | undefined;
}

export interface FleetShare {
  /** Advances each node by this many slices of virtual time, unless it finishes earlier. */
  turn(slices: number): ShareState;
  /** Results in the order of the nodes. */
  ends(): readonly NodeEnd[];
}

/** Number of trace lines in a result. */
const REPORTED_LINES = 200;

/** Creates the nodes; no time passes before the first turn. */
export function createFleetShare(nodes: readonly FleetNode[], { createKubelet, watch }: ShareHooks): FleetShare {
  const all = nodes.map(({ index, replay }) => {
    const node = { index, transitions: 0 };
    const run = playReplay(replay, createKubelet, (observation) => {
      if (observation.kind === "status") node.transitions += 1;
      watch?.(observation, index);
    });
    return Object.assign(node, { run });
  });
  let live = all;
  return {
    turn(slices) {
      live = live.filter(({ run }) => advanceBy(run, slices));
      return {
        isLive: live.length > 0,
        hasFailed: all.some(({ run }) => run.outcome !== "ok"),
        virtualMs: Math.min(...all.map(({ run }) => run.node.clock.monotonicMs())),
        events: all.reduce((sum, { run }) => sum + run.events, 0),
        faults: all.reduce((sum, { run }) => sum + run.dice.happened.length, 0),
      };
    },
    ends() {
      const reported = all.find(({ run }) => run.outcome !== "ok") ?? all[0];
      return all.map((node) => {
        const { outcome, violations, events, dice } = node.run;
        return {
          index: node.index,
          outcome,
          violations,
          virtualMs: node.run.node.clock.monotonicMs(),
          events,
          transitions: node.transitions,
          faults: dice.counts(),
          fingerprint: node.run.node.trace.fingerprint,
          lines: node === reported ? lastLines(node.run) : [],
        };
      });
    },
  };
}

/** Advances a run by this many slices; returns false when the run has finished. */
function advanceBy(run: SimRun, slices: number): boolean {
  for (let slice = 0; slice < slices; slice += 1) if (!run.advance()) return false;
  return true;
}

/** Returns the run that a replay describes, from its beginning. */
export const playReplay = (
  replay: SimReplay,
  createKubelet: CreateKubelet | undefined,
  watch?: (observation: SimObservation) => void,
): SimRun =>
  createSimRun({
    seed: replay.seed,
    pods: replayedPods(replay),
    durationMs: replay.durationMs,
    workload: replay.workload,
    rates: replay.rates,
    only: replay.keptFaults === undefined ? undefined : new Set(replay.keptFaults),
    createKubelet,
    maxTraceLines: REPORTED_LINES,
    watch,
  });

/** Summarizes a run. */
export const lastLines = ({ node }: SimRun): readonly string[] => node.trace.lines.slice(-REPORTED_LINES);
