/**
 * Gauges of the node's pods, containers, volumes and claims, set when they are scraped: a scrape right after a change sees
 * it. Upstream: pleg updateRunningPodAndContainerMetrics, claimInfoCollector.
 */
import { ignoreElements, type Observable, tap } from "rxjs";
import type { ApiPodObjects } from "../../core/api/apiPodObjects.ts";
import type { PodStatus } from "../../core/api.ts";
import { perObject } from "../../core/perObject.ts";
import { isMirrorPod } from "../../core/pod/mirrorPod.ts";
import { isStaticPod } from "../../core/pod/criticalPod.ts";
import type { PodRecord } from "../../core/pod/podRegistryTypes.ts";
import { measuredPlugin } from "../../core/volume/measuredVolume.ts";
import type { PodVolumes } from "../../core/volume/podVolumes.ts";
import type { PodRuntimeStatus } from "../../core/runtime/podRuntimeStatus.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { gaugeClaims } from "./gaugeClaims.ts";
import { gaugeCpus } from "./gaugeCpus.ts";
import { inParallel } from "../../operators/inParallel.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { Metrics } from "../../ports/telemetry.ts";
import type { NodeView } from "../../state/nodeState.ts";

const CONTAINER_STATES = ["created", "running", "exited", "unknown"] as const;

/** Gauges that follow cells. */
export interface NodeGauges {
  /** Notes which cells change, while subscribed. Sets no gauge, so a node that nobody scrapes pays next to nothing. */
  readonly changes$: Observable<never>;
  /** Sets the gauges whose cells have changed since the last call. */
  update(): void;
}

/** Creates the gauges; all of them are set by the first update. */
export function nodeGauges(
  { telemetry: { metrics } }: Pick<KubeletPorts, "telemetry">,
  { hardware }: Pick<KubeletConfig, "hardware">,
  state: Pick<NodeView, "runtimeStatuses" | "registry" | "podStatuses" | "apiPodObjects" | "volumes" | "claims">,
): NodeGauges {
  const { runtimeStatuses: statuses, registry, podStatuses, apiPodObjects, volumes, claims } = state;
  const plugins = new Set<string>();
  const drivers = new Set<string>();
  const gauges: readonly (readonly [changes$: Observable<unknown>, set: () => void])[] = [
    [statuses.anyChange$, () => gaugeRunning(statuses.values(), metrics)],
    [registry.changes$, () => gaugePods([...registry.value.records.values()], metrics)],
    [podStatuses.anyChange$, () => gaugeResizes(podStatuses.values(), metrics)],
    [volumes.anyChange$, () => gaugeVolumes(volumes.values(), plugins, metrics)],
    [apiPodObjects.changes$, () => gaugeMirrors(apiPodObjects.value, metrics)],
    [claims.changes$, () => gaugeClaims(claims.value, drivers, metrics)],
    ...(hardware === undefined
      ? []
      : [[registry.changes$, () => gaugeCpus(hardware, registry.value, metrics)] as const]),
  ];
  const due = new Set(gauges.map(([, set]) => set));
  return {
    changes$: inParallel(gauges, ([changes$, set]) => changes$.pipe(tap(() => due.add(set)))).pipe(ignoreElements()),
    update() {
      for (const set of due) set();
      due.clear();
    },
  };
}

const gaugeMirrors = ({ byName }: ApiPodObjects, metrics: Metrics): void =>
  metrics.gauge("kubelet_mirror_pods", [...byName.values()].filter(isMirrorPod).length);

function gaugeRunning(statuses: readonly PodRuntimeStatus[], metrics: Metrics): void {
  metrics.gauge("kubelet_running_pods", statuses.filter(({ sandboxes }) => sandboxes.some((s) => s.ready)).length);
  for (const name of CONTAINER_STATES) {
    const count = statuses.reduce((sum, pod) => sum + pod.containers.filter((c) => c.state === name).length, 0);
    metrics.gauge("kubelet_running_containers", count, { container_state: name });
  }
}

/** `plugins`: all plugins with a series, including those without volumes now. */
function gaugeVolumes(pods: readonly PodVolumes[], plugins: Set<string>, metrics: Metrics): void {
  const wanted = pods.flatMap(({ wishes }) =>
    [...wishes.values()].flatMap((wish) => (wish.kind === "resolved" ? [measuredPlugin(wish.layout)] : [])),
  );
  const actual = pods.flatMap((pod) =>
    [...pod.actual.values()].flatMap((volume) => (volume.condition === "absent" ? [] : [measuredPlugin(volume)])),
  );
  for (const plugin of [...wanted, ...actual]) plugins.add(plugin);
  for (const plugin of plugins) {
    const update = (state: string, found: readonly string[]): void =>
      metrics.gauge("volume_manager_total_volumes", found.filter((each) => each === plugin).length, {
        plugin_name: plugin,
        state,
      });
    update("desired_state_of_world", wanted);
    update("actual_state_of_world", actual);
  }
}

function gaugePods(records: readonly PodRecord[], metrics: Metrics): void {
  const wanted = records.filter((record) => record.wanted && record.pod !== undefined);
  const active = wanted.filter(({ state }) => state === "syncing" || state === "terminating");
  const ephemeral = wanted.reduce((sum, { pod }) => sum + (pod?.spec.ephemeralContainers?.length ?? 0), 0);
  metrics.gauge("kubelet_managed_ephemeral_containers", ephemeral);
  gaugeByOrigin(wanted, (count, origin) => metrics.gauge("kubelet_desired_pods", count, origin));
  gaugeByOrigin(active, (count, origin) => metrics.gauge("kubelet_active_pods", count, origin));
  const waiting = records.filter(({ state, behind }) => state === "waiting" && behind.length > 0);
  metrics.gauge("rxlet_pods_waiting_for_resources", waiting.length);
  for (const lifecycle of ["sync", "terminating", "terminated"] as const) {
    const working = records.filter(({ state }) => state === (lifecycle === "sync" ? "syncing" : lifecycle));
    const orphans = working.filter((record) => !record.wanted);
    const known = orphans.filter(({ pod }) => pod !== undefined);
    const update = (config: "desired" | "orphan", found: readonly PodRecord[]): void =>
      gaugeByOrigin(found, (count, origin) =>
        metrics.gauge("kubelet_working_pods", count, { lifecycle, config, ...origin }),
      );
    update(
      "desired",
      working.filter(({ wanted: isWanted }) => isWanted),
    );
    update("orphan", known);
    const unknown = { lifecycle, config: "runtime_only", static: "unknown" };
    metrics.gauge("kubelet_working_pods", orphans.length - known.length, unknown);
  }
}

/** Counts static pods and API pods separately. */
function gaugeByOrigin(
  records: readonly PodRecord[],
  gauge: (count: number, origin: { readonly static: "true" | "" }) => void,
): void {
  const ofNode = records.filter(({ pod }) => pod !== undefined && isStaticPod(pod)).length;
  gauge(ofNode, { static: "true" });
  gauge(records.length - ofNode, { static: "" });
}

/** Conditions of a resize in progress, which nearly no pod has. */
const resizesOf = perObject(({ conditions = [] }: PodStatus) =>
  conditions.filter(({ type }) => type === "PodResizePending" || type === "PodResizeInProgress"),
);

function gaugeResizes(statuses: readonly PodStatus[], metrics: Metrics): void {
  const conditions = statuses.flatMap(resizesOf);
  const countOf = (type: string, reason?: string): number =>
    conditions.filter((each) => each.type === type && (reason === undefined || each.reason === reason)).length;
  for (const reason of ["Deferred", "Infeasible"]) {
    metrics.gauge("kubelet_pod_pending_resizes", countOf("PodResizePending", reason), { reason: reason.toLowerCase() });
  }
  metrics.gauge("kubelet_pod_in_progress_resizes", countOf("PodResizeInProgress"));
}
