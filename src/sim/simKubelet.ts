/**
 * The production kubelet in a simulation: it starts, crashes between any two actions, and restarts on the same disk
 * and runtime. Owns the current kubelet; its telemetry and memory are lost in a crash, as in a process.
 */
import { concat, EMPTY, ignoreElements, merge, type Observable, of, Subscription, tap } from "rxjs";
import type { Pod, PodStatus } from "../core/api.ts";
import type { CountedEvent } from "../core/apiEvent.ts";
import { isKubeletError, type KubeletError } from "../core/errors.ts";
import { invariant } from "../core/invariant.ts";
import type { KubeletConfig } from "../core/kubeletConfig.ts";
import { devicePluginsDir } from "../core/paths.ts";
import { isTerminalPhase } from "../core/pod/phase.ts";
import { isRestored } from "../core/pod/restoredMark.ts";
import type { PodSource, SourceSnapshot } from "../core/pod/sourceSnapshot.ts";
import type { Rng } from "../ports/random.ts";
import type { RuntimeClasses } from "../core/runtime/runtimeHandler.ts";
import { createKubelet, type Kubelet } from "../kubelet.ts";
import { inSequence } from "../operators/inSequence.ts";
import { storeEvents } from "../sinks/apiEvents.ts";
import { recordEvents } from "../sinks/events.ts";
import type { CredentialPlugins } from "../ports/credentials.ts";
import type { DevicePlugins } from "../ports/devicePlugins.ts";
import type { CsiDriverPort } from "../ports/csiDrivers.ts";
import type { DraDrivers } from "../ports/draDrivers.ts";
import type { IpTables } from "../ports/ipTables.ts";
import type { CloudMetadata } from "../ports/cloudMetadata.ts";
import type { Logind } from "../ports/logind.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { Plugins } from "../ports/plugins.ts";
import { clusterSources } from "../sources/clusterSources.ts";
import { eventedPleg } from "../sources/eventedPleg.ts";
import { objectTtlMs } from "../core/node/objectTtl.ts";
import { createObjectCache } from "../sources/objectCache.ts";
import { createProjections } from "../sources/projectionSources.ts";
import type { Prng } from "./prng.ts";
import { createSimPodKeys } from "./host/simPodKeys.ts";
import { createSimSealing } from "./host/simSealing.ts";
import type { UntimedObservation } from "./simObservation.ts";
import { createSimProbers, type SimAnswers, type SimProbeAnswer } from "./simProbers.ts";
import { createSimTelemetry, type SimTelemetry } from "./simTelemetry.ts";

/** Creates a kubelet from a configuration and ports. */
export type CreateKubelet = typeof createKubelet;

export interface SimKubelet {
  /** Telemetry of the current kubelet, or of the last one. */
  readonly telemetry: SimTelemetry;
  /** Undefined before the first start and after a crash. */
  readonly kubelet: Kubelet | undefined;
  start(): void;
  /** Crashes the kubelet; its supervisor does not restart it. No component is notified. */
  crash(): void;
  /**
   * Reports the statuses that changed since the last call; cheap when none did. Throws the error that ended the
   * kubelet.
   */
  look(): void;
}

/** State shared by all lives of a kubelet. */
export interface SimKubeletOptions {
  readonly config: KubeletConfig;
  /** All ports except those created for each life. */
  readonly ports: Pick<
    KubeletPorts,
    | ("clock" | "api" | "runtime" | "images" | "files" | "logFiles" | "volumeFiles" | "mounts" | "cgroups")
    | ("machine" | "hostUsage" | "kernelLog")
  >;
  readonly prng: Prng;
  /** Configurations of the pod sources other than an API server; subscribed once per life. */
  readonly snapshots$: Observable<SourceSnapshot>;
  readonly maxLogLines: number;
  /** Default: none are configured. */
  readonly credentialPlugins?: CredentialPlugins | undefined;
  /** Default: there are none. */
  readonly draDrivers?: DraDrivers | undefined;
  readonly csiDrivers?: CsiDriverPort | undefined;
  readonly logind?: Logind | undefined;
  readonly cloudMetadata?: CloudMetadata | undefined;
  readonly ipTables?: IpTables | undefined;
  /** Default: no plugin can register. */
  readonly plugins?: Plugins | undefined;
  /** Default: there are none. */
  readonly devicePlugins?: DevicePlugins | undefined;
  /** `configMapAndSecretChangeDetectionStrategy`; default `Watch`. */
  readonly objectStrategy?: string | undefined;
  /** Enables certificates and trust bundles in volumes, which are off by default. */
  readonly hasProjections?: boolean | undefined;
  /** Pods of a node without `api`; default: none. */
  readonly runtimeClasses?: RuntimeClasses | undefined;
  /** Replaces the production kubelet, to verify that checkers detect a broken one. */
  readonly createKubelet?: CreateKubelet | undefined;
  /** Answers probes of network addresses; default: success. */
  readonly answers?: SimAnswers | undefined;
  /** Called with every answer to a probe. */
  probed(answer: SimProbeAnswer): void;
  see(observation: UntimedObservation): void;
}

interface Life {
  readonly kubelet: Kubelet;
  readonly subscription: Subscription;
  readonly apiPods: {
    /** Whether those of the API server, or those from disk, were observed; pods from disk come first or never. */
    areSeen: boolean;
  };
}

/** `RestartSec` of packaging/rxlet.service. */
const RESTART_MS = 2_000;

/** Creates a kubelet that is not running yet. */
export function createSimKubelet(options: SimKubeletOptions): SimKubelet {
  const { ports, see } = options;
  let lives = 0;
  let life: Life | undefined;
  let telemetry = createSimTelemetry(ports.clock, options.maxLogLines);
  let mayHaveChanged = false;
  let ended: { readonly thrown: unknown } | undefined;
  let restart: Subscription | undefined;
  const seen = new Map<string, Seen>();

  /** The kubelet cannot start for an external reason: it exits, and its supervisor retries. */
  const giveUp = (thrown: KubeletError): void => {
    life = undefined;
    mayHaveChanged = false;
    see({ kind: "kubelet", what: "failed to start", reason: thrown.message });
    restart = ports.clock.scheduler.schedule(start, RESTART_MS);
  };
  const start = (): void => {
    invariant(life === undefined, "the simulated kubelet is started while it runs");
    restart?.unsubscribe();
    lives += 1;
    telemetry = createSimTelemetry(ports.clock, options.maxLogLines);
    const create = options.createKubelet ?? createKubelet;
    const apiPods = { areSeen: false };
    const seeOwn = (observation: UntimedObservation): void => {
      if (observation.kind === "wanted" && observation.source === "api") apiPods.areSeen = true;
      see(observation);
    };
    const kubelet = create(options.config, portsOf({ ...options, see: seeOwn }, telemetry, lives));
    see({ kind: "kubelet", what: "started" });
    let hasStarted = false;
    const directories$ = makeDirectories(options).pipe(tap({ complete: () => (hasStarted = true) }));
    const subscription = new Subscription();
    life = { kubelet, subscription, apiPods };
    subscription.add(
      merge(concat(directories$, kubelet.run$), kubelet.podsChanged$).subscribe({
        next: () => {
          mayHaveChanged = true;
        },
        error: (thrown: unknown) => {
          if (hasStarted || !isKubeletError(thrown)) ended = { thrown };
          else giveUp(thrown);
        },
      }),
    );
  };
  return {
    get telemetry() {
      return telemetry;
    },
    get kubelet() {
      return life?.kubelet;
    },
    start,
    crash() {
      restart?.unsubscribe();
      if (life === undefined) return;
      life.subscription.unsubscribe();
      life = undefined;
      mayHaveChanged = false;
      see({ kind: "kubelet", what: "crashed" });
    },
    look() {
      if (ended !== undefined) throw ended.thrown;
      if (!mayHaveChanged || life === undefined) return;
      mayHaveChanged = false;
      const pods = life.kubelet.queries.pods();
      life.apiPods.areSeen ||= observeRestored(pods, see);
      observeStatuses(seen, pods, see);
    },
  };
}

const projectionsOf = ({ ports, config }: SimKubeletOptions, { log }: SimTelemetry, rng: Rng) =>
  ports.api &&
  createProjections({
    api: ports.api.objects,
    nodeName: config.nodeName,
    clock: ports.clock,
    rng,
    log,
    keys: createSimPodKeys(ports.clock),
    gates: { trustBundles: true, podCertificates: true },
  });

function portsOf(options: SimKubeletOptions, telemetry: SimTelemetry, life: number): KubeletPorts {
  const { ports, prng, see, config } = options;
  const rng = prng.fork(String(life));
  const { clock, api } = ports;
  const cluster =
    api &&
    clusterSources({
      api: api.objects,
      returns$: api.returns$,
      nodeName: config.nodeName,
      clock,
      rng: prng.fork(`api ${life}`),
    });
  return {
    ...ports,
    telemetry,
    cluster,
    objects:
      api &&
      createObjectCache(options.objectStrategy ?? "Watch", {
        api: api.objects,
        returns$: api.returns$,
        clock,
        rng,
        log: telemetry.log,
        syncPeriodMs: config.syncPeriodMs,
        nodeTtlMs: () => objectTtlMs(cluster?.lastNode()),
      }),
    cgroupUsage: undefined,
    sealing: createSimSealing(clock),
    projections: options.hasProjections === true ? projectionsOf(options, telemetry, rng) : undefined,
    credentialPlugins: options.credentialPlugins,
    draDrivers: options.draDrivers,
    csiDrivers: options.csiDrivers,
    logind: options.logind,
    cloudMetadata: options.cloudMetadata,
    ipTables: options.ipTables,
    plugins: options.plugins,
    devicePlugins: options.devicePlugins,
    probers: createSimProbers({ ...ports, answers: options.answers, onAnswer: options.probed }),
    rng,
    snapshots$: merge(options.snapshots$, cluster?.pods$ ?? EMPTY).pipe(tap(wantedSeen(see))),
    runtimeSignals$: eventedPleg({ runtime: ports.runtime, containerdHints$: undefined, clock: ports.clock }),
    runtimeClasses$: cluster?.runtimeClasses$ ?? of(options.runtimeClasses ?? new Map()),
    recordEvents: (events$) => {
      const seen$ = events$.pipe(tap((event) => see({ kind: "event", event })));
      if (api === undefined) return seen$.pipe(ignoreElements());
      const storing = { api: api.events, nodeName: config.nodeName, clock, rng, telemetry };
      const store = (counted$: Observable<CountedEvent>) => storeEvents(counted$, storing);
      return recordEvents(seen$, { telemetry, clock, qps: 0, burst: 0, store });
    },
  };
}

/** Parts that a node starts beside the kubelet itself. */
function makeDirectories({ config: { directories }, ports: { files }, devicePlugins }: SimKubeletOptions) {
  const { rootDir, podLogsDir, containerLogsDir } = directories;
  const places = [rootDir, `${rootDir}/pods`, podLogsDir, containerLogsDir];
  if (devicePlugins !== undefined) places.push(devicePluginsDir(directories));
  return inSequence(places, (path) => files.makeDirectory(path)).pipe(ignoreElements());
}

/** Observes the desired pods of each source once it is ready. Bound: the last snapshot of each source. */
function wantedSeen(see: (observation: UntimedObservation) => void): (snapshot: SourceSnapshot) => void {
  const last = new Map<PodSource, ReadonlySet<Pod>>();
  return ({ source, pods, ready }) => {
    if (ready === false) return;
    const before = last.get(source);
    last.set(source, new Set(pods));
    const news = pods.filter((pod) => before?.has(pod) !== true);
    see({ kind: "wanted", source, podUids: new Set(pods.map(({ metadata }) => metadata.uid)), pods, news });
  };
}

/** Observes pods from disk as those that the API source wants; returns whether there are any. */
function observeRestored(pods: readonly Pod[], see: (observation: UntimedObservation) => void): boolean {
  const restored = pods.filter(isRestored);
  if (restored.length === 0) return false;
  const podUids = new Set(restored.map(({ metadata }) => metadata.uid));
  see({ kind: "wanted", source: "api", podUids, pods: restored, news: restored });
  return true;
}

interface Seen {
  readonly subject: string;
  readonly status: PodStatus | undefined;
}

function observeStatuses(
  seen: Map<string, Seen>,
  pods: readonly Pod[],
  see: (observation: UntimedObservation) => void,
): void {
  let known = 0;
  for (const { metadata, status } of pods) {
    const { uid: podUid, namespace, name } = metadata;
    const before = seen.get(podUid);
    if (before !== undefined || status !== undefined) known += 1;
    if (before?.status === status) continue;
    const subject = `${namespace}/${name}`;
    seen.set(podUid, { subject, status });
    // A static pod starts with the status Pending and no other field; a rejected one is Failed.
    if (status?.containerStatuses === undefined && !isTerminalPhase(status?.phase)) continue;
    see({ kind: "status", podUid, subject, before: before?.status, after: status });
  }
  if (known === seen.size) return;
  const present = new Set<string>(pods.map(({ metadata }) => metadata.uid));
  for (const [podUid, { subject, status }] of seen) {
    if (present.has(podUid)) continue;
    seen.delete(podUid);
    see({ kind: "status", podUid, subject, before: status, after: undefined });
  }
}
