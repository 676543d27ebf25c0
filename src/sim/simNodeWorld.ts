/**
 * The world of a simulated node: the machine, runtime, cgroups and pod sources, and a kubelet wired to them. Owns the
 * one path of observations: everything that happens passes `see`, in order.
 */
import { merge } from "rxjs";
import { invariant } from "../core/invariant.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import { noticeReturns } from "../sinks/apiServer/noticeReturns.ts";
import { tokenBucket } from "../operators/tokenBucket.ts";
import type { ApiLanes } from "../ports/apiServer.ts";
import type { Clock } from "../ports/clock.ts";
import type { SimApiServer } from "./apiServer/simApiServer.ts";
import { createDriftingClock, type DriftingClock } from "./host/driftingClock.ts";
import { createSimCgroups, type SimCgroups } from "./host/simCgroups.ts";
import type { SimFiles } from "./host/simFiles.ts";
import { createSimHost, type SimHost } from "./host/simHost.ts";
import { createSimLogFiles } from "./host/simLogFiles.ts";
import { createSimManifestPage, type SimManifestPage } from "./podSources/simManifestPage.ts";
import { createSimManifests, type SimManifests } from "./podSources/simManifests.ts";
import { pagePods, SIM_MANIFESTS, staticPods } from "./podSources/simPodSources.ts";
import { createPrng, type Prng } from "./prng.ts";
import type { SimAction } from "./runtime/simCall.ts";
import { createSimRuntime, type SimRuntime, type SimRuntimeOptions } from "./runtime/simRuntime.ts";
import { seenStatus } from "./simClusterObservations.ts";
import { createSimKubelet, type SimKubelet, type SimKubeletOptions } from "./simKubelet.ts";
import { simKubeletConfig } from "./simKubeletConfig.ts";
import type { SimNodeOptions } from "./simNodeOptions.ts";
import { seenStats, seenUsage } from "./simMeasurements.ts";
import type { UntimedObservation } from "./simObservation.ts";
import { ofTheLiving, YES } from "./simProbers.ts";
import {
  podObjects,
  probeObservation,
  requestDetails,
  seenCgroups,
  seenFiles,
  seenMounts,
  seenPodWrites,
  seenWrites,
} from "./simPortObservations.ts";
import { createSimSubjects } from "./simSubjects.ts";
import { createHeapScheduler, type HeapScheduler } from "./time/heapScheduler.ts";
import { createSimApiPods, type SimApiPods } from "./workload/simApiPods.ts";

/** The parts of a node. */
export interface SimNodeWorld {
  /** Randomness for the driver of the node; the node itself uses other streams. */
  readonly prng: Prng;
  readonly clock: DriftingClock;
  readonly scheduler: HeapScheduler;
  readonly config: KubeletConfig;
  readonly runtime: SimRuntime;
  /** The machine: disks, processes, the kernel's log. */
  readonly host: SimHost;
  readonly files: SimFiles;
  readonly cgroups: SimCgroups;
  readonly manifests: SimManifests;
  readonly page: SimManifestPage;
  /** The pods passed directly, on a node without `api`. */
  readonly apiPods: SimApiPods;
  readonly api: SimApiServer | undefined;
  readonly life: SimKubelet;
  /** Records an observation in the trace and passes it to the checkers. */
  see(observation: UntimedObservation): void;
  /** Sets the receiver of all observations. */
  watch(watcher: (observation: UntimedObservation) => void): void;
}

type See = SimNodeWorld["see"];

/** Creates the parts; the kubelet does not run yet. */
export function createSimNodeWorld(options: SimNodeOptions): SimNodeWorld {
  const prng = createPrng(options.seed);
  const { scheduler = createHeapScheduler(), api, cgroupFault } = options;
  const clock = createDriftingClock(scheduler);
  const { machine, fileFault, mountFate, mountGoesOn, volumeFault, reclaimMs } = options;
  const faults = { fileFault, mountFate, mountGoesOn, volumeFault, reclaimMs };
  const host = createSimHost({ clock, prng: prng.fork("host"), machine, ...faults });
  const { files } = host;
  const defaults = simKubeletConfig(host.machine, options.config);
  const config = { ...defaults, allocatable: { ...defaults.allocatable, ...options.devices } };
  const subjects = createSimSubjects();
  let watcher: (observation: UntimedObservation) => void = () => {};
  const see = (observation: UntimedObservation): void => {
    if (observation.kind === "change") subjects.note(observation.change);
    watcher(observation);
  };
  host.kernelLog.messages$.subscribe({ next: ({ text }) => see({ kind: "kernel", text }) });
  files.put("/etc/hosts", "127.0.0.1\tlocalhost\n");
  files.put("/etc/resolv.conf", "nameserver 192.0.2.53\n");
  const cgroups = createSimCgroups({ clock, ...(cgroupFault === undefined ? {} : { fault: cgroupFault }) });
  const runtime: SimRuntime = createSimRuntime({
    ...options,
    clock,
    prng: prng.fork("runtime"),
    host,
    writeHostFile: seenWrites(files, config, see),
    intercept: seenCalls(options, subjects, (reference) => runtime.image(reference), see),
  });
  if (api !== undefined) podObjects(api, config.nodeName).subscribe({ next: see });
  runtime.changes$.subscribe({ next: (change) => see({ kind: "change", change }) });
  const { snapshots$, ...sources } = createPodSources(options, clock, config);
  const life = createSimKubelet({
    config,
    ports: simPorts(options, { clock, config, host, cgroups, runtime }, see),
    prng: prng.fork("kubelet"),
    snapshots$,
    maxLogLines: options.maxLogLines ?? 10_000,
    createKubelet: options.createKubelet,
    answers: ofTheLiving(options.answers?.(clock) ?? YES, runtime),
    probed: (answer) => see(probeObservation(answer, subjects, runtime)),
    runtimeClasses: options.runtimeClasses,
    objectStrategy: options.objectStrategy,
    hasProjections: options.hasProjections,
    credentialPlugins: options.credentialPlugins,
    draDrivers: options.draDrivers?.(clock),
    csiDrivers: options.csiDrivers?.(clock),
    logind: options.logind,
    cloudMetadata: options.cloudMetadata,
    ipTables: options.ipTables?.(clock),
    plugins: options.plugins,
    devicePlugins: options.devicePlugins,
    see,
  });
  const parts = { clock, scheduler, config, runtime, host, files, cgroups, ...sources, api, life, see };
  return {
    prng: prng.fork("driver"),
    ...parts,
    watch(next) {
      watcher = next;
    },
  };
}

/** Decides the outcome of each request to the runtime, and records it. */
const seenCalls =
  (
    { callFault, intercept }: Pick<SimNodeOptions, "callFault" | "intercept">,
    subjects: ReturnType<typeof createSimSubjects>,
    imageOf: SimRuntime["image"],
    see: See,
  ): NonNullable<SimRuntimeOptions["intercept"]> =>
  (rpc, request) => {
    const about = subjects.of(request);
    const first = callFault?.(rpc, about, request) ?? PROCEED;
    const action = first.kind === "proceed" ? (intercept?.(rpc, request) ?? PROCEED) : first;
    see({ kind: "call", rpc, ...about, fate: action.kind, ...requestDetails(rpc, request, imageOf) });
    return action;
  };

/** Creates the sources of pods beside an API server. */
function createPodSources(
  { manifests: initial = {}, api, pods, pageFate }: SimNodeOptions,
  clock: DriftingClock,
  config: KubeletConfig,
) {
  invariant(api === undefined || pods === undefined, "pods come from the API server, or directly: not both");
  const manifests = createSimManifests({ clock, path: SIM_MANIFESTS });
  for (const [name, manifest] of Object.entries(initial)) manifests.put(name, manifest);
  const page = createSimManifestPage({ clock, fate: pageFate });
  const apiPods = createSimApiPods(clock, pods);
  const snapshots$ = merge(
    staticPods(config, clock, manifests, api === undefined),
    ...(api === undefined ? [apiPods.snapshots$] : []),
    ...(config.sources.includes("http") ? [pagePods(config, clock, page)] : []),
  );
  return { manifests, page, apiPods, snapshots$ };
}

/** Returns the ports of the kubelet; every call through them is observed. */
function simPorts(
  { api, adaptRuntime }: Pick<SimNodeOptions, "api" | "adaptRuntime">,
  { clock, config, host, cgroups, runtime }: Pick<SimNodeWorld, "clock" | "config" | "host" | "cgroups" | "runtime">,
  see: See,
): SimKubeletOptions["ports"] {
  return {
    clock,
    api: api === undefined ? undefined : lanesTo(api, config.nodeName, clock, see),
    get machine() {
      return host.machine;
    },
    hostUsage: seenUsage(host.usage, see),
    kernelLog: host.kernelLog.messages$,
    files: seenFiles(host.files, config, see),
    volumeFiles: host.volumeFiles,
    logFiles: createSimLogFiles({ clock, files: host.files }),
    mounts: seenMounts(host.mounts, config, see),
    cgroups: seenCgroups(cgroups, see),
    runtime: seenStatus(seenStats(adaptRuntime?.(runtime.runtime, clock) ?? runtime.runtime, see), see),
    images: runtime.images,
  };
}

/** Defaults of `kubeAPIQPS` and `kubeAPIBurst`. */
const POD_RATE = { qps: 50, burst: 100 };

/** Calls of a simulated client do not wait for each other, so one client serves as every lane. */
function lanesTo(server: SimApiServer, nodeName: string, clock: Clock, see: See): ApiLanes {
  const lane = server.client({ kind: "node", nodeName });
  const turns = tokenBucket({ ...POD_RATE, clock });
  return noticeReturns({
    heartbeats: lane,
    pods: seenPodWrites(lane, see),
    podTurn: () => turns.acquire(),
    events: lane,
    objects: lane,
    tokenReviews: lane,
    accessReviews: lane,
  });
}

const PROCEED: SimAction = { kind: "proceed" };
