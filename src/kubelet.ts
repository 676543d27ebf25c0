/**
 * The kubelet: pipelines wired to each other, every feedback loop closed here and nowhere else. See docs/architecture.md.
 *
 *     sources --> podConfig --> [registry] --> podLifecycle --+--> podStatus
 *                                  ^  ^             |         +--> [events] --> recorder
 *                       audited ---+  +-- finished, |
 *                          |          stopped,      | inspect
 *                          |          removed       v
 *     runtime signals --> runtimeStatus <---- [inspections]
 *
 *     [name] is a queue: a loop never re-enters the stage that feeds it.
 */
import {
  combineLatest,
  concat,
  connect,
  EMPTY,
  filter,
  ignoreElements,
  map,
  merge,
  of,
  type Observable,
  type OperatorFunction,
  race,
  Subject,
  switchMap,
  take,
  takeUntil,
  tap,
} from "rxjs";
import { serviceForEnv } from "./core/container/serviceEnv.ts";
import type { KubeletEvent } from "./core/events.ts";
import { kubeletError } from "./core/errors.ts";
import { unreachable } from "./core/invariant.ts";
import type { PodUid } from "./core/ids.ts";
import type { Node } from "./core/api.ts";
import type { KubeletConfig } from "./core/kubeletConfig.ts";
import type { RegistryInput } from "./core/pod/podRegistry.ts";
import { createQueue, type Queue } from "./operators/createQueue.ts";
import { longTimer } from "./operators/longTimer.ts";
import { clusterNode } from "./pipelines/cluster/clusterNode.ts";
import { housekeeping } from "./pipelines/housekeeping.ts";
import { createCredentialPlugins } from "./pipelines/images/credentialPlugins.ts";
import { createImagePulls } from "./pipelines/images/imagePull.ts";
import { nodeCgroups } from "./pipelines/node/nodeCgroups.ts";
import { hostAddresses } from "./pipelines/node/hostAddresses.ts";
import { logRotation } from "./pipelines/logRotation.ts";
import { nodeAdmission, nodeContext, readdressed, volumeNode } from "./pipelines/node/nodeContext.ts";
import { nodeGauges } from "./pipelines/stats/nodeGauges.ts";
import { nodePressure } from "./pipelines/node/nodePressure.ts";
import { podCidr } from "./pipelines/node/podCidr.ts";
import { podCommands } from "./pipelines/podCommands.ts";
import { createNodeStats } from "./pipelines/stats/nodeStats.ts";
import { podConfig } from "./pipelines/podConfig.ts";
import { podLifecycle } from "./pipelines/podLifecycle.ts";
import { createPodObjects } from "./pipelines/podObjects.ts";
import type { PodOutput } from "./pipelines/podOutputs.ts";
import { podStatus } from "./pipelines/podStatus.ts";
import { podTimeline } from "./pipelines/podTimeline.ts";
import { createPullRecords } from "./pipelines/images/pullRecords.ts";
import { createRegistryCredentials } from "./pipelines/images/registryCredentials.ts";
import { objectQueries } from "./pipelines/objectQueries.ts";
import { createPodStarts } from "./pipelines/podStarts.ts";
import { createQueries } from "./pipelines/queries.ts";
import { restoreAllocations } from "./pipelines/podWorker/restoreAllocations.ts";
import { runtimeState } from "./pipelines/runtime/runtimeState.ts";
import { type RuntimeOutput, runtimeStatus } from "./pipelines/runtime/runtimeStatus.ts";
import { storageEviction } from "./pipelines/stats/storageEviction.ts";
import { timelineQueries } from "./pipelines/timelineQueries.ts";
import type { Clock } from "./ports/clock.ts";
import type { KubeletCommands } from "./ports/kubeletCommands.ts";
import type { KubeletPorts } from "./ports/kubeletPorts.ts";
import type { KubeletQueries } from "./ports/kubeletQueries.ts";
import type { NodeStats } from "./ports/nodeStats.ts";
import { createPodCertificates } from "./pipelines/projections/podCertificates.ts";
import { createTrustBundles } from "./pipelines/projections/trustBundles.ts";
import { createTokens } from "./pipelines/projections/tokens.ts";
import { createUserNamespaces } from "./pipelines/node/userNamespaces.ts";
import { volumeQueries } from "./pipelines/volumes/volumeQueries.ts";
import { createVolumes } from "./pipelines/volumes/volumes.ts";
import type { ReadonlyCell } from "./state/cell.ts";
import { createNodeState, type NodeState } from "./state/nodeState.ts";

/** A kubelet that runs while `run$` is subscribed. */
export interface Kubelet {
  /** Owns everything: pipelines, workers, calls. Never emits; errors only on a broken invariant. */
  readonly run$: Observable<never>;
  /** This node as the API server has it. */
  readonly node: ReadonlyCell<Node | undefined>;
  /** Emits after the pods of `queries` or their statuses changed. */
  readonly podsChanged$: Observable<void>;
  /** Emits at once, and after `manifestProblems` of `queries` changed. */
  readonly problemsChanged$: Observable<unknown>;
  readonly queries: KubeletQueries;
  readonly stats: NodeStats;
  readonly commands: KubeletCommands;
  /** Stops and removes all pods, then completes; errors with DeadlineExceeded. Needs `run$` subscribed. */
  drain(deadlineMs: number): Observable<void>;
}

/** Waiting values of a loop; beyond it the oldest is dropped and counted, and the audit behind it makes up for it. */
const QUEUE_BOUND = 65_536;

interface Loops {
  readonly registry: Queue<RegistryInput>;
  readonly inspections: Queue<PodUid>;
  /** The event stream opened or broke: is the runtime up? */
  readonly runtimeLooks: Queue<undefined>;
  readonly events: Queue<KubeletEvent>;
}

/** Wires a kubelet. Nothing happens before `run$` is subscribed, once. */
export function createKubelet(config: KubeletConfig, ports: KubeletPorts): Kubelet {
  const { clock } = ports;
  const state = createNodeState();
  const draining$ = new Subject<void>();
  const loops: Loops = {
    registry: loop("registry", ports),
    inspections: loop("inspections", ports),
    runtimeLooks: loop("runtimeLooks", ports),
    events: loop("events", ports),
  };
  const allSourcesSeen = (): boolean => config.sources.every((source) => state.sourcesSeen.value.has(source));

  const config$ = podConfig({ snapshots$: ports.snapshots$ }, ports, config, state).pipe(
    tap((output) => {
      if (output.kind === "update") loops.registry.push(output);
      else if (output.kind === "event") loops.events.push(output.event);
      else if (allSourcesSeen()) loops.registry.push({ kind: "audit" });
    }),
    takeUntil(draining$),
  );

  const runtime$ = runtimeStatus(
    { signals$: ports.runtimeSignals$, requests$: loops.inspections.values$ },
    ports,
    config,
    { ...state, hasRecord: (uid) => state.registry.value.records.has(uid) },
  ).pipe(tap((output) => routeRuntimeOutput(output, loops, allSourcesSeen)));

  const listed$ = runtimeKnown(state);
  // What was granted before is known before anybody is admitted.
  const registry$ = concat(restoredAllocations(ports, config), loops.registry.values$);
  const shared = sharedByPods(config, ports, state);
  const { images, userNamespaces } = shared;
  const stats = createNodeStats(state, ports, config);
  const evicted$ = config.limitsLocalStorage ? storageEviction(state, stats, ports) : EMPTY;
  const lifecycle$ = listed$.pipe(
    switchMap(() =>
      concat(
        shared.load(),
        merge(
          podLifecycle({ registry$ }, { ...shared, config, ports, state, registry: state.registry, allSourcesSeen }),
          evicted$,
          shared.prune(),
        ),
      ),
    ),
    tap((output) => {
      if (output.kind === "removed") shared.tokens?.forget(output.uid);
      routePodOutput(output, loops);
    }),
  );

  const recorded$ = recordOutputs(lifecycle$, state, clock);
  const swept$ = housekeeping({ ready$: registrySettled(state) }, ports, config, {
    ...state,
    userNamespaces,
    volumesOf: shared.volumes,
  });
  const up$ = runtimeState({ lookAgain$: loops.runtimeLooks.values$ }, ports, config, state.runtimeState);

  const queries = createQueries(state, clock, config);
  return {
    run$: merge(
      ports.recordEvents(loops.events.values$),
      merge(keepClasses(ports, state), keepServices(ports, state)),
      merge(up$, runtime$, recorded$, config$).pipe(ignoreElements()),
      swept$,
      logRotation(state, ports, config.logRotation),
      merge(nodeGauges(state, ports), stats.counting$),
      nodePressure(state.pressures, ports, config),
      hostAddresses(state.addresses, ports, config),
      podCidr(state.node, ports, config),
      merge(nodeCgroups(state, ports, config), clusterNode(images, ports, config, state, state)).pipe(
        pushedTo(loops.events),
      ),
    ),
    node: state.node,
    podsChanged$: podsChanged(state),
    problemsChanged$: state.problems.changes$,
    stats,
    queries: {
      ...queries,
      ...objectQueries(queries, state, ports, config),
      ...timelineQueries(state, clock, images),
      ...volumeQueries(state, clock, config),
    },
    commands: podCommands(state.registry, clock, (update) => loops.registry.push({ kind: "update", update })),
    drain: (deadlineMs) => {
      draining$.next();
      loops.registry.push({ kind: "drain" });
      return whenEmpty(state, clock, deadlineMs);
    },
  };
}

const restoredAllocations = (ports: KubeletPorts, config: KubeletConfig): Observable<RegistryInput> =>
  restoreAllocations(ports, config).pipe(map((allocations) => ({ kind: "restored", allocations })));

/** Emits once the last pod has gone; errors with DeadlineExceeded. */
function whenEmpty({ registry }: NodeState, clock: Clock, deadlineMs: number): Observable<void> {
  const empty$ = registry.changes$.pipe(
    filter(({ records }) => records.size === 0),
    take(1),
    map(() => undefined),
  );
  const late$ = longTimer(clock, deadlineMs).pipe(
    map(() => {
      throw kubeletError("DeadlineExceeded", `pods are still there after ${deadlineMs} ms`);
    }),
  );
  return race(empty$, late$);
}

/** What the workers of all pods have in common. */
function sharedByPods(config: KubeletConfig, ports: KubeletPorts, state: NodeState) {
  const { api, telemetry } = ports;
  const pullRecords = createPullRecords(ports, config);
  const objects = createPodObjects(state.configObjects, ports.objects);
  const tokens = api && createTokens({ ...ports, api: api.objects, log: telemetry.log });
  const askPlugins = createCredentialPlugins({ providers: config.credentialProviders, ports, tokens });
  const userNamespaces = createUserNamespaces(ports, config, state, state.idRanges);
  const volumes = createVolumes({
    ports,
    config,
    node: volumeNode(config, ports.machine, state.node),
    sources: { objects, tokens, ...createProjected(ports, state), allocatable: config.allocatable },
    volumes: state.volumes,
    api: api?.objects,
    csiDrivers$: ports.cluster?.csiDrivers$,
  });
  const node = nodeContext(config, ports.machine, state, ports.cluster === undefined);
  return {
    /** What earlier kubelets left on disk is known before any worker begins. */
    load: () => concat(userNamespaces.load(), pullRecords.load(), volumes.load()),
    /** Runs beside the workers: what is known of things that are gone is forgotten. */
    prune: () => pullRecords.prune(),
    node,
    readdressed$: readdressed(node, state),
    admission: nodeAdmission(config, ports.machine, state),
    images: createImagePulls(ports, config.imagePull, pullRecords),
    starts: createPodStarts(ports),
    userNamespaces,
    objects,
    tokens,
    volumes,
    credentials: createRegistryCredentials({ ports, objects, places: config.dockerFiles, askPlugins }),
  };
}

/** What projected volumes are made of, as far as the node may use it. */
function createProjected({ projections, api, clock, rng, telemetry }: KubeletPorts, { node }: NodeState) {
  const { trustBundles$, podCertificates } = projections ?? {};
  const { log, metrics } = telemetry;
  return {
    trustBundles: trustBundles$ && createTrustBundles(trustBundles$, clock),
    podCertificates:
      podCertificates &&
      api &&
      createPodCertificates({ ...podCertificates, api: api.objects, node, clock, rng, log, metrics }),
  };
}

const podsChanged = ({ registry, podStatuses }: NodeState): Observable<void> =>
  merge(registry.changes$, podStatuses.anyChange$).pipe(map(() => undefined));

/** Into a queue, and nowhere else. */
const pushedTo =
  <T>(queue: Queue<T>): OperatorFunction<T, never> =>
  (values$) =>
    values$.pipe(
      tap((value) => queue.push(value)),
      ignoreElements(),
    );

/** Classes of the API server go before those of manifests. */
const keepClasses = (
  { runtimeClasses$ }: KubeletPorts,
  { runtimeClasses, configObjects }: NodeState,
): Observable<never> =>
  combineLatest([runtimeClasses$, configObjects.changes$]).pipe(
    tap(([ofServer, { runtimeClasses: ofManifests }]) => runtimeClasses.set(new Map([...ofManifests, ...ofServer]))),
    ignoreElements(),
  );

/** A node of no cluster knows that there are none. */
const keepServices = ({ cluster }: KubeletPorts, { services }: NodeState): Observable<never> =>
  (cluster?.services$ ?? of([])).pipe(
    tap((known) => services.set(known.map(serviceForEnv))),
    ignoreElements(),
  );

/** Records the outputs of pod workers in the cells of timelines and statuses. Both follow one run of the workers. */
const recordOutputs = (
  lifecycle$: Observable<PodOutput>,
  { registry, timelines, podStatuses }: NodeState,
  clock: Clock,
): Observable<unknown> =>
  lifecycle$.pipe(
    connect((outputs$) =>
      merge(
        podTimeline({ registry$: registry.changes$, outputs$ }, clock, timelines),
        podStatus({ outputs$ }, podStatuses),
      ),
    ),
  );

/**
 * Pods start once the runtime was listed, so that what runs is adopted and never started a second time, and has said
 * what it can do, which admission asks.
 */
const runtimeKnown = ({ listing, runtimeState: runtime }: NodeState): Observable<unknown> =>
  combineLatest([listing.changes$, runtime.changes$]).pipe(
    filter(([listed, { handlers }]) => listed !== undefined && handlers !== undefined),
    take(1),
  );

/** The registry has heard what all sources want. */
const registrySettled = ({ registry }: NodeState): Observable<unknown> =>
  registry.changes$.pipe(
    filter(({ isSettled }) => isSettled),
    take(1),
  );

/** Routes each output of the PLEG to its queue. */
function routeRuntimeOutput(output: RuntimeOutput, loops: Loops, allSourcesSeen: () => boolean): void {
  if (output.kind === "streamChanged") loops.runtimeLooks.push(undefined);
  if (output.kind === "inspectAgain") loops.inspections.push(output.uid);
  if (output.kind === "audited" && allSourcesSeen()) loops.registry.push({ kind: "audit" });
}

/** Routes each output of a pod worker to its queue. */
function routePodOutput(output: PodOutput, loops: Loops): void {
  switch (output.kind) {
    case "finished":
    case "deadlineExceeded":
    case "evicted":
    case "resized":
    case "kept":
    case "stopped":
    case "overdue":
    case "reclaimed":
    case "removed":
      loops.registry.push(output);
      break;
    case "inspect":
      loops.inspections.push(output.uid);
      break;
    case "event":
      loops.events.push(output.event);
      break;
    case "status":
    case "fact":
      break;
    default:
      unreachable(output);
  }
}

function loop<T>(name: string, { clock, telemetry }: KubeletPorts): Queue<T> {
  return createQueue<T>(name, {
    bound: QUEUE_BOUND,
    clock,
    onDrop: () => telemetry.metrics.count("rxlet_dropped_total", { queue: name }),
  });
}
