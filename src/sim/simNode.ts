/**
 * A whole node in virtual time: the production kubelet on a simulated runtime, disk, cgroups and pod sources. The
 * options determine the run: same seed, same trace, on any machine. Trace and checkers observe every event, in order.
 */
import { merge, type Subscription } from "rxjs";
import type { Pod } from "../core/api.ts";
import { invariant } from "../core/invariant.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import type { ResourceAmounts } from "../core/resources/resourceList.ts";
import type { RuntimeClasses } from "../core/runtime/runtimeHandler.ts";
import type { CriRpc } from "../core/criOperations.ts";
import type { Kubelet } from "../kubelet.ts";
import { noticeReturns } from "../operators/noticeReturns.ts";
import { tokenBucket } from "../operators/tokenBucket.ts";
import type { ApiLanes } from "../ports/apiServer.ts";
import type { Clock } from "../ports/clock.ts";
import type { RuntimeService } from "../ports/cri.ts";
import type { CredentialPlugins } from "../ports/credentials.ts";
import type { Machine } from "../ports/host.ts";
import type { SimApiServer } from "./apiServer/simApiServer.ts";
import { usualCheckers } from "./checkers/usualCheckers.ts";
import { createDriftingClock, type DriftingClock } from "./host/driftingClock.ts";
import { createSimHost, type SimHost } from "./host/simHost.ts";
import { createHeapScheduler, type HeapScheduler } from "./time/heapScheduler.ts";
import { createPrng, type Prng } from "./prng.ts";
import { createSimApiPods, type SimApiPods } from "./workload/simApiPods.ts";
import { createSimCgroups, type SimCgroups, type SimCgroupsOptions } from "./host/simCgroups.ts";
import { looksAt, type SimChecker, type SimViolation } from "./simChecker.ts";
import { clusterSights, seenStatus } from "./simClusterSights.ts";
import type { SimClock } from "./time/simClock.ts";
import type { SimFiles, SimFilesOptions } from "./host/simFiles.ts";
import type { SimMountsOptions } from "./host/simMounts.ts";
import type { SimVolumeFilesOptions } from "./host/simVolumeFiles.ts";
import type { SimAction } from "./runtime/simCall.ts";
import { type CreateKubelet, createSimKubelet, type SimKubelet } from "./simKubelet.ts";
import { createSimHands, nameOf, runningOf, type SimHands } from "./simHands.ts";
import { simKubeletConfig } from "./simKubeletConfig.ts";
import {
  createSimManifestPage,
  type SimManifestPage,
  type SimManifestPageOptions,
} from "./podSources/simManifestPage.ts";
import { createSimManifests, type SimManifest, type SimManifests } from "./podSources/simManifests.ts";
import type { SimObservation, SimSight } from "./simObservation.ts";
import { ofTheLiving, type SimAnswers, YES } from "./simProbers.ts";
import { pagePods, SIM_MANIFESTS, staticPods } from "./podSources/simPodSources.ts";
import { createSimRuntime, type SimRuntime, type SimRuntimeOptions } from "./runtime/simRuntime.ts";
import {
  podObjects,
  probeSight,
  requestDetails,
  seenCgroups,
  seenFiles,
  seenMounts,
  seenPodWrites,
} from "./simSights.ts";
import { createSimSubjects, type SimSubject } from "./simSubjects.ts";
import type { SimTelemetry } from "./simTelemetry.ts";
import { createSimLogFiles } from "./host/simLogFiles.ts";
import { createSimTrace, type SimTrace } from "./simTrace.ts";

/** Decides the outcome of a request to the runtime. */
export type SimCallFault = (rpc: CriRpc, about: SimSubject, request: unknown) => SimAction;

type RuntimeParts = Pick<
  SimRuntimeOptions,
  "programs" | "images" | "registry" | "latency" | "intercept" | "goesOn" | "modern" | "handlers" | "eventLatencyMs"
>;

/** Options of a node; all but the seed have a default. */
export interface SimNodeOptions extends RuntimeParts {
  readonly seed: string | number;
  /** Static pods: file name in the manifest directory to content. */
  readonly manifests?: Readonly<Record<string, SimManifest>>;
  /** Pods passed to the kubelet directly: complete, with defaults applied. Not with `api`. */
  readonly pods?: readonly Pod[];
  /** Source of API pods; runs on `scheduler`. Many nodes may share one. */
  readonly api?: SimApiServer;
  /** Virtual time shared with other nodes; default: the node's own. */
  readonly scheduler?: HeapScheduler;
  readonly config?: Partial<KubeletConfig>;
  readonly machine?: Partial<Machine>;
  /** Extended resources of the node, as device plugins report them; default: none. */
  readonly devices?: ResourceAmounts;
  /** `configMapAndSecretChangeDetectionStrategy`; default `Watch`. */
  readonly objectStrategy?: string;
  /** Feature gates ClusterTrustBundleProjection and PodCertificateRequest; default: off. */
  readonly hasProjections?: boolean;
  /** Runs the credential plugins of `config`; default: there are none. */
  readonly credentialPlugins?: CredentialPlugins;
  /** Default: none. */
  readonly runtimeClasses?: RuntimeClasses;
  readonly fileFault?: SimFilesOptions["fault"];
  readonly mountFate?: SimMountsOptions["fate"];
  readonly mountGoesOn?: SimMountsOptions["goesOn"];
  readonly volumeFault?: SimVolumeFilesOptions["fault"];
  /** Decides the outcome of requests for the manifest page; called only if `sources` has `http`. */
  readonly pageFate?: SimManifestPageOptions["fate"];
  readonly cgroupFault?: SimCgroupsOptions["fault"];
  /** Like `intercept`, but with the subject of the request. Called first; `proceed` defers to `intercept`. */
  readonly callFault?: SimCallFault;
  /** Wraps the runtime that the kubelet sees. */
  readonly adaptRuntime?: (runtime: RuntimeService, clock: SimClock) => RuntimeService;
  /** Replaces the production kubelet, to verify that checkers detect a broken one. */
  readonly createKubelet?: CreateKubelet;
  /** Answers probes of network addresses; default: success. */
  readonly answers?: (clock: SimClock) => SimAnswers;
  /** Stateful checkers; default: the usual ones, created for this node. */
  readonly checkers?: readonly SimChecker[];
  /** Observes every event, after trace and checkers. */
  readonly watch?: (observation: SimObservation) => void;
  readonly maxTraceLines?: number;
  readonly maxLogLines?: number;
}

/** A node, and the controls of its time and accidents. */
export interface SimNode extends SimHands {
  readonly seed: string | number;
  /** Randomness for the driver of the node; the node itself uses other streams. */
  readonly prng: Prng;
  readonly clock: DriftingClock;
  readonly scheduler: HeapScheduler;
  readonly config: KubeletConfig;
  readonly runtime: SimRuntime;
  /** The machine: disks, processes, the kernel's log. */
  readonly host: SimHost;
  /** The clock of the machine. */
  readonly files: SimFiles;
  readonly cgroups: SimCgroups;
  readonly manifests: SimManifests;
  /** The pods passed directly, on a node without `api`. */
  readonly apiPods: SimApiPods;
  readonly api: SimApiServer | undefined;
  /** Telemetry of the running kubelet, or of the last one. */
  readonly telemetry: SimTelemetry;
  /** Undefined while it is crashed. */
  readonly kubelet: Kubelet | undefined;
  readonly trace: SimTrace;
  /** Violations found so far. */
  readonly violations: readonly SimViolation[];

  /**
   * Runs the next action due by `notAfterMs` (virtual time); returns false if there is none. Throws the error that
   * ended the kubelet.
   */
  step(notAfterMs?: number): boolean;
  runFor(ms: number): void;
  /**
   * Runs until the condition holds; returns false if it does not within `ms`. Evaluates the condition after each
   * action.
   */
  runUntil(condition: () => boolean, ms: number): boolean;
  /** Schedules an action at a future instant, in milliseconds of virtual time. */
  at(ms: number, action: () => void): Subscription;

  /** Records an observation in the trace and passes it to the checkers. */
  see(sight: SimSight): void;

  /** Returns the pods with the statuses the kubelet reports; empty while it is crashed. */
  pods(): readonly Pod[];
  /** Queries the kubelet as a local operator does; false if it runs no such pod. */
  retry(namespace: string, name: string): boolean;
  /** Returns the running containers of all pods as `namespace/pod/name#attempt`, sorted. */
  running(): readonly string[];
  /** Writes an action of the driver to the trace. */
  note(text: string): void;
}

/** More actions than this within one millisecond indicate an infinite loop. */
const MAX_ACTIONS_AT_ONCE = 100_000;

/** Creates a node and starts its kubelet; no action runs before time is advanced. */
export function createSimNode(options: SimNodeOptions): SimNode {
  const world = createWorld(options);
  const { clock, scheduler, runtime } = world;
  const trace = createSimTrace(options.maxTraceLines);
  const checkers = options.checkers ?? usualCheckers(world.config);
  const violations: SimViolation[] = [];
  const byKind = new Map<SimObservation["kind"], readonly SimChecker[]>();
  const checkersOf = (kind: SimObservation["kind"]): readonly SimChecker[] => {
    const known = byKind.get(kind) ?? checkers.filter((checker) => looksAt(checker, kind));
    byKind.set(kind, known);
    return known;
  };
  let seen = 0;
  world.watch((sight) => {
    const observation: SimObservation = { atMs: clock.monotonicMs(), ...sight };
    seen += 1;
    trace.write(observation);
    for (const checker of checkersOf(observation.kind)) {
      const found = checker.check(observation);
      if (found !== undefined) violations.push({ atMs: observation.atMs, checker: checker.name, message: found });
    }
    options.watch?.(observation);
  });
  if (options.api !== undefined) {
    clusterSights(options.api, world.config.nodeName).subscribe({ next: (sight) => world.see(sight) });
  }
  world.life.start();

  let instantMs = 0;
  let actions = 0;
  const step = (notAfterMs?: number): boolean => {
    const ran = scheduler.runNext(notAfterMs);
    actions = scheduler.now() === instantMs ? actions + 1 : 0;
    instantMs = scheduler.now();
    invariant(
      actions < MAX_ACTIONS_AT_ONCE,
      `time stands still at ${instantMs} ms of the node of seed ${options.seed}`,
    );
    world.life.look();
    return ran;
  };
  const runFor = (ms: number): void => {
    const endMs = clock.monotonicMs() + ms;
    while (step(endMs));
    scheduler.advanceTo(endMs);
  };
  return {
    ...world,
    seed: options.seed,
    trace,
    violations,
    get telemetry() {
      return world.life.telemetry;
    },
    get kubelet() {
      return world.life.kubelet;
    },
    step,
    runFor,
    runUntil(condition, ms) {
      const endMs = clock.monotonicMs() + ms;
      let asked = -1;
      for (;;) {
        if (seen !== asked && condition()) return true;
        asked = seen;
        if (!step(endMs)) break;
      }
      scheduler.advanceTo(endMs);
      return condition();
    },
    at(ms, action) {
      invariant(ms >= clock.monotonicMs(), `${ms} ms is in the past`);
      return scheduler.schedule(() => action(), ms - clock.monotonicMs());
    },
    ...createSimHands(world),
    pods: () => world.life.kubelet?.queries.pods() ?? [],
    retry: (namespace, name) => {
      world.see({ kind: "action", text: `retry ${namespace}/${name}` });
      return world.life.kubelet?.commands.retry(namespace, name) ?? false;
    },
    running: () => runningOf(runtime).map(nameOf(runtime)).sort(),
    note: (text) => world.see({ kind: "action", text }),
  };
}

interface World
  extends Pick<
    SimNode,
    | "prng"
    | "clock"
    | "scheduler"
    | "config"
    | "runtime"
    | "host"
    | "files"
    | "cgroups"
    | "manifests"
    | "apiPods"
    | "api"
  > {
  readonly page: SimManifestPage;
  readonly life: SimKubelet;
  see(sight: SimSight): void;
  watch(watcher: (sight: SimSight) => void): void;
}

function createWorld(options: SimNodeOptions): World {
  const prng = createPrng(options.seed);
  const { scheduler = createHeapScheduler(), api } = options;
  const clock = createDriftingClock(scheduler);
  const { fileFault, cgroupFault, intercept, manifests: initial = {}, pods } = options;
  const { machine, mountFate, mountGoesOn, volumeFault } = options;
  const host = createSimHost({
    clock,
    prng: prng.fork("host"),
    machine,
    fileFault,
    mountFate,
    mountGoesOn,
    volumeFault,
  });
  const defaults = simKubeletConfig(host.machine, options.config);
  const config = { ...defaults, allocatable: { ...defaults.allocatable, ...options.devices } };
  const subjects = createSimSubjects();
  let watcher: (sight: SimSight) => void = () => {};
  const see = (sight: SimSight): void => {
    if (sight.kind === "change") subjects.note(sight.change);
    watcher(sight);
  };
  host.kernelLog.messages$.subscribe({ next: ({ text }) => see({ kind: "kernel", text }) });
  const { files } = host;
  files.put("/etc/hosts", "127.0.0.1\tlocalhost\n");
  files.put("/etc/resolv.conf", "nameserver 192.0.2.53\n");
  const cgroups = createSimCgroups({ clock, ...(cgroupFault === undefined ? {} : { fault: cgroupFault }) });
  const runtime = createSimRuntime({
    ...options,
    clock,
    prng: prng.fork("runtime"),
    host,
    writeHostFile: (path, content) => files.put(path, content),
    intercept(rpc, request) {
      const about = subjects.of(request);
      const first = options.callFault?.(rpc, about, request) ?? PROCEED;
      const action = first.kind === "proceed" ? (intercept?.(rpc, request) ?? PROCEED) : first;
      see({ kind: "call", rpc, ...about, fate: action.kind, ...requestDetails(rpc, request) });
      return action;
    },
  });
  if (api !== undefined) podObjects(api, config.nodeName).subscribe({ next: see });
  runtime.changes$.subscribe({ next: (change) => see({ kind: "change", change }) });
  const manifests = createSimManifests({ clock, path: SIM_MANIFESTS });
  for (const [name, manifest] of Object.entries(initial)) manifests.put(name, manifest);
  invariant(api === undefined || pods === undefined, "pods come from the API server, or directly: not both");
  const page = createSimManifestPage({ clock, fate: options.pageFate });
  const apiPods = createSimApiPods(clock, pods);
  const ports = {
    clock,
    api: api === undefined ? undefined : lanesTo(api, config.nodeName, clock, see),
    get machine() {
      return host.machine;
    },
    hostUsage: host.usage,
    files: seenFiles(files, config, see),
    volumeFiles: host.volumeFiles,
    logFiles: createSimLogFiles({ clock, files }),
    mounts: seenMounts(host.mounts, config, see),
    cgroups: seenCgroups(cgroups, see),
    runtime: seenStatus(options.adaptRuntime?.(runtime.runtime, clock) ?? runtime.runtime, see),
    images: runtime.images,
  };
  const snapshots$ = merge(
    staticPods(config, clock, manifests, options.api === undefined),
    ...(api === undefined ? [apiPods.snapshots$] : []),
    ...(config.sources.includes("http") ? [pagePods(config, clock, page)] : []),
  );
  const maxLogLines = options.maxLogLines ?? 10_000;
  const life = createSimKubelet({
    config,
    ports,
    prng: prng.fork("kubelet"),
    snapshots$,
    maxLogLines,
    createKubelet: options.createKubelet,
    answers: ofTheLiving(options.answers?.(clock) ?? YES, runtime),
    probed: (answer) => see(probeSight(answer, subjects, runtime)),
    runtimeClasses: options.runtimeClasses,
    objectStrategy: options.objectStrategy,
    hasProjections: options.hasProjections,
    credentialPlugins: options.credentialPlugins,
    see,
  });
  return {
    prng: prng.fork("driver"),
    clock,
    scheduler,
    config,
    runtime,
    host,
    files,
    cgroups,
    manifests,
    page,
    apiPods,
    api,
    life,
    see,
    watch(next) {
      watcher = next;
    },
  };
}

/** Defaults of `kubeAPIQPS` and `kubeAPIBurst`. */
const POD_RATE = { qps: 50, burst: 100 };

/** Calls of a simulated client do not wait for each other, so one client serves as every lane. */
function lanesTo(server: SimApiServer, nodeName: string, clock: Clock, see: (sight: SimSight) => void): ApiLanes {
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
