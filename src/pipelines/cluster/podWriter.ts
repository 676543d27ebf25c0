/**
 * Tells the API server of this node's pods: their statuses, the end of those that were deleted, the mirrors of static
 * pods. A change goes out in the turn in which it happens. What to write is decided by core/api/podWrite.ts from what
 * both sides have at that moment, so that the newest status wins and a difference is seen from either side. What waits for
 * the rate is decided when its turn comes: statuses in between are never sent, and the most urgent goes first.
 *
 *     podStatuses, registry   a---a'-------b-------     our side
 *     apiPodObjects                ------------------b"-     the server's: somebody else wrote to b
 *     requests                a[..]a'[..]--b[..]b[..]
 *
 * Bounds: PARALLEL_WRITES requests, one per object name. Counterpart: pkg/kubelet/status status_manager.go and
 * pkg/kubelet/pod mirror_client.go. Differs from upstream: no periodic reconciliation, as the reflector tells of every
 * difference; a GET not before each write, but after one whose outcome is open.
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

/** Requests under way; what waits beyond them goes in the order of its urgency. */
const PARALLEL_WRITES = 10;
/** A write that failed, and all of them while the server is away. */
const BACKOFF: BackoffCurve = { initialMs: 200, maxMs: 10_000, jitter: 0.2 };

/** Cells that the writer follows. */
export type PodWriterState = Pick<NodeView, "registry" | "podStatuses" | "apiPodObjects" | "sourcesSeen" | "node">;

/** Writes for as long as it is subscribed. Never emits; errors only on a broken invariant. */
export function podWriter(
  api: ApiLanes,
  ports: Pick<KubeletPorts, "clock" | "rng" | "telemetry">,
  config: Pick<KubeletConfig, "nodeName">,
  state: PodWriterState,
): Observable<never> {
  const { clock, rng, telemetry } = ports;
  return defer(() => {
    const memories = createPodWriterMemories(state, clock);
    const { registry, podStatuses, apiPodObjects, sourcesSeen, node } = state;
    const changes$ = merge(
      podStatuses.anyChange$.pipe(map((uid) => memories.changedStatus(uid))),
      merge(registry.changes$, sourcesSeen.changes$).pipe(map(() => memories.changed())),
      apiPodObjects.changes$.pipe(map(() => memories.changedObjects())),
    );
    return changes$.pipe(
      eachOf((changed) => changed),
      byPriority({
        work: (name) => podWriteRequest(name, memories, { api, clock, telemetry, nodeName: config.nodeName, node }),
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
