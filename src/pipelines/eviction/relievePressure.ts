/**
 * Acts on the most urgent threshold: frees disk space of the node, postpones the eviction, or evicts one pod. Sets the cell
 * `eviction` for its owner, evictionManager.ts, which waits out a postponed eviction. Upstream: synchronize,
 * reclaimNodeLevelResources and evictPod of pkg/kubelet/eviction.
 */
import { concat, defer, EMPTY, from, ignoreElements, type Observable, of, switchMap } from "rxjs";
import type { Pod } from "../../core/api.ts";
import { type AwaitedEviction, awaitedEviction } from "../../core/eviction/awaitedEvictions.ts";
import {
  type DelayReason,
  delayOf,
  type EvictionDelay,
  mayMisrank,
  startDelay,
} from "../../core/eviction/evictionDelay.ts";
import { chooseVictim, type PodUsage } from "../../core/eviction/chooseVictim.ts";
import { evictedEvent, type Eviction } from "../../core/eviction/evicted.ts";
import { thresholdFigures } from "../../core/eviction/evictionMessage.ts";
import type { EvictedPod, EvictionDecision } from "../../core/eviction/evictionView.ts";
import { type ReclaimStep, reclaimSteps } from "../../core/eviction/nodeReclaim.ts";
import { isRelieved } from "../../core/eviction/nodePressure.ts";
import type { Observations } from "../../core/eviction/observations.ts";
import type { PodRank } from "../../core/eviction/ranking.ts";
import { resourceOf, type Threshold } from "../../core/eviction/thresholds.ts";
import { epochMs } from "../../core/ids.ts";
import { nodeEvent } from "../../core/node/nodeEvents.ts";
import type { NodeReclaim } from "../nodeReclaim.ts";
import { eventOutput, type PodOutput } from "../podOutputs.ts";
import { type EvictionContext, instantOf } from "./evictionContext.ts";
import type { LimitEviction } from "./storageLimits.ts";

/** The pods of the node in order of eviction, and what they use. */
export interface RankedUsage extends PodUsage {
  readonly ranking: readonly PodRank[];
}

/** Acts on the first threshold of `due`, if there is any: frees resources of the node, postpones, or evicts one pod. */
export function relievePressure(
  due: readonly Threshold[],
  observed$: Observable<Observations>,
  usage: RankedUsage,
  context: EvictionContext,
): Observable<PodOutput> {
  const [threshold] = due;
  if (threshold === undefined) return EMPTY;
  const { ports, config, cells } = context;
  const delay = delayOf(cells.eviction.value.delay, threshold, ports.clock.monotonicMs());
  if (delay !== undefined) return chooseOrPostpone(due, threshold, { delay, observed$ }, usage, context);
  const resourceName = resourceOf(threshold.signal);
  ports.telemetry.log.info("Eviction manager: attempting to reclaim", { resourceName, signal: threshold.signal });
  const message = `Attempting to reclaim ${resourceName}`;
  const steps = reclaimSteps(threshold.signal, usage.layout);
  const evicted$ = defer(() => chooseOrPostpone(due, threshold, { delay: undefined, observed$ }, usage, context));
  const postponed$ = defer(() => postpone(threshold, "space", steps, context));
  return concat(
    of(eventOutput(nodeEvent(config.nodeName, "EvictionThresholdMet", message, "Warning"))),
    steps.length === 0 ? evicted$ : reclaimed(threshold, steps, observed$, context, postponed$),
  );
}

/** Frees resources of the node, and does `otherwise` if that was not enough. */
function reclaimed(
  threshold: Threshold,
  steps: readonly ReclaimStep[],
  observed$: Observable<Observations>,
  context: EvictionContext,
  otherwise: Observable<PodOutput>,
): Observable<PodOutput> {
  const { config, tools, cells } = context;
  const isEnough = (after: Observations): boolean =>
    after.has(threshold.signal) && isRelieved(config.evictionThresholds, after);
  const relieved$ = defer(() => {
    cells.eviction.set({ ...cells.eviction.value, delay: undefined });
    relieved(threshold, steps, context);
    return EMPTY;
  });
  return concat(
    ...steps.map((step) => freed(step, tools.reclaim)),
    observed$.pipe(switchMap((after) => (isEnough(after) ? relieved$ : otherwise))),
  );
}

/** Ends a delay whose threshold is not met any more. */
export function endDelay(context: EvictionContext): void {
  const { eviction } = context.cells;
  const { delay } = eviction.value;
  if (delay === undefined) return;
  eviction.set({ ...eviction.value, delay: undefined });
  if (delay.reclaimed.length > 0) relieved(delay.threshold, delay.reclaimed, context);
}

function relieved(threshold: Threshold, steps: readonly ReclaimStep[], context: EvictionContext): void {
  context.ports.telemetry.log.info("Eviction manager: able to reduce resource pressure without evicting pods.", {
    resourceName: resourceOf(threshold.signal),
  });
  decide(threshold, steps, [], context);
}

function postpone(
  threshold: Threshold,
  reason: DelayReason,
  reclaimed: readonly ReclaimStep[],
  { ports, cells: { eviction } }: EvictionContext,
): Observable<never> {
  const delay = startDelay(threshold, reason, reclaimed, ports.clock.monotonicMs());
  ports.telemetry.log.info(`Eviction manager: waiting for the runtime to ${AWAITED[reason]}`, {
    resourceName: resourceOf(threshold.signal),
  });
  eviction.set({ ...eviction.value, delay });
  return EMPTY;
}

const AWAITED: Readonly<Record<DelayReason, string>> = {
  space: "free the space of removed containers and images",
  layers: "measure the writable layers of containers",
};

/** The delay that has ended, if there was one, and the measurement of the signals. */
interface Delayed {
  readonly delay: EvictionDelay | undefined;
  readonly observed$: Observable<Observations>;
}

/**
 * Evicts a pod, unless the figures of writable layers are too old to choose by. A pod may have ended during a delay: its
 * containers and images are freed first.
 */
function chooseOrPostpone(
  due: readonly Threshold[],
  threshold: Threshold,
  { delay, observed$ }: Delayed,
  usage: RankedUsage,
  context: EvictionContext,
): Observable<PodOutput> {
  const { clock } = context.ports;
  const { eviction } = context.cells;
  const { observations, state } = eviction.value;
  const now = clock.monotonicMs();
  const steps = delay?.reclaimed ?? [];
  const crossedAt = epochMs(clock.wallTime() - (now - (state.metSince.get(threshold) ?? now)));
  const waits = delay?.reason === "layers" ? now < delay.until : true;
  if (waits && mayMisrank(threshold, observations, usage, crossedAt)) {
    return delay?.reason === "layers" ? EMPTY : postpone(threshold, "layers", steps, context);
  }
  const evicted$ = defer(() => {
    eviction.set({ ...eviction.value, delay: undefined });
    return evictOne(due, threshold, steps, usage, context);
  });
  return steps.length === 0 ? evicted$ : reclaimed(threshold, steps, observed$, context, evicted$);
}

const freed = (step: ReclaimStep, reclaim: NodeReclaim): Observable<never> =>
  defer(() => (step === "images" ? reclaim.deleteUnusedImages() : reclaim.deleteUnusedContainers())).pipe(
    ignoreElements(),
  );

function evictOne(
  due: readonly Threshold[],
  threshold: Threshold,
  steps: readonly ReclaimStep[],
  { ranking, ...measured }: RankedUsage,
  context: EvictionContext,
): Observable<PodOutput> {
  const { ports, config, cells } = context;
  const { clock, telemetry } = ports;
  const { observations } = cells.eviction.value;
  const usage = { ...measured, registry: cells.registry.value };
  const victim = chooseVictim(threshold, ranking, observations, usage, config.evictionMaxPodGraceSeconds);
  if (victim === undefined) {
    telemetry.log.info("Eviction manager: unable to evict any pods from the node", { ranked: ranking.length });
    decide(threshold, steps, [], context);
    return EMPTY;
  }
  const now = clock.monotonicMs();
  for (const { signal } of due) {
    const age = (now - (observations.get(signal)?.at ?? now)) / 1000;
    telemetry.metrics.observe("kubelet_eviction_stats_age_seconds", age, { eviction_signal: signal });
  }
  const { pod, eviction, annotations, why } = victim;
  decide(threshold, steps, [evictedPod(pod, eviction)], context);
  const event = evictedEvent(pod, eviction.message, annotations);
  const fact = { kind: "remark", what: "EvictionRanking", message: why } as const;
  const { signal, graceMs } = threshold;
  const seen = observations.get(signal);
  const wait = { isSoft: graceMs > 0, starved: seen && { signal, available: seen.available } };
  return evict([{ pod, signal, eviction, event }], wait, context, [{ kind: "fact", uid: eviction.uid, fact }]);
}

/** Evicts all pods that exceed a limit of their own. */
export function evictBeyondLimits(beyond: readonly LimitEviction[], context: EvictionContext): Observable<PodOutput> {
  const { eviction: cell } = context.cells;
  const evicted = beyond.map(({ pod, eviction }) => evictedPod(pod, eviction));
  const [{ signal } = { signal: "" }] = beyond;
  const decision = { at: instantOf(context.ports.clock), signal, reclaimed: [], evicted };
  cell.set({ ...cell.value, decision });
  return evict(beyond, { isSoft: false, starved: undefined }, context);
}

function evict(
  pods: readonly LimitEviction[],
  { isSoft, starved }: Pick<AwaitedEviction, "isSoft" | "starved">,
  { ports, cells: { eviction: cell } }: EvictionContext,
  facts: readonly PodOutput[] = [],
): Observable<PodOutput> {
  const { clock, telemetry } = ports;
  const outputs = pods.flatMap(({ pod, signal, eviction, event }): readonly PodOutput[] => {
    const { namespace, name, uid } = pod.metadata;
    const { message, graceSeconds } = eviction;
    const fields = { pod: `${namespace}/${name}`, podUid: uid, reason: message.trim(), graceSeconds };
    telemetry.log.warn("Pod is evicted", fields);
    telemetry.metrics.count("kubelet_evictions", { eviction_signal: signal });
    return [eventOutput(event), { kind: "evicted", ...eviction }];
  });
  const evictions = pods.map(({ eviction }) => eviction);
  const { awaited } = cell.value;
  const next = awaitedEviction(evictions, isSoft, clock.monotonicMs(), starved);
  cell.set({ ...cell.value, awaited: [...awaited, next] });
  return from([...facts, ...outputs]);
}

function decide(
  threshold: Threshold,
  reclaimed: readonly ReclaimStep[],
  evicted: readonly EvictedPod[],
  { ports, cells: { eviction } }: EvictionContext,
): void {
  const figures = thresholdFigures(threshold, eviction.value.observations);
  const at = instantOf(ports.clock);
  const decision: EvictionDecision = { at, signal: threshold.signal, ...figures, reclaimed, evicted };
  eviction.set({ ...eviction.value, decision });
}

const evictedPod = ({ metadata: { namespace, name } }: Pod, { uid, graceSeconds, message }: Eviction): EvictedPod => ({
  uid,
  namespace,
  name,
  graceSeconds,
  message,
});
