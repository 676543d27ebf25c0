/**
 * The life of one simulated node under faults: a time of faults with every rule checked at every step, then a heal
 * after which the desired state must be reached, then the removal of all pods, after which no resource may be left.
 * Owns node and faults.
 */
import { InvariantError, witnessBrokenInvariants } from "../core/invariant.ts";
import { createSimApiServer, type SimApiServer } from "./apiServer/simApiServer.ts";
import { createApiFaults } from "./faults/apiFaults.ts";
import type { ImageGcPolicy } from "../core/image/imageGc.ts";
import { evictionThresholds } from "../core/eviction/thresholds.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import { createAccidents } from "./faults/accidents.ts";
import { createCallFaults } from "./faults/callFaults.ts";
import { withEventFaults } from "./faults/eventFaults.ts";
import { createFaultDice, type FaultDice } from "./faults/faultDice.ts";
import type { FaultRates } from "./faults/faultKinds.ts";
import { createMountFaults } from "./faults/mountFaults.ts";
import { createPageFaults } from "./faults/pageFaults.ts";
import { slowReclaims } from "./faults/resourceFaults.ts";
import { withProgramFaults, withPullFaults } from "./faults/programFaults.ts";
import { openDesires } from "./checkers/desiredState.ts";
import { openStatuses } from "./checkers/statusesArrive.ts";
import { noBusyLoop } from "./checkers/noBusyLoop.ts";
import { openDuties } from "./checkers/nodeInCluster.ts";
import { leakedHardware, openMoves } from "./checkers/hardwareSettles.ts";
import { openSizes } from "./checkers/sizesSettle.ts";
import { leftovers, leftTimers } from "./checkers/leftovers.ts";
import { createHeapScheduler } from "./time/heapScheduler.ts";
import { pinnedNode } from "./pinnedNode.ts";
import { createPrng } from "./prng.ts";
import type { SimViolation } from "./simChecker.ts";
import { createSimClock } from "./time/simClock.ts";
import type { CreateKubelet } from "./simKubelet.ts";
import { createSimNode, type SimNode } from "./simNode.ts";
import type { SimObservation } from "./simObservation.ts";
import { usualRegistry } from "./runtime/simRuntime.ts";
import { workloadPrograms } from "./workload/podKinds.ts";
import { readsPage, type SimPodPlan, type Workload } from "./workload/workload.ts";
import { SIM_DEVICES } from "./workload/workloadTenants.ts";
import { workloadAnswers } from "./workload/workloadAnswers.ts";
import { createWorkloadOwners, type WorkloadOwners } from "./workload/workloadOwners.ts";

/** The result of a run. */
export type SimOutcome = "ok" | "correctness" | "liveness" | "crash";

export interface SimRunOptions {
  readonly seed: string | number;
  readonly pods: readonly SimPodPlan[];
  /** Length of the time of faults. */
  readonly durationMs: number;
  /** Kind of the node; default `drawn`. */
  readonly workload?: Workload | undefined;
  readonly rates: FaultRates;
  /** Limits the faults to these; see FaultDice. */
  readonly only?: ReadonlySet<string> | undefined;
  /** Replaces the production kubelet, to verify that a broken one is detected. */
  readonly createKubelet?: CreateKubelet | undefined;
  readonly maxTraceLines?: number | undefined;
  /** Observes every event, after trace and checkers. */
  readonly watch?: ((observation: SimObservation) => void) | undefined;
}

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
  const world = createWorld(options, dice);
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

interface SimRunWorld {
  readonly node: SimNode;
  readonly server: SimApiServer;
  readonly owners: WorkloadOwners;
  heal(): void;
}

interface LifeContext extends SimRunWorld {
  readonly durationMs: number;
  readonly dice: FaultDice;
  /** Returns false if a rule was broken. */
  stepsUntil(endMs: number): boolean;
  blame(kind: "liveness", checker: string, messages: readonly string[]): void;
}

function* life({ node, server, owners, durationMs, dice, heal, stepsUntil, blame }: LifeContext): Generator<undefined> {
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
  if (!(yield* wait("desiredState", () => openDesires(node, owners.wanted())))) return;
  if (!(yield* wait("sizesSettle", () => openSizes(node)))) return;
  if (!(yield* wait("hardwareSettles", () => openMoves(node)))) return;
  if (!(yield* wait("statusesArrive", () => openStatuses(node)))) return;
  if (!(yield* wait("nodeInCluster", () => openDuties(node, server)))) return;
  node.note("nobody wants anything any more");
  owners.leave();
  if (!(yield* wait("leftovers", () => leftovers(node)))) return;
  if (!(yield* wait("hardwareSettles", () => leakedHardware(node)))) return;
  if (!stepsUntil(node.clock.monotonicMs() + CALM_MS)) return;
  node.crashKubelet();
  // Intermediate hops of long timers end within one step.
  if (!stepsUntil(node.clock.monotonicMs() + CALM_MS)) return;
  const timers = leftTimers(node);
  if (timers.length > 0) blame("liveness", "leftovers", timers);
}

/**
 * Faults never interrupt the watches of such a node, so its server keeps no long history: a fleet has one server per
 * node.
 */
const STEADY_NODE = { maxPods: 110, modern: true, readsPage: false, windowSize: 4 };

const MIN_AGE_MS = 2 * 60_000;
/** Upstream's limits, and lower ones that no eviction threshold precedes. */
const IMAGE_GC: readonly ImageGcPolicy[] = [
  { highPercent: 85, lowPercent: 80, minAgeMs: MIN_AGE_MS, maxAgeMs: 0 },
  { highPercent: 70, lowPercent: 60, minAgeMs: MIN_AGE_MS, maxAgeMs: 0 },
];

const HARD = {
  "memory.available": "100Mi",
  "nodefs.available": "10%",
  "nodefs.inodesFree": "5%",
  "imagefs.available": "15%",
  "imagefs.inodesFree": "5%",
  "pid.available": "2k",
};
const SOFT = {
  "memory.available": "768Mi",
  "nodefs.available": "25Gi",
  "nodefs.inodesFree": "1M",
  "pid.available": "3k",
};
/** Upstream's hard thresholds and one for process ids; the same beside soft ones. */
const EVICTION: readonly Partial<KubeletConfig>[] = [{}, SOFT].map((evictionSoft) => ({
  evictionThresholds: evictionThresholds({
    evictionHard: HARD,
    evictionSoft,
    evictionSoftGracePeriod: Object.fromEntries(Object.keys(evictionSoft).map((signal) => [signal, "1m30s"])),
    evictionMinimumReclaim: {},
    enforceNodeAllocatable: ["pods"],
  }),
  evictionMaxPodGraceSeconds: 30,
}));

function createWorld(options: SimRunOptions, dice: FaultDice): SimRunWorld {
  const { seed, durationMs, createKubelet, watch } = options;
  const draws = createPrng(`${seed}/node`);
  const drawn = {
    maxPods: draws.pick([110, 110, 20]),
    modern: draws.chance(0.85),
    readsPage: readsPage(seed),
    windowSize: undefined,
  };
  const kind = options.workload === "steady" ? STEADY_NODE : drawn;
  const pinned = options.workload === "pinned" ? pinnedNode(createPrng(`${seed}/pinned`)) : undefined;
  const calls = createCallFaults(dice, (afterMs, prng) => accidents.crashKubelet(afterMs, prng));
  const page = createPageFaults(dice);
  const config: Partial<KubeletConfig> = {
    maxPods: kind.maxPods,
    imageGc: createPrng(`${seed}/imageGc`).pick(IMAGE_GC),
    ...(options.rates.pidsTaken > 0 ? createPrng(`${seed}/eviction`).pick(EVICTION) : {}),
    sources: kind.readsPage ? ["file", "http", "api"] : ["file", "api"],
    ...pinned?.config,
  };
  const api = createApiFaults();
  const scheduler = createHeapScheduler();
  const server = createSimApiServer({
    clock: createSimClock(scheduler),
    prng: createPrng(`${seed}/api`),
    windowSize: kind.windowSize,
    ...api.hooks,
  });
  const node = createSimNode({
    seed,
    config,
    ...(pinned === undefined ? {} : { machine: pinned.machine }),
    scheduler,
    api: server,
    modern: kind.modern,
    devices: SIM_DEVICES,
    objectStrategy: createPrng(`${seed}/objects`).pick(["Watch", "Watch", "Watch", "Cache", "Get"]),
    programs: withProgramFaults(workloadPrograms, dice),
    registry: withPullFaults(usualRegistry(draws.fork("registry")), dice),
    answers: workloadAnswers,
    callFault: calls.callFault,
    goesOn: calls.goesOn,
    ...createMountFaults(dice),
    reclaimMs: slowReclaims(dice),
    pageFate: page.fate,
    adaptRuntime: (runtime, clock) => withEventFaults(runtime, dice, clock),
    maxLogLines: 1_000,
    ...(watch === undefined ? {} : { watch }),
    ...(options.maxTraceLines === undefined ? {} : { maxTraceLines: options.maxTraceLines }),
    ...(createKubelet === undefined ? {} : { createKubelet }),
  });
  server.put("nodes", { metadata: { name: node.config.nodeName } });
  const owners = createWorkloadOwners(node, server, options.pods);
  const accidents = createAccidents(node, { owners, page, api: { server, faults: api } }, dice, durationMs);
  return {
    node,
    server,
    owners,
    heal() {
      owners.heal();
      accidents.heal();
    },
  };
}
