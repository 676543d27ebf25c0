/**
 * The life of one simulated node under faults: a time of faults with every rule checked at every step, then a heal
 * after which the desired state must be reached, then the removal of all pods, after which no resource may be left.
 * Owns node and faults.
 */
import { InvariantError, witnessBrokenInvariants } from "../core/invariant.ts";
import { createFaultDice, type FaultDice } from "./faults/faultDice.ts";
import { openDesires } from "./checkers/desiredState.ts";
import { openRestored } from "./checkers/restoredConfirmed.ts";
import { openStatuses } from "./checkers/statusesArrive.ts";
import { noBusyLoop } from "./checkers/noBusyLoop.ts";
import { openDuties } from "./checkers/nodeInCluster.ts";
import { leakedHardware, openMoves } from "./checkers/hardwareSettles.ts";
import { leakedDevices, openDevices } from "./checkers/devicesSettle.ts";
import { leakedStorage, openGrowth, openStorage } from "./checkers/storageSettles.ts";
import { openSizes } from "./checkers/sizesSettle.ts";
import { leftovers, leftTimers } from "./checkers/leftovers.ts";
import type { SimViolation } from "./simChecker.ts";
import type { SimNode } from "./simNode.ts";
import { createRunWorld, type SimRunOptions, type SimRunWorld } from "./simRunWorld.ts";

/** The result of a run. */
export type SimOutcome = "ok" | "correctness" | "liveness" | "crash";

/** A run and its current result. */
export interface SimRun {
  readonly node: SimNode;
  readonly dice: FaultDice;
  readonly outcome: SimOutcome;
  readonly violations: readonly SimViolation[];
  /** Scheduler actions so far. */
  readonly events: number;
  /** Runs for a slice of virtual time; returns false when the run has finished. */
  advance(): boolean;
}

const SLICE_MS = 60_000;
/** Bound on reaching the desired state after the last fault: longest backoffs, grace periods and stuck processes. */
const HEALING_MS = 45 * 60_000;
const LOOK_MS = 5_000;
/** Time for late answers to abandoned calls. */
const CALM_MS = 5 * 60_000;

/** Creates a run. No time passes before `advance`. */
export function createSimRun(options: SimRunOptions): SimRun {
  const { seed, rates, only, durationMs } = options;
  const dice = createFaultDice({ seed, rates, only });
  const found: SimViolation[] = [];
  let outcome: SimOutcome = "ok";
  let events = 0;
  /** A broken invariant, regardless of where it was caught. */
  let bug: InvariantError | undefined;
  const world = createRunWorld(options, dice);
  const { node } = world;
  const pace = noBusyLoop(options.pods.length);
  const broken = (): boolean => {
    if (node.violations.length === 0 && found.length === 0) return false;
    outcome = "correctness";
    return true;
  };
  const stepsUntil = (endMs: number): boolean => {
    while (node.step(endMs)) {
      events += 1;
      if (bug !== undefined) throw bug;
      const spin = pace(node.clock.monotonicMs());
      if (spin !== undefined) found.push({ atMs: node.clock.monotonicMs(), checker: "noBusyLoop", message: spin });
      if (spin !== undefined || node.violations.length > 0) return !broken();
    }
    node.scheduler.advanceTo(endMs);
    return true;
  };
  const blame = (kind: "liveness", checker: string, messages: readonly string[]): void => {
    outcome = kind;
    for (const message of messages) found.push({ atMs: node.clock.monotonicMs(), checker, message });
  };
  const phases = life({ ...world, durationMs, dice, stepsUntil, blame });
  return {
    node,
    dice,
    get outcome() {
      return outcome;
    },
    get violations() {
      return [...node.violations, ...found];
    },
    get events() {
      return events;
    },
    advance() {
      if (outcome !== "ok") return false;
      const restoreWitness = witnessBrokenInvariants((error) => {
        bug ??= error;
      });
      try {
        return phases.next().done !== true && outcome === "ok";
      } catch (thrown) {
        outcome = "crash";
        const message = thrown instanceof InvariantError ? thrown.message : textOf(thrown);
        found.push({ atMs: node.clock.monotonicMs(), checker: "kubelet", message });
        return false;
      } finally {
        restoreWitness();
      }
    },
  };
}

const textOf = (thrown: unknown): string =>
  thrown instanceof Error ? (thrown.stack ?? thrown.message) : JSON.stringify(thrown);

interface LifeContext extends SimRunWorld {
  readonly durationMs: number;
  readonly dice: FaultDice;
  /** Returns false if a rule was broken. */
  stepsUntil(endMs: number): boolean;
  blame(kind: "liveness", checker: string, messages: readonly string[]): void;
}

function* life({
  node,
  server,
  owners,
  hardware,
  storage,
  durationMs,
  dice,
  heal,
  stepsUntil,
  blame,
}: LifeContext): Generator<undefined> {
  for (let endMs = 0; endMs < durationMs; yield) {
    endMs = Math.min(durationMs, endMs + SLICE_MS);
    if (!stepsUntil(endMs)) return;
  }
  node.note("all faults end");
  dice.heal();
  heal();
  const wait = function* (checker: string, open: () => readonly string[]): Generator<undefined, boolean> {
    const endMs = node.clock.monotonicMs() + HEALING_MS;
    while (open().length > 0) {
      if (node.clock.monotonicMs() >= endMs) {
        blame("liveness", checker, open());
        return false;
      }
      if (!stepsUntil(node.clock.monotonicMs() + LOOK_MS)) return false;
      yield;
    }
    return true;
  };
  if (!(yield* wait("restoredConfirmed", () => openRestored(node)))) return;
  if (!(yield* wait("desiredState", () => openDesires(node, owners.wanted())))) return;
  if (!(yield* wait("sizesSettle", () => openSizes(node)))) return;
  if (!(yield* wait("hardwareSettles", () => openMoves(node)))) return;
  if (!(yield* wait("statusesArrive", () => openStatuses(node)))) return;
  if (!(yield* wait("devicesSettle", () => openDevices(node, server, hardware)))) return;
  if (!(yield* wait("storageSettles", () => openStorage(node, server, storage)))) return;
  if (!(yield* wait("claimsGrow", () => openGrowth(node, server, storage)))) return;
  if (!(yield* wait("nodeInCluster", () => openDuties(node, server)))) return;
  node.note("nobody wants anything any more");
  owners.leave();
  if (!(yield* wait("leftovers", () => leftovers(node)))) return;
  if (!(yield* wait("hardwareSettles", () => leakedHardware(node)))) return;
  if (!(yield* wait("devicesSettle", () => leakedDevices(node, hardware)))) return;
  if (!(yield* wait("storageSettles", () => leakedStorage(node, server, storage)))) return;
  if (!stepsUntil(node.clock.monotonicMs() + CALM_MS)) return;
  node.crashKubelet();
  // Intermediate hops of long timers end within one step.
  if (!stepsUntil(node.clock.monotonicMs() + CALM_MS)) return;
  const timers = leftTimers(node);
  if (timers.length > 0) blame("liveness", "leftovers", timers);
}
