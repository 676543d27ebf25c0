/**
 * A share of a fleet: some of its nodes, all of them alive at once, advancing in turn. Nodes know nothing of each other, so
 * that a fleet is the same however it is dealt, as long as all its shares take their turns together.
 */
import type { FaultKind } from "./faults/faultKinds.ts";
import type { SimViolation } from "./simChecker.ts";
import type { CreateKubelet } from "./simKubelet.ts";
import type { SimObservation } from "./simObservation.ts";
import { replayedPods, type SimReplay } from "./simReplay.ts";
import { createSimRun, type SimOutcome, type SimRun } from "./simRun.ts";

/** A node of a fleet, as plain data. */
export interface FleetNode {
  /** Its place in the fleet, from 0. */
  readonly index: number;
  readonly replay: SimReplay;
}

/** How far a share is; plain data. */
export interface ShareState {
  /** Some node has not come to its end. */
  readonly isLive: boolean;
  readonly hasFailed: boolean;
  /** Of the slowest node. */
  readonly virtualMs: number;
  readonly events: number;
  readonly faults: number;
}

/** What became of one node; plain data. */
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
  /** The last lines of the share's first node that failed, or of its first one; of the others none. */
  readonly lines: readonly string[];
}

/** What the nodes of a share have that is no plain data. */
export interface ShareHooks {
  /** Another kubelet than the production one. */
  readonly createKubelet?: CreateKubelet | undefined;
  /** Sees everything that happens on every node. */
  readonly watch?: ((observation: SimObservation, node: number) => void) | undefined;
}

export interface FleetShare {
  /** Each node lives through so many slices of virtual time, unless it ends before. */
  turn(slices: number): ShareState;
  /** In the order of the nodes. */
  ends(): readonly NodeEnd[];
}

/** Lines told of a run. */
const TOLD_LINES = 200;

/** Makes the nodes; nothing happens before the first turn. */
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
      const told = all.find(({ run }) => run.outcome !== "ok") ?? all[0];
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
          lines: node === told ? lastLines(node.run) : [],
        };
      });
    },
  };
}

/** Advances a run by so many slices; false once it is over. */
function advanceBy(run: SimRun, slices: number): boolean {
  for (let slice = 0; slice < slices; slice += 1) if (!run.advance()) return false;
  return true;
}

/** The run that a replay tells of, from its beginning. */
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
    maxTraceLines: TOLD_LINES,
    watch,
  });

/** What is told of a run. */
export const lastLines = ({ node }: SimRun): readonly string[] => node.trace.lines.slice(-TOLD_LINES);
