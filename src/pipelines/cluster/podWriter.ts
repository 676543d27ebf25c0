/**
 * Writes this node's pods to the API server: their statuses, the final deletion of pods with a deletion timestamp,
 * mirror pods of static pods. A change is sent in the turn in which it happens. core/api/podWrite.ts decides the
 * write from the state of both sides at that moment, so that the newest status wins and a difference is seen from
 * either side. A write that waits for the rate limit is decided when it is due: intermediate statuses are never sent,
 * and the most urgent write goes first. Statuses of a deleted pod before its last are a second apart.
 *
 *     podStatuses, registry   a---a'-------b-------     our side
 *     apiPodObjects                ------------------b"-     the API server's side: another client wrote to b
 *     requests                a[..]a'[..]--b[..]b[..]
 *
 * Bounds: PARALLEL_WRITES requests, one per object name. Upstream: pkg/kubelet/status status_manager.go and
 * pkg/kubelet/pod mirror_client.go. Differs from upstream: no periodic reconciliation, since the reflector reports
 * every difference; a GET only after a request with an unknown outcome, not before each write.
 */
import { defer, map, merge, type Observable } from "rxjs";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import type { BackoffCurve } from "../../operators/backoffDelay.ts";
import { byPriority } from "../../operators/byPriority.ts";
import { eachOf } from "../../operators/eachOf.ts";
import type { ApiLanes } from "../../ports/apiServer.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { NodeView } from "../../state/nodeState.ts";
import { createPodWriterMemories } from "./podWriterMemory.ts";
import { podWriteRequest } from "./podWriteRequest.ts";

/** Maximum number of requests in flight; the rest wait in the order of urgency. */
const PARALLEL_WRITES = 10;
/** Backoff of a failed write, and of all writes while the server is unreachable. */
const BACKOFF: BackoffCurve = { initialMs: 200, maxMs: 10_000, jitter: 0.2 };

/** Cells that the writer follows. */
export type PodWriterState = Pick<NodeView, "registry" | "podStatuses" | "apiPodObjects" | "sourcesSeen" | "node">;

/** Writes while subscribed. Never emits; errors only on a broken invariant. */
export function podWriter(
  api: ApiLanes,
  ports: Pick<KubeletPorts, "clock" | "rng" | "telemetry" | "podReports">,
  config: Pick<KubeletConfig, "nodeName">,
  state: PodWriterState,
): Observable<never> {
  const { clock, rng, telemetry, podReports } = ports;
  return defer(() => {
    const memories = createPodWriterMemories(state, clock);
    const { registry, podStatuses, apiPodObjects, sourcesSeen, node } = state;
    const changes$ = merge(
      podStatuses.anyChange$.pipe(map((uid) => memories.changedStatus(uid))),
      registry.changes$.pipe(map(() => memories.changedRecords())),
      sourcesSeen.changes$.pipe(map(() => memories.changed())),
      apiPodObjects.changes$.pipe(map(() => memories.changedObjects())),
    );
    return changes$.pipe(
      eachOf((changed) => changed),
      byPriority({
        work: (name) =>
          podWriteRequest(name, memories, { api, clock, telemetry, podReports, nodeName: config.nodeName, node }),
        limit: PARALLEL_WRITES,
        turn: () => api.podTurn(),
        backoff: BACKOFF,
        returns$: api.returns$,
        clock,
        rng,
        onDepth: (waiting) => telemetry.metrics.gauge("rxlet_queue_depth", waiting, { queue: "podWrites" }),
      }),
    );
  });
}
