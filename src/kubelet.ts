/**
 * The kubelet: parts wired to each other. Every feedback loop closes here, through a queue, and nowhere else: a loop
 * never re-enters the stage that feeds it. See docs/architecture.md.
 *
 *     sources --> podConfig --> [registryInputs] --> podLifecycle --+--> podRecords (statuses, timelines)
 *                                  ^   ^             |   | mounts   +--> [events] --> recorder
 *                       relisted --+   +-- finished, |   v          |
 *                          |               stopped,  |  volumes     +--> podWriter (PATCH of statuses)
 *                          |               removed   | inspect
 *                          |                         v
 *     runtime signals --> pleg <------------------ [inspections]
 *                          | stream opened or broke
 *                          v
 *                       [runtimeLooks] --> runtimeState       housekeeping: leftovers on disk, once all sources are seen
 *
 *     evictionManager --> [evictions] --> podLifecycle
 *
 *     Parts beside the flow: runtimeClasses and services (objects of the cluster), garbageCollection, logRotation, gauges,
 *     oomWatcher, hostAddresses, podCidr, nodeCgroups, nodeProcesses, containerCpus, hardwareState, pluginManager, devices,
 *     clusterNode (registration, lease, node status).
 */
import { concat, EMPTY, map, merge, type Observable, Subject, switchMap, takeUntil, tap } from "rxjs";
import type { Node } from "./core/api.ts";
import { NO_ALLOCATIONS, withKeptDevices } from "./core/device/deviceAllocations.ts";
import type { KubeletConfig } from "./core/kubeletConfig.ts";
import type { RegistryInput } from "./core/pod/podRegistry.ts";
import { deviceHealth } from "./pipelines/dra/deviceHealth.ts";
import { driverSlices } from "./pipelines/dra/driverSlices.ts";
import { deviceDrivers, draPluginHandler } from "./pipelines/dra/deviceDrivers.ts";
import type { DynamicResources } from "./pipelines/dra/dynamicResources.ts";
import { leftoverClaims } from "./pipelines/dra/leftoverClaims.ts";
import { clusterNode } from "./pipelines/cluster/clusterNode.ts";
import { runtimeClasses, services } from "./pipelines/cluster/knownObjects.ts";
import { createCsiRegistration } from "./pipelines/csi/csiRegistration.ts";
import { drained } from "./pipelines/drain.ts";
import type { EvictionTools } from "./pipelines/eviction/evictionContext.ts";
import { evictionManager } from "./pipelines/eviction/evictionManager.ts";
import { pressureWakes } from "./pipelines/eviction/pressureWakes.ts";
import { createGarbageCollection } from "./pipelines/garbageCollection.ts";
import { followDevices, devicePluginHandler } from "./pipelines/devices/followDevices.ts";
import { housekeeping } from "./pipelines/housekeeping.ts";
import { logRotation } from "./pipelines/logRotation.ts";
import { hostAddresses } from "./pipelines/node/watchHostAddresses.ts";
import { containerCpus } from "./pipelines/node/containerCpus.ts";
import { readHardwareState, writeHardwareState } from "./pipelines/node/hardwareState.ts";
import { nodeCgroups } from "./pipelines/node/nodeCgroups.ts";
import { nodeProcesses } from "./pipelines/node/nodeProcesses.ts";
import { oomWatcher } from "./pipelines/node/oomWatcher.ts";
import { podCidr } from "./pipelines/node/podCidr.ts";
import { pluginEvents } from "./pipelines/plugins/pluginHandlers.ts";
import { pluginManager } from "./pipelines/plugins/pluginManager.ts";
import { podCommands } from "./pipelines/podCommands.ts";
import { podConfig } from "./pipelines/podConfig.ts";
import { podLifecycle } from "./pipelines/podLifecycle.ts";
import { podRecords } from "./pipelines/podRecords.ts";
import { createPodServices } from "./pipelines/podServices.ts";
import { restoreAllocations } from "./pipelines/podWorker/restoreAllocations.ts";
import { createQueries } from "./pipelines/queries.ts";
import { createQueues, type Queues, routeConfigOutput, routePodOutput, routePlegOutput } from "./pipelines/queues.ts";
import { runtimeState } from "./pipelines/runtime/watchRuntimeState.ts";
import { pleg } from "./pipelines/runtime/pleg.ts";
import { nodeGauges } from "./pipelines/stats/nodeGauges.ts";
import { createNodeStats } from "./pipelines/stats/measureNodeStats.ts";
import type { KubeletCommands } from "./ports/kubeletCommands.ts";
import type { KubeletPorts } from "./ports/kubeletPorts.ts";
import type { KubeletQueries } from "./ports/kubeletQueries.ts";
import type { NodeStats } from "./ports/nodeStats.ts";
import type { ReadonlyCell } from "./state/cell.ts";
import { areSourcesSeen, podsChanged, registrySettled, runtimeKnown } from "./state/milestones.ts";
import { createNodeState, type NodeState, type NodeView } from "./state/nodeState.ts";
import { createParts, type Part, type Parts } from "./state/parts.ts";

/** A kubelet that runs while `run$` is subscribed. */
export interface Kubelet {
  /** Runs all parts. Never emits; errors only on a broken invariant. */
  readonly run$: Observable<never>;
  /** The parts in the order in which they start, with the cells and queues of each. */
  readonly parts: readonly Part[];
  /** The Node as the API server has it. */
  readonly node: ReadonlyCell<Node | undefined>;
  /** Emits after the pods of `queries` or their statuses changed. */
  readonly podsChanged$: Observable<void>;
  /** Emits at once, and after `manifestProblems` of `queries` changed. */
  readonly problemsChanged$: Observable<unknown>;
  readonly queries: KubeletQueries;
  readonly stats: NodeStats;
  readonly commands: KubeletCommands;
  /** Sets the gauges that follow the state of the node; to be called before metrics are rendered. */
  updateGauges(): void;
  /** Stops and removes all pods, then completes; errors with DeadlineExceeded. Needs `run$` subscribed. */
  drain(deadlineMs: number): Observable<void>;
}

/** Wires a kubelet. Nothing happens before `run$` is subscribed, once. */
export function createKubelet(config: KubeletConfig, ports: KubeletPorts): Kubelet {
  const state = createNodeState();
  const queues = createQueues(ports);
  const draining$ = new Subject<void>();
  const allSourcesSeen = (): boolean => areSourcesSeen(config, state);
  const { list: parts, owner, run } = createParts(state, queues);
  const pods = createPodServices(ports, config, state, owner("podServices", ...SERVICE_CELLS));
  const garbage = createGarbageCollection(ports, config, state);
  const imagesChanged$ = merge(pods.images.pulled$, garbage.imagesRemoved$);
  const stats = createNodeStats(ports, config, state);
  const gauges = nodeGauges(ports, config, state);

  runFirst(run, ports, config);
  run("runtimeState", { reads: ["runtimeLooks"], writes: ["runtimeState"] }, (use) =>
    runtimeState({ lookAgain$: use.runtimeLooks.values$ }, ports, config, use.runtimeState),
  );
  run("pleg", PLEG_PLACES, (use) =>
    pleg({ signals$: ports.runtimeSignals$, requests$: use.inspections.values$ }, ports, config, {
      ...use,
      hasRecord: (uid) => use.registry.value.records.has(uid),
    }).pipe(tap((output) => routePlegOutput(output, use, allSourcesSeen))),
  );
  run("podLifecycle", POD_PLACES, (use) => {
    const registry$ = concat(restoredAllocations(ports, config, use), use.registryInputs.values$);
    const lifecycle$ = merge(podLifecycle({ registry$ }, pods, use), use.evictions.values$, pods.prune());
    const work$ = concat(pods.load(), lifecycle$);
    const outputs$ = runtimeKnown(use).pipe(switchMap(() => work$));
    return podRecords({ outputs$: outputs$.pipe(tap((output) => routePodOutput(output, use))) }, ports, use);
  });
  run("podConfig", SOURCE_PLACES, (use) =>
    podConfig({ snapshots$: ports.snapshots$ }, ports, config, use).pipe(
      tap((output) => routeConfigOutput(output, use, allSourcesSeen)),
      takeUntil(draining$),
    ),
  );
  run("housekeeping", { reads: ["registry", "listing", "runtimeStatuses"], writes: ["orphans"] }, (use) =>
    housekeeping({ ready$: registrySettled(use) }, ports, config, use, pods),
  );
  runDrivers(run, ports, config, pods.dynamicResources);
  run("garbageCollection", GARBAGE_PLACES, (use) => garbage.events$.pipe(into(use.events)));
  run("logRotation", { reads: ["runtimeStatuses"] }, (use) => logRotation(ports, config.logRotation, use));
  run(
    "nodeGauges",
    { reads: ["runtimeStatuses", "registry", "podStatuses", "apiPodObjects", "volumes", "claims"] },
    () => gauges.changes$,
  );
  run("diskCounts", {}, () => stats.counting$);
  runEviction(run, ports, config, { stats, reclaim: garbage.reclaim });
  runMachineWatches(run, ports, config);
  run("clusterNode", CLUSTER_PLACES, (use) =>
    clusterNode({ imagesChanged$ }, ports, config, use).pipe(into(use.events)),
  );
  return {
    run$: merge(...parts.map(({ run$ }) => run$)),
    parts,
    node: state.node,
    podsChanged$: podsChanged(state),
    problemsChanged$: state.problems.changes$,
    stats,
    queries: createQueries(ports, config, state, { images: pods.images, stats, garbage }),
    commands: podCommands(state.registry, ports.clock, (update) =>
      queues.registryInputs.push({ kind: "update", update }),
    ),
    updateGauges: () => gauges.update(),
    drain: (deadlineMs) => {
      draining$.next();
      queues.registryInputs.push({ kind: "drain" });
      return drained(state, ports.clock, deadlineMs);
    },
  };
}

type Run = Parts<NodeState, Queues>["run"];

function runEviction(run: Run, ports: KubeletPorts, config: KubeletConfig, tools: EvictionTools): void {
  run("evictionManager", EVICTION_PLACES, (use) =>
    evictionManager(
      { wake$: pressureWakes(ports, config, use.signalLooks) },
      { ports, config, cells: use, tools },
    ).pipe(into(use.evictions)),
  );
}

function runDrivers(run: Run, ports: KubeletPorts, config: KubeletConfig, claims: DynamicResources): void {
  run("deviceDrivers", { reads: ["plugins"], writes: ["draDrivers"] }, (use) =>
    deviceDrivers(ports, use.plugins, use.draDrivers),
  );
  run("driverSlices", { reads: ["draDrivers"] }, (use) => driverSlices(ports, config, use.draDrivers));
  run("deviceHealth", { reads: ["draDrivers"], writes: ["deviceHealths"] }, (use) =>
    deviceHealth(ports, config, use.draDrivers, use.deviceHealths),
  );
  run("leftoverClaims", { reads: ["registry", "listing", "claims"] }, (use) =>
    leftoverClaims({ ready$: registrySettled(use) }, ports, config, use, claims),
  );
}

/** Parts whose cells pods need from the start. */
function runFirst(run: Run, ports: KubeletPorts, { nodeName }: KubeletConfig): void {
  run("recorder", { reads: ["events"] }, ({ events }) => ports.recordEvents(events.values$));
  run("runtimeClasses", { reads: ["configObjects"], writes: ["runtimeClasses"] }, (use) => runtimeClasses(ports, use));
  run("services", { writes: ["services"] }, (use) => services(ports, use));
  run("pluginManager", { reads: ["node"], writes: ["plugins", "csiDrivers"] }, (use) => {
    const csi = createCsiRegistration(ports, use.node, use.csiDrivers);
    const handlers = { DevicePlugin: devicePluginHandler, DRAPlugin: draPluginHandler, ...(csi && { CSIPlugin: csi }) };
    return merge(
      csi?.follow(pluginEvents(use.plugins, "CSIPlugin")) ?? EMPTY,
      pluginManager(ports, handlers, use.plugins),
    );
  });
  run("devices", DEVICE_PLACES, (use) =>
    followDevices(ports, use, { nodeName, event: (event) => use.events.push(event) }).pipe(
      tap(() => use.registryInputs.push({ kind: "devices" })),
    ),
  );
}

function runMachineWatches(run: Run, ports: KubeletPorts, config: KubeletConfig): void {
  run("hostAddresses", { writes: ["addresses"] }, (use) => hostAddresses(ports, config, use.addresses));
  run("podCidr", { reads: ["node"] }, (use) => podCidr(ports, config, use.node));
  run("nodeCgroups", NODE_PLACES, (use) => nodeCgroups(ports, config, use).pipe(into(use.events)));
  run("nodeProcesses", {}, () => nodeProcesses(ports, config));
  run("containerCpus", { reads: ["registry", "runtimeStatuses"] }, (use) => containerCpus(ports, config, use));
  run("hardwareState", { reads: ["registry"] }, (use) => writeHardwareState(ports, config, use));
  run("oomWatcher", { writes: ["events"] }, (use) => oomWatcher(ports, config).pipe(into(use.events)));
}

/** Passes values on to a queue as well. */
const into = <T>(queue: { push(value: T): void }) => tap<T>((value) => queue.push(value));

/** The registry knows the allocations of earlier kubelets before it admits a pod. */
const restoredAllocations = (
  ports: KubeletPorts,
  config: KubeletConfig,
  { deviceAllocations }: Pick<NodeView, "deviceAllocations">,
): Observable<RegistryInput> =>
  restoreAllocations(ports, config).pipe(
    switchMap((allocations) =>
      readHardwareState(ports, config).pipe(
        map((inherited) => withKeptDevices({ allocations, inherited }, deviceAllocations.value ?? NO_ALLOCATIONS)),
        map((kept) => ({ kind: "restored" as const, ...kept })),
      ),
    ),
  );

const SERVICE_CELLS = ["idRanges", "volumes", "claims", "deviceAllocations"] as const;
const SOURCE_PLACES = {
  writes: ["sourcesSeen", "problems", "configObjects", "apiPodObjects", "registryInputs", "events"],
} as const;
const PLEG_PLACES = {
  reads: ["registry", "sequence", "inspections"],
  writes: ["listing", "relistedAt", "runtimeStatuses", "runtimeLooks", "inspections", "registryInputs"],
} as const;
const DEVICE_PLACES = {
  reads: ["plugins", "deviceAllocations"],
  writes: ["devices", "devicePluginProblem", "registryInputs", "events"],
} as const;
const POD_PLACES = {
  reads: [
    "listing",
    "runtimeState",
    "node",
    "pressures",
    "sourcesSeen",
    "registryInputs",
    "evictions",
    "devices",
    "deviceAllocations",
  ],
  writes: ["registry", "timelines", "podStatuses", "registryInputs", "inspections", "events"],
} as const;
const EVICTION_PLACES = { reads: ["registry"], writes: ["pressures", "eviction", "signalLooks", "evictions"] } as const;
const GARBAGE_PLACES = { reads: ["listing", "podStatuses", "registry", "runtimeState"], writes: ["events"] } as const;
const NODE_PLACES = { reads: ["registry"], writes: ["events"] } as const;
const CLUSTER_PLACES = {
  reads: [
    "registry",
    "podStatuses",
    "apiPodObjects",
    "sourcesSeen",
    "runtimeState",
    "relistedAt",
    "pressures",
    "addresses",
    "devices",
    "csiDrivers",
  ],
  writes: ["node", "images", "events"],
} as const;
