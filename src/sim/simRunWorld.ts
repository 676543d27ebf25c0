/** The world of a run: a node of the kind that the workload wants, its API server, its owners, and all faults around them. */
import { createSimApiServer, type SimApiServer } from "./apiServer/simApiServer.ts";
import { createApiFaults } from "./faults/apiFaults.ts";
import type { ImageGcPolicy } from "../core/image/imageGc.ts";
import { evictionThresholds } from "../core/eviction/thresholds.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import type { Clock } from "../ports/clock.ts";
import { createAccidents } from "./faults/accidents.ts";
import { createCallFaults } from "./faults/callFaults.ts";
import { withEventFaults } from "./faults/eventFaults.ts";
import type { FaultDice } from "./faults/faultDice.ts";
import type { FaultRates } from "./faults/faultKinds.ts";
import { pluginFaults } from "./faults/hardwareFaults.ts";
import { createMountFaults } from "./faults/mountFaults.ts";
import { createPageFaults } from "./faults/pageFaults.ts";
import { createShutdowns, type Shutdowns } from "./faults/shutdownFaults.ts";
import { attachFaults, crashDriver, withDriverCrashes } from "./faults/storageFaults.ts";
import { slowReclaims } from "./faults/resourceFaults.ts";
import { withProgramFaults, withPullFaults } from "./faults/programFaults.ts";
import { createSimHardware, type SimHardware } from "./hardware/simHardware.ts";
import { claimObservations, claimSizes, inUseObservations } from "./simClusterObservations.ts";
import { startStorageControllers } from "./storage/simAttachments.ts";
import { createSimStorage, type SimStorage } from "./storage/simStorage.ts";
import { createHeapScheduler } from "./time/heapScheduler.ts";
import { pinnedNode } from "./pinnedNode.ts";
import { createPrng, type Prng } from "./prng.ts";
import { createSimClock } from "./time/simClock.ts";
import type { CreateKubelet } from "./simKubelet.ts";
import { createSimNode, type SimNode } from "./simNode.ts";
import type { SimObservation, UntimedObservation } from "./simObservation.ts";
import { usualRegistry } from "./runtime/simRuntime.ts";
import { startClaimOwners } from "./workload/claimOwners.ts";
import { workloadPrograms } from "./workload/podKinds.ts";
import { hasSelinux, readsPage, type SimPodPlan, type Workload } from "./workload/workload.ts";
import { SIM_DEVICES } from "./workload/workloadTenants.ts";
import { workloadAnswers } from "./workload/workloadAnswers.ts";
import { createWorkloadOwners, type WorkloadOwners } from "./workload/workloadOwners.ts";

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

/** The world; `heal` ends what faults have broken. */
export interface SimRunWorld {
  readonly node: SimNode;
  readonly server: SimApiServer;
  readonly owners: WorkloadOwners;
  readonly hardware: SimHardware | undefined;
  readonly storage: SimStorage | undefined;
  heal(): void;
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

/** Periods of a node whose machine shuts down: of `shutdownGracePeriod`, and by priority. */
const SHUTDOWN: readonly KubeletConfig["shutdownPeriods"][] = [
  [
    { priority: 0, seconds: 20 },
    { priority: 2_000_000_000, seconds: 10 },
  ],
  [
    { priority: 0, seconds: 45 },
    { priority: 100, seconds: 15 },
    { priority: 1_000, seconds: 0 },
    { priority: 2_000_000_000, seconds: 10 },
  ],
];

/** Properties of a machine with SELinux. */
const SELINUX = { selinuxEnabled: true, selinuxFileLabel: "system_u:object_r:container_file_t:s0" };

/** How long nodes wait for their API server before they restore pods from disk. */
const OFFLINE_WAITS_MS = [0, 5_000, 30_000];

/** Draws the kind of the node and its configuration. */
function drawNode({ seed, workload, rates }: SimRunOptions) {
  const draws = createPrng(`${seed}/node`);
  const drawn = {
    maxPods: draws.pick([110, 110, 20]),
    modern: draws.chance(0.85),
    readsPage: readsPage(seed),
    windowSize: undefined,
  };
  const kind = workload === "steady" ? STEADY_NODE : drawn;
  const isPinned = workload === "pinned" || workload === "cores";
  const pinned = isPinned ? pinnedNode(createPrng(`${seed}/pinned`)) : undefined;
  const isLabelled = workload === "csi" && hasSelinux(seed);
  const config: Partial<KubeletConfig> = {
    maxPods: kind.maxPods,
    imageGc: createPrng(`${seed}/imageGc`).pick(IMAGE_GC),
    ...(rates.nodeShutsDown > 0 ? { shutdownPeriods: createPrng(`${seed}/shutdown`).pick(SHUTDOWN) } : {}),
    ...(rates.offlineBoot > 0 ? { offlineBoot: { waitMs: createPrng(`${seed}/offline`).pick(OFFLINE_WAITS_MS) } } : {}),
    ...(rates.pidsTaken > 0 ? createPrng(`${seed}/eviction`).pick(EVICTION) : {}),
    sources: kind.readsPage ? ["file", "http", "api"] : ["file", "api"],
    labelsAllAccessModes: isLabelled,
    ...pinned?.config,
  };
  const machine = isLabelled ? SELINUX : pinned?.machine;
  return { kind, config, registry: draws.fork("registry"), ...(machine && { machine }) };
}

/** Creates the plugins of a node of this workload. */
function createPlugins(
  { seed, workload }: SimRunOptions,
  dice: FaultDice,
  {
    clock,
    crashKubelet,
    node,
  }: { readonly clock: Clock; readonly node: () => SimNode; crashKubelet(afterMs: number, prng: Prng): void },
): Pick<SimRunWorld, "hardware" | "storage"> {
  const around = {
    clock,
    prng: createPrng(`${seed}/hardware`),
    faults: pluginFaults(dice, crashKubelet),
    bootId: () => node().host.machine.bootId,
    see: (observation: UntimedObservation) => node().see(observation),
  };
  if (workload === "pinned") return { hardware: createSimHardware(around), storage: undefined };
  if (workload !== "csi") return { hardware: undefined, storage: undefined };
  const faults = withDriverCrashes(around.faults, dice, (driver, prng) => {
    const process = storage.processes.find(({ name }) => name === driver);
    if (process !== undefined) crashDriver(process, prng, (ms, action) => clock.scheduler.schedule(action, ms));
  });
  const storage: SimStorage = createSimStorage({ ...around, faults, machine: () => node().host });
  return { hardware: undefined, storage };
}

/** Creates the shutdowns of a machine, if there are any in this run. */
const drawnShutdowns = (
  { seed, rates }: SimRunOptions,
  clock: Clock,
  { node, reboot }: { readonly node: () => SimNode; reboot(prng: Prng): void },
): Shutdowns | undefined =>
  rates.nodeShutsDown > 0 ? createShutdowns(clock, node, reboot, createPrng(`${seed}/boots`)) : undefined;

/** Creates the world; no time has passed. */
export function createRunWorld(options: SimRunOptions, dice: FaultDice): SimRunWorld {
  const { seed, durationMs, createKubelet, watch } = options;
  const { kind, config, registry, ...drawn } = drawNode(options);
  const crashKubelet = (afterMs: number, prng: Prng): void => accidents.crashKubelet(afterMs, prng);
  const calls = createCallFaults(dice, crashKubelet);
  const page = createPageFaults(dice);
  const api = createApiFaults();
  const scheduler = createHeapScheduler();
  const clock = createSimClock(scheduler);
  const server = createSimApiServer({
    clock,
    prng: createPrng(`${seed}/api`),
    windowSize: kind.windowSize,
    ...api.hooks,
  });
  const { hardware, storage } = createPlugins(options, dice, { clock, crashKubelet, node: () => node });
  const shutdowns = drawnShutdowns(options, clock, { node: () => node, reboot: (prng) => accidents.reboot(prng) });
  const node: SimNode = createSimNode({
    seed,
    config,
    ...drawn,
    scheduler,
    api: server,
    modern: kind.modern,
    devices: SIM_DEVICES,
    objectStrategy: createPrng(`${seed}/objects`).pick(["Watch", "Watch", "Watch", "Cache", "Get"]),
    programs: withProgramFaults(workloadPrograms, dice),
    registry: withPullFaults(usualRegistry(registry), dice),
    answers: workloadAnswers,
    callFault: calls.callFault,
    goesOn: calls.goesOn,
    ...createMountFaults(dice),
    reclaimMs: slowReclaims(dice),
    pageFate: page.fate,
    adaptRuntime: (runtime, clock) => withEventFaults(runtime, dice, clock),
    maxLogLines: 1_000,
    ...(hardware && portsOf(hardware)),
    ...(storage && { plugins: storage.ports.plugins, csiDrivers: () => storage.ports.csiDrivers }),
    ...(shutdowns && { logind: shutdowns.logind.port }),
    ...(watch === undefined ? {} : { watch }),
    ...(options.maxTraceLines === undefined ? {} : { maxTraceLines: options.maxTraceLines }),
    ...(createKubelet === undefined ? {} : { createKubelet }),
  });
  server.put("nodes", { metadata: { name: node.config.nodeName } });
  if (storage !== undefined) {
    inUseObservations(server, node.config.nodeName).subscribe({ next: (observation) => node.see(observation) });
    startStorageControllers(node, server, attachFaults(dice), { sizes: storage.sizes, durationMs });
    claimSizes(server).subscribe({ next: (observation) => node.see(observation) });
  }
  const owners = createWorkloadOwners(node, server, options.pods);
  if (hardware !== undefined) {
    startClaimOwners(node, server);
    claimObservations(server).subscribe({ next: (observation) => node.see(observation) });
  }
  const surroundings = { owners, page, api: { server, faults: api }, hardware, storage, shutdowns };
  const accidents = createAccidents(node, surroundings, dice, durationMs);
  return {
    node,
    server,
    owners,
    hardware,
    storage,
    heal() {
      owners.heal();
      accidents.heal();
    },
  };
}

const portsOf = ({ ports: { draDrivers, ...others } }: SimHardware) => ({ ...others, draDrivers: () => draDrivers });
