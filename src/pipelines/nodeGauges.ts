/** Gauges of what the node has, set when it changes, at most once a second. Counterpart: pleg updateRunningPodAndContainerMetrics. */
import { auditTime, ignoreElements, merge, type Observable, tap } from "rxjs";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { NodeState } from "../state/nodeState.ts";

const SETTLE_MS = 1_000;
const CONTAINER_STATES = ["created", "running", "exited", "unknown"] as const;

/** Follows the cells for as long as it is subscribed. */
export function nodeGauges(
  state: Pick<NodeState, "statuses" | "registry" | "podStatuses">,
  { clock, telemetry }: Pick<KubeletPorts, "clock" | "telemetry">,
): Observable<never> {
  return merge(state.statuses.anyChange$, state.registry.changes$, state.podStatuses.anyChange$).pipe(
    auditTime(SETTLE_MS, clock.scheduler),
    tap(() => {
      const statuses = state.statuses.values();
      const records = [...state.registry.value.records.values()];
      const { metrics } = telemetry;
      metrics.gauge("kubelet_running_pods", statuses.filter(({ sandboxes }) => sandboxes.some((s) => s.ready)).length);
      for (const name of CONTAINER_STATES) {
        const count = statuses.reduce((sum, pod) => sum + pod.containers.filter((c) => c.state === name).length, 0);
        metrics.gauge("kubelet_running_containers", count, { container_state: name });
      }
      const wanted = records.filter((record) => record.wanted && record.pod !== undefined);
      const active = wanted.filter((record) => record.state === "syncing" || record.state === "terminating");
      for (const lifecycle of ["sync", "terminating", "terminated"] as const) {
        const state = lifecycle === "sync" ? "syncing" : lifecycle;
        const working = records.filter((record) => record.state === state);
        for (const config of ["desired", "orphan"] as const) {
          const count = working.filter(({ pod }) => (pod === undefined) === (config === "orphan")).length;
          metrics.gauge("kubelet_working_pods", count, { lifecycle, config, static: "true" });
        }
      }
      const resizes = [...state.podStatuses.values()].flatMap(({ conditions = [] }) => conditions);
      const isOf = (type: string, reason?: string): number =>
        resizes.filter((each) => each.type === type && (reason === undefined || each.reason === reason)).length;
      for (const reason of ["Deferred", "Infeasible"]) {
        metrics.gauge("kubelet_pod_pending_resizes", isOf("PodResizePending", reason), {
          reason: reason.toLowerCase(),
        });
      }
      metrics.gauge("kubelet_pod_in_progress_resizes", isOf("PodResizeInProgress"));
      metrics.gauge("kubelet_mirror_pods", 0);
      metrics.gauge("kubelet_desired_pods", wanted.length, { static: "true" });
      metrics.gauge("kubelet_active_pods", active.length, { static: "true" });
    }),
    ignoreElements(),
  );
}
