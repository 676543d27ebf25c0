/**
 * Ends the pods of the node, those of the lowest priorities first, each group within the seconds of its period, and waits
 * until the API server knows their end. Upstream: killPods of pkg/kubelet/nodeshutdown. Differs from upstream: the groups
 * are read when their turn comes, and the statuses are awaited; upstream lets the machine go down before they are sent.
 */
import { concat, defer, EMPTY, filter, from, ignoreElements, type Observable, race, take, tap } from "rxjs";
import type { MonotonicMs, PodUid } from "../../core/ids.ts";
import { conditionOf } from "../../core/node/nodeConditions.ts";
import { type EndingPod, podsToEnd, unfinished, untold } from "../../core/shutdown/shutdownPods.ts";
import { shutdownSeconds } from "../../core/shutdown/shutdownPeriods.ts";
import { longTimer } from "../../operators/longTimer.ts";
import { whenever } from "../../operators/whenever.ts";
import { registrySettled } from "../../state/milestones.ts";
import type { PodOutput } from "../podOutputs.ts";
import type { ShutdownContext } from "./shutdownContext.ts";

const MS_PER_SECOND = 1_000;
/** Longest wait for pods that are not known yet; at most this part of all periods. */
const UNKNOWN_MS = 2_000;
const UNKNOWN_PART = 0.1;

/**
 * Emits an order for each pod; completes once all pods have stopped and the API server knows, or after the seconds of all
 * periods.
 */
export function endPods(context: ShutdownContext): Observable<PodOutput> {
  const { ports, config, cells } = context;
  return defer(() => {
    const allMs = shutdownSeconds(config.shutdownPeriods) * MS_PER_SECOND;
    const untilMs = (ports.clock.monotonicMs() + allMs) as MonotonicMs;
    const unknownMs = Math.min(UNKNOWN_MS, allMs * UNKNOWN_PART);
    const ended = new Map<PodUid, EndingPod>();
    return concat(
      // A kubelet that has just started does not know all of its pods, and without the API server it will not: the machine goes
      // down after all periods, so the pods that are known must not wait for the others.
      race(registrySettled(cells), longTimer(ports.clock, unknownMs)).pipe(ignoreElements()),
      ...config.shutdownPeriods.map((_, index) => endGroup(index, untilMs, ended, context)),
      statusesTold(ended, untilMs, context),
    );
  });
}

function endGroup(
  index: number,
  untilMs: MonotonicMs,
  ended: Map<PodUid, EndingPod>,
  context: ShutdownContext,
): Observable<PodOutput> {
  const { ports, config, cells } = context;
  const { clock, telemetry } = ports;
  return defer(() => {
    const { priority = 0, seconds = 0 } = config.shutdownPeriods[index] ?? {};
    const pods = podsToEnd(cells.registry.value, config.shutdownPeriods, index, new Set(ended.keys()));
    if (pods.length === 0) return EMPTY;
    for (const pod of pods) ended.set(pod.identity.uid, pod);
    const names = pods.map(
      ({ identity: { namespace, name }, graceSeconds }) => `${namespace}/${name} ${graceSeconds}s`,
    );
    telemetry.log.info("Shutdown manager killing pods", { priority, gracePeriod: seconds, pods: names });
    const finished$ = cells.registry.changes$.pipe(
      filter((registry) => unfinished(registry, pods).length === 0),
      take(1),
      tap(() => telemetry.log.info("Done waiting for all pods in group to terminate", { priority })),
    );
    const leftMs = Math.min(seconds * MS_PER_SECOND, Math.max(0, untilMs - clock.monotonicMs()));
    const late$ = longTimer(clock, leftMs).pipe(
      tap(() => {
        const left = unfinished(cells.registry.value, pods).map(({ identity }) => identity.uid);
        telemetry.log.warn("Shutdown manager pod killing time out", { priority, gracePeriod: seconds, podUids: left });
      }),
    );
    return concat(
      from(pods.map(({ identity: { uid }, graceSeconds }): PodOutput => ({ kind: "shutDown", uid, graceSeconds }))),
      race(finished$, late$).pipe(ignoreElements()),
    );
  });
}

/** Completes once the API server has the end of these pods and that the node is not ready, or at `untilMs`. */
function statusesTold(
  ended: ReadonlyMap<PodUid, EndingPod>,
  untilMs: MonotonicMs,
  { ports: { api, clock, telemetry }, cells }: ShutdownContext,
): Observable<never> {
  if (api === undefined) return EMPTY;
  return defer(() => {
    const pods = [...ended.values()].map(({ identity }) => identity);
    const left = () => untold(cells.apiPodObjects.value, pods);
    const isNodeTold = (): boolean => conditionOf(cells.node.value, "Ready")?.status !== "True";
    const told$ = whenever(cells.apiPodObjects.changes$, cells.node.changes$).pipe(
      filter(() => left().length === 0 && isNodeTold()),
      take(1),
    );
    const late$ = longTimer(clock, Math.max(0, untilMs - clock.monotonicMs())).pipe(
      tap(() => {
        const names = left().map(({ namespace, name }) => `${namespace}/${name}`);
        telemetry.log.warn("The API server does not know that these pods have ended", { pods: names });
      }),
    );
    return race(told$, late$).pipe(ignoreElements());
  });
}
