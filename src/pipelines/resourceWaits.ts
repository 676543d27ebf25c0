/**
 * Pods that wait for resources of terminating pods, or for a device plugin that is away: reports each, counts the end of its wait, and
 * decides without those resources once the stop of a leaving pod is overdue. Bound: one timer for the node. Upstream:
 * none.
 */
import { distinctUntilChanged, EMPTY, from, map, merge, type Observable, switchMap } from "rxjs";
import type { Blocker } from "../core/admission/leavingPods.ts";
import { overdueEvent } from "../core/admission/preempted.ts";
import { resourceWaitEvent, resourceWaitMessage, resourceWaitStatus } from "../core/admission/resourceWait.ts";
import type { Pod } from "../core/api.ts";
import { epochMs, podUid } from "../core/ids.ts";
import type { Registry, RegistryStep, ResourceWait } from "../core/pod/podRegistry.ts";
import { nextOverdue, type NextOverdue } from "../core/pod/registryOverdue.ts";
import type { PodStatusInput } from "../core/pod/status.ts";
import { sameValue } from "../core/sameValue.ts";
import { eachOf } from "../operators/eachOf.ts";
import { longTimer } from "../operators/longTimer.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";
import type { NodeView } from "../state/nodeState.ts";
import { type PodOutput, remarkOutputs } from "./podOutputs.ts";

type Ports = Pick<KubeletPorts, "clock" | "telemetry">;

/**
 * Returns events, statuses and the end of the wait.
 *
 *     steps$      --(b waits for a)---(b started)------(d waits for c)--------------------
 *     c stops     ------------------------------------------------------------------x
 *     output      --event,status--------------------------event,status--overdue(c)------
 */
export function resourceWaits(
  steps$: Observable<RegistryStep>,
  ports: Ports,
  { registry }: Pick<NodeView, "registry">,
  node: () => PodStatusInput["node"],
): Observable<PodOutput> {
  const overdue$ = registry.changes$.pipe(
    map(nextOverdue),
    distinctUntilChanged<NextOverdue | undefined>(sameValue),
    switchMap((next) => {
      if (next === undefined) return EMPTY;
      const ring$ = longTimer(ports.clock, next.at - ports.clock.monotonicMs());
      return ring$.pipe(switchMap(() => from(overdueOutputs(next, registry.value, ports))));
    }),
  );
  const reports$ = steps$.pipe(eachOf((step) => step.resourceWaits.flatMap((wait) => reported(wait, ports, node))));
  return merge(reports$, overdue$);
}

function reported(
  wait: ResourceWait,
  { clock, telemetry }: Ports,
  node: () => PodStatusInput["node"],
): readonly PodOutput[] {
  if (wait.kind === "ended") {
    telemetry.metrics.observe("rxlet_resource_wait_duration_seconds", wait.waitedMs / 1000, { outcome: wait.outcome });
    return [];
  }
  return [
    ...remarkOutputs(podUid(wait.pod.metadata.uid), wait.remarks),
    ...resourceWaitReport(wait.pod, wait.behind, { clock, telemetry }, node),
  ];
}

/** Logs that a pod waits to start, and returns the event and the status. */
export function resourceWaitReport(
  pod: Pod,
  behind: readonly Blocker[],
  { clock, telemetry }: Ports,
  node: () => PodStatusInput["node"],
): PodOutput[] {
  const { namespace, name, uid } = pod.metadata;
  const now = clock.wallTime();
  const lastAt = Math.max(...behind.map(({ until }) => until));
  const message = resourceWaitMessage(pod, behind, epochMs(now + lastAt - clock.monotonicMs()));
  telemetry.log.info(
    behind.some(({ isPlugin }) => isPlugin)
      ? "Pod waits for a device plugin"
      : "Pod waits for the resources of terminating pods",
    {
      pod: `${namespace}/${name}`,
      podUid: uid,
      why: message,
    },
  );
  return [
    { kind: "event", event: resourceWaitEvent(pod, message) },
    { kind: "status", uid: podUid(uid), status: resourceWaitStatus(pod, message, now, node()) },
  ];
}

/** A wait for sources is not reported, since no pod causes it. */
function overdueOutputs(next: NextOverdue, { records }: Registry, { telemetry }: Ports): readonly PodOutput[] {
  const word: PodOutput = { kind: "overdue", uid: next.uid, for: next.for };
  const record = next.uid === undefined ? undefined : records.get(next.uid);
  if (record === undefined) {
    telemetry.log.warn(
      "Sources have not reported their pods in time: pods no longer wait for resources that these may free",
    );
    return [word];
  }
  const { namespace, name, uid } = record.identity;
  telemetry.log.warn("Pod has not stopped in time: other pods no longer wait for its resources", {
    pod: `${namespace}/${name}`,
    podUid: uid,
    waiting: next.for,
  });
  const isFirst = record.leaving?.overdueFor === undefined;
  return isFirst ? [{ kind: "event", event: overdueEvent(record) }, word] : [word];
}
