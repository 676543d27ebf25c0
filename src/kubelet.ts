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
 *     evictionManager, nodeShutdown --> [evictions] --> podLifecycle
 *
 *     Parts beside the flow: runtimeClasses and services (objects of the cluster), pluginParts (plugins, devices, drivers),
 *     machineParts (addresses, cgroups, processes, OOM kills), garbageCollection, logRotation, gauges, clusterNode
 *     (registration, lease, node status).
 */
import { concat, merge, type Observable, Subject, takeUntil, tap } from "rxjs";
import type { Node } from "./core/api.ts";
import type { KubeletConfig } from "./core/kubeletConfig.ts";
import { clusterNode } from "./pipelines/cluster/clusterNode.ts";
import { runtimeClasses, services } from "./pipelines/cluster/knownObjects.ts";
import { drained } from "./pipelines/drain.ts";
import type { EvictionTools } from "./pipelines/eviction/evictionContext.ts";
import { evictionManager } from "./pipelines/eviction/evictionManager.ts";
import { pressureWakes } from "./pipelines/eviction/pressureWakes.ts";
import { createGarbageCollection } from "./pipelines/garbageCollection.ts";
import { housekeeping } from "./pipelines/housekeeping.ts";
import { inheritedAllocations } from "./pipelines/inheritedAllocations.ts";
import { createLiveSource } from "./pipelines/live/liveSource.ts";
import { logRotation } from "./pipelines/logRotation.ts";
import { runMachine } from "./pipelines/machineParts.ts";
import { runDrivers, runPlugins } from "./pipelines/pluginParts.ts";
import { createOfflineBoot } from "./pipelines/offline/offlineBoot.ts";
import {
  CLUSTER_PLACES,
  EVICTION_PLACES,
  GARBAGE_PLACES,
  GAUGE_PLACES,
  HEALTH_PLACES,
  PLEG_PLACES,
  POD_PLACES,
  SERVICE_CELLS,
  SHUTDOWN_PLACES,
  SOURCE_PLACES,
} from "./pipelines/partPlaces.ts";
import { podCommands } from "./pipelines/podCommands.ts";
import { podConfig } from "./pipelines/podConfig.ts";
import { podLifecycle } from "./pipelines/podLifecycle.ts";
import { podRecords } from "./pipelines/podRecords.ts";
import { createPodServices } from "./pipelines/podServices.ts";
import { createQueries } from "./pipelines/queries.ts";
import { createQueues, routeConfigOutput, routePodOutput, routePlegOutput } from "./pipelines/queues.ts";
import { rollback } from "./pipelines/rollback.ts";
import { into, type RunPart } from "./pipelines/runPart.ts";
import { runtimeState } from "./pipelines/runtime/watchRuntimeState.ts";
import { createOwnChanges } from "./pipelines/runtime/ownChanges.ts";
import { pleg } from "./pipelines/runtime/pleg.ts";
import { nodeShutdown } from "./pipelines/shutdown/nodeShutdown.ts";
import { nodeGauges } from "./pipelines/stats/nodeGauges.ts";
import { createNodeStats } from "./pipelines/stats/measureNodeStats.ts";
import type { KubeletCommands } from "./ports/kubeletCommands.ts";
import type { KubeletPorts } from "./ports/kubeletPorts.ts";
import type { KubeletQueries } from "./ports/kubeletQueries.ts";
import type { LiveSource } from "./ports/liveSource.ts";
import type { NodeStats } from "./ports/nodeStats.ts";
import type { ReadonlyCell } from "./state/cell.ts";
import { areSourcesSeen, podsChanged, registrySettled } from "./state/milestones.ts";
import { createNodeState } from "./state/nodeState.ts";
import { createParts, type Part } from "./state/parts.ts";

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
  /** Works while it is subscribed. */
  readonly live: LiveSource;
  readonly stats: NodeStats;
  readonly commands: KubeletCommands;
  /** Sets the gauges that follow the state of the node; to be called before metrics are rendered. */
  updateGauges(): void;
  /** Stops and removes all pods, then completes; errors with DeadlineExceeded. Needs `run$` subscribed. */
  drain(deadlineMs: number): Observable<void>;
}

/** Wires a kubelet. Nothing happens before `run$` is subscribed, once. */
export function createKubelet(config: KubeletConfig, given: KubeletPorts): Kubelet {
  const state = createNodeState();
  const { ports, keep$ } = createOfflineBoot(given, config, state);
  const queues = createQueues(ports);
  const { registryInputs } = queues;
  const draining$ = new Subject<void>();
  const allSourcesSeen = (): boolean => areSourcesSeen(config, state);
  const { list: parts, users, owner, run } = createParts(state, queues);
  const { noted, others$ } = createOwnChanges(ports);
  const pods = createPodServices(noted, config, state, owner("podServices", ...SERVICE_CELLS));
  const garbage = createGarbageCollection(ports, config, state);
  const imagesChanged$ = merge(pods.images.pulled$, garbage.imagesRemoved$);
  const stats = createNodeStats(ports, config, state);
  const gauges = nodeGauges(ports, config, state);

  runRecords(run, ports, keep$);
  runObjects(run, ports);
  runPlugins(run, ports, config);
  run("runtimeState", { reads: ["runtimeLooks"], writes: ["runtimeState"] }, (use) =>
    runtimeState({ lookAgain$: use.runtimeLooks.values$ }, ports, config, use.runtimeState),
  );
  run("pleg", PLEG_PLACES, (use) =>
    pleg({ signals$: others$, requests$: use.inspections.values$ }, ports, config, {
      ...use,
      hasRecord: (uid) => use.registry.value.records.has(uid),
    }).pipe(tap((output) => routePlegOutput(output, use, allSourcesSeen))),
  );
  run("podLifecycle", POD_PLACES, (use) => {
    const registry$ = concat(inheritedAllocations(ports, config, use), use.registryInputs.values$);
    const lifecycle$ = merge(podLifecycle({ registry$ }, pods, use), use.evictions.values$, pods.prune());
    const outputs$ = concat(pods.load(), lifecycle$);
    return podRecords({ outputs$: outputs$.pipe(tap((output) => routePodOutput(output, use))) }, ports, use);
  });
  run("podConfig", SOURCE_PLACES, (use) =>
    podConfig({ snapshots$: rollback(ports, ports, config, use) }, ports, config, use).pipe(
      tap((output) => routeConfigOutput(output, use, allSourcesSeen)),
      takeUntil(draining$),
    ),
  );
  run("housekeeping", { reads: ["registry", "listing", "runtimeStatuses"], writes: ["orphans", "leftStages"] }, (use) =>
    housekeeping({ ready$: registrySettled(use) }, ports, config, use, pods),
  );
  runDrivers(run, ports, config, pods.dynamicResources);
  run("garbageCollection", GARBAGE_PLACES, (use) => garbage.events$.pipe(into(use.events)));
  run("logRotation", { reads: ["runtimeStatuses"] }, (use) => logRotation(ports, config.logRotation, use));
  run("nodeGauges", GAUGE_PLACES, () => gauges.changes$);
  run("diskCounts", {}, () => stats.counting$);
  run("volumeHealth", HEALTH_PLACES, (use) => stats.health$.pipe(into(use.events)));
  runEvictions(run, ports, config, { stats, reclaim: garbage.reclaim });
  runMachine(run, ports, config);
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
    queries: createQueries(ports, config, state, { images: pods.images, stats, garbage, registryInputs }),
    live: createLiveSource(users, state, queues, { clock: ports.clock, images: pods.images }),
    commands: podCommands(state.registry, ports.clock, (update) => registryInputs.push({ kind: "update", update })),
    updateGauges: () => gauges.update(),
    drain: (deadlineMs) => {
      draining$.next();
      registryInputs.push({ kind: "drain" });
      return drained(state, ports.clock, deadlineMs);
    },
  };
}

/** Parts that record: on disk for a boot without the API server, and events. */
function runRecords(run: RunPart, ports: KubeletPorts, keep$: Observable<never>): void {
  run("offlineBoot", { reads: ["registry", "podStatuses", "restored"] }, () => keep$);
  run("recorder", { reads: ["events"] }, ({ events }) => ports.recordEvents(events.values$));
}

/** Parts that follow objects of the cluster. */
function runObjects(run: RunPart, ports: KubeletPorts): void {
  run("runtimeClasses", { reads: ["configObjects"], writes: ["runtimeClasses"] }, (use) => runtimeClasses(ports, use));
  run("services", { writes: ["services"] }, (use) => services(ports, use));
}

/** Parts that end pods which the node cannot keep. */
function runEvictions(run: RunPart, ports: KubeletPorts, config: KubeletConfig, tools: EvictionTools): void {
  run("evictionManager", EVICTION_PLACES, (use) => {
    const context = { ports, config, cells: use, tools };
    return evictionManager({ wake$: pressureWakes(ports, config, use.signalLooks) }, context).pipe(into(use.evictions));
  });
  run("nodeShutdown", SHUTDOWN_PLACES, (use) => nodeShutdown(ports, config, use).pipe(into(use.evictions)));
}
