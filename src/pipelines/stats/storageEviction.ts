/**
 * Evicts pods that exceed their limits of local storage: emits an event and the output `evicted`, on which the registry
 * ends the pod. Writes no cell. Measures only while some pod has such a limit. Bound: one measurement at a time, 10 s
 * after the last one. Upstream: localStorageEviction of pkg/kubelet/eviction.
 */
import { catchError, distinctUntilChanged, EMPTY, forkJoin, map, type Observable, switchMap } from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import { evictedEvent } from "../../core/eviction/evicted.ts";
import { hasStorageLimits, storageViolation } from "../../core/eviction/localStorage.ts";
import type { PodRecord, Registry } from "../../core/pod/podRegistry.ts";
import type { Summary } from "../../core/stats/summary.ts";
import { eachOf } from "../../operators/eachOf.ts";
import { pollAfter } from "../../operators/pollAfter.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { NodeStats } from "../../ports/nodeStats.ts";
import type { NodeView } from "../../state/nodeState.ts";
import type { PodOutput } from "../podOutputs.ts";

type Ports = Pick<KubeletPorts, "clock" | "telemetry">;

/** Upstream: evictionMonitoringPeriod. */
const LOOK_EVERY_MS = 10_000;

/** Emits the pods to evict. Never errors: a failed measurement evicts no pod. */
export function storageEviction(
  ports: Ports,
  stats: NodeStats,
  { registry }: Pick<NodeView, "registry">,
): Observable<PodOutput> {
  const { clock, telemetry } = ports;
  const look = (): Observable<PodOutput> =>
    forkJoin({ summary: stats.summary(), hasImageFs: stats.hasImageFs() }).pipe(
      eachOf(({ summary, hasImageFs }) => evictions(registry.value, summary, hasImageFs, ports)),
      catchError((thrown: unknown) => {
        telemetry.log.warn("Eviction manager: failed to get summary stats", { error: toKubeletError(thrown) });
        return EMPTY;
      }),
    );
  return registry.changes$.pipe(
    map(isAnyLimited),
    distinctUntilChanged(),
    switchMap((isAny) => (isAny ? pollAfter(clock, LOOK_EVERY_MS, look, { immediately: false }) : EMPTY)),
  );
}

const isLimited = ({ state, pod }: PodRecord): boolean =>
  state === "syncing" && pod !== undefined && hasStorageLimits(pod);

function isAnyLimited({ records }: Registry): boolean {
  for (const record of records.values()) if (isLimited(record)) return true;
  return false;
}

function evictions(
  { records }: Registry,
  { pods }: Summary,
  hasImageFs: boolean,
  { telemetry }: Ports,
): readonly PodOutput[] {
  const byUid = new Map(pods.map((stats) => [stats.podRef.uid, stats]));
  return [...records.values()].filter(isLimited).flatMap(({ identity: { uid, namespace, name }, pod }) => {
    const stats = byUid.get(uid);
    const violation = stats && pod && storageViolation(pod, stats, hasImageFs);
    if (pod === undefined || violation === undefined) return [];
    const { signal, message } = violation;
    telemetry.log.warn("Pod is evicted", { pod: `${namespace}/${name}`, podUid: uid, reason: message.trim() });
    telemetry.metrics.count("kubelet_evictions", { eviction_signal: signal });
    return [
      { kind: "event", event: evictedEvent(pod, message) },
      { kind: "evicted", uid, message },
    ] satisfies PodOutput[];
  });
}
