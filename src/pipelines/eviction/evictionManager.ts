/**
 * Watches the node for pressure and evicts pods: those beyond their limits of local storage, and one pod at a time while
 * a threshold is met. Owner of the cells `pressures`, which node conditions and admission read, and `eviction`. Bound:
 * one look at a time; 10 s for each figure; pods are measured only while a threshold is met or a pod has a storage
 * limit. Upstream: synchronize of pkg/kubelet/eviction.
 */
import {
  catchError,
  concat,
  defer,
  EMPTY,
  filter,
  forkJoin,
  from,
  map,
  merge,
  type Observable,
  of,
  switchMap,
  ignoreElements,
  tap,
} from "rxjs";
import { overdueEvent } from "../../core/admission/preempted.ts";
import { toKubeletError } from "../../core/errors.ts";
import { isAnyCleanedUp, nextDeadline, settleEvictions } from "../../core/eviction/awaitedEvictions.ts";
import { type PodUsage, rankingFor } from "../../core/eviction/chooseVictim.ts";
import { isSpaceAwaited, nextDelayedLook } from "../../core/eviction/evictionDelay.ts";
import { metFigures } from "../../core/eviction/evictionText.ts";
import {
  nextPressure,
  pressuresOf,
  prolonged,
  thresholdsMet,
  thresholdsToActOn,
} from "../../core/eviction/nodePressure.ts";
import type { Observations } from "../../core/eviction/observations.ts";
import type { PodRank } from "../../core/eviction/ranking.ts";
import { type DiskLayout, diskOf } from "../../core/eviction/nodeReclaim.ts";
import type { Threshold } from "../../core/eviction/thresholds.ts";
import { sameValue } from "../../core/sameValue.ts";
import { reconcile } from "../../operators/reconcile.ts";
import { eventOutput, type PodOutput } from "../podOutputs.ts";
import { type EvictionContext, instantOf } from "./evictionContext.ts";
import { observeSignals } from "./observeSignals.ts";
import { endDelay, evictBeyondLimits, relievePressure } from "./relievePressure.ts";
import { isAnyLimited, limitEvictions } from "./storageLimits.ts";

/** Upstream: evictionMonitoringPeriod. */
const LOOK_EVERY_MS = 10_000;
/**
 * Age of the counts of directories by which pods are ranked. Upstream ranks by counts of up to a minute ago, so that a
 * bystander goes before the pod that has just filled the disk.
 */
const RANKED_MS = 1_000;

/**
 * Looks every 10 s, at each wake, at once after an evicted pod was cleaned up, and more often while an eviction is
 * postponed. Its outputs end pods and report it.
 *
 *     wake$       ----w---------------------
 *     look        L---L-----L(evicts a)----L-----L
 *     a           ------------stops--gone--^
 *
 * Cancels: the look. Errors: none; a figure that cannot be measured is no pressure, and a failed measurement of pods
 * evicts none. Bound: one look, one waiting wake.
 */
export function evictionManager(
  { wake$ }: { readonly wake$: Observable<unknown> },
  context: EvictionContext,
): Observable<PodOutput> {
  const { ports, config, cells } = context;
  const { clock } = ports;
  if (config.evictionThresholds.length === 0 && !config.limitsLocalStorage) return EMPTY;
  return defer(() => {
    const observed$ = observeSignals(ports, config);
    const cleanedUp$ = cells.registry.changes$.pipe(
      filter((registry) => isAnyCleanedUp(cells.eviction.value.awaited, registry)),
    );
    const looks$ = reconcile({
      triggers$: merge(of("start"), wake$, cleanedUp$),
      run: () =>
        observed$.pipe(
          switchMap((observations) =>
            concat(
              from(settle(observations, context)),
              defer(() => actOn(observations, observed$, context)),
            ),
          ),
        ),
      wakeAfterMs: () => {
        const { awaited, delay } = cells.eviction.value;
        return Math.min(LOOK_EVERY_MS, nextDelayedLook(delay), nextDeadline(awaited) - clock.monotonicMs());
      },
      clock,
    });
    return merge(looks$, prolongPressures(context));
  });
}

/** Keeps the time at which a threshold was last met current while a look lasts. Never emits. */
function prolongPressures({ config, cells }: EvictionContext): Observable<never> {
  const { eviction, pressures, signalLooks } = cells;
  return signalLooks.changes$.pipe(
    tap((looks) => {
      if (!Object.values(pressures.value).includes(true)) return;
      const observations = new Map([...looks].map(([signal, { observation }]) => [signal, observation]));
      const view = eviction.value;
      const state = prolonged(view.state, config.evictionThresholds, observations, pressures.value);
      if (state !== view.state) eviction.set({ ...view, state });
    }),
    ignoreElements(),
  );
}

/** Ends the waits for evicted pods that are over; returns an event for each pod that has not stopped in time. */
function settle(
  observations: Observations,
  { ports: { clock, telemetry }, cells }: EvictionContext,
): readonly PodOutput[] {
  const view = cells.eviction.value;
  if (view.awaited.length === 0) return [];
  const registry = cells.registry.value;
  const { awaited, overdue, givenUp } = settleEvictions(view.awaited, registry, observations, clock.monotonicMs());
  cells.eviction.set({ ...view, awaited });
  if (givenUp.length > 0) {
    telemetry.log.info("Eviction manager: timed out waiting for pods to be cleaned up", { podUids: givenUp });
  }
  return overdue.flatMap((uid) => {
    const record = registry.records.get(uid);
    // Otherwise its event is there already: other pods wait for its resources.
    return record === undefined || record.leaving?.overdueFor !== undefined ? [] : [eventOutput(overdueEvent(record))];
  });
}

/**
 * While evicted pods stop, another pod is evicted only at a hard threshold, if those were evicted at a soft one.
 *
 * Differs from upstream: an eviction for memory or process IDs does not wait until directories are counted, which takes
 * up to 10 s. Pods beyond the limits of their storage are evicted by the next look; upstream compares counts of up to a
 * minute ago, before anything else.
 */
function actOn(
  observations: Observations,
  observed$: Observable<Observations>,
  context: EvictionContext,
): Observable<PodOutput> {
  const { config, cells } = context;
  const fresh = judge(observations, context);
  const { state, awaited } = cells.eviction.value;
  if (awaited.some(({ isSoft }) => !isSoft)) return EMPTY;
  const due = awaited.length === 0 ? fresh : fresh.filter(({ graceMs }) => graceMs === 0);
  const [first] = due;
  const isUrgent = first !== undefined && !isOfDisk(first);
  const met = thresholdsMet(state);
  const { delay } = cells.eviction.value;
  if (delay !== undefined && !met.includes(delay.threshold)) endDelay(context);
  if (first !== undefined && isSpaceAwaited(delay, first, context.ports.clock.monotonicMs())) return EMPTY;
  const isLimited = !isUrgent && config.limitsLocalStorage && isAnyLimited(cells.registry.value);
  if (met.length === 0 && !isLimited) return EMPTY;
  const needsDisks = !isUrgent && met.some(isOfDisk);
  return measurePods(isLimited || needsDisks, needsDisks ? RANKED_MS : undefined, context).pipe(
    switchMap((usage) => {
      const beyond = isLimited ? limitEvictions(usage) : [];
      if (beyond.length > 0) return evictBeyondLimits(beyond, context);
      const ranking = rank(first ?? met[0], usage, context);
      return relievePressure(due, observed$, { ...usage, ranking }, context);
    }),
  );
}

const isOfDisk = ({ signal }: Threshold): boolean => diskOf(signal) !== undefined;

/** Updates the cells; returns the thresholds to act on, most urgent first. */
function judge(observations: Observations, { ports, config, cells }: EvictionContext): readonly Threshold[] {
  const { clock, telemetry } = ports;
  const { evictionThresholds: thresholds, pressureTransitionMs } = config;
  const before = cells.eviction.value;
  const lookedAt = instantOf(clock);
  const state = nextPressure(before.state, thresholds, observations, lookedAt.mono);
  cells.eviction.set({ ...before, thresholds, lookedAt, observations, state });
  const found = pressuresOf(state, pressureTransitionMs, lookedAt.mono);
  if (!sameValue(found, cells.pressures.value)) {
    const left = Object.fromEntries([...observations].map(([signal, { available }]) => [signal, available]));
    const met = metFigures(thresholdsMet(state), observations);
    telemetry.log.warn("Eviction manager: node conditions changed", { pressures: found, met, left });
    cells.pressures.set(found);
  }
  return thresholdsToActOn(state, observations, before.observations);
}

/** Stands in where no signal of a disk needs the layout. */
const ONE_DISK: DiskLayout = { hasImageFs: false, isSplit: false };

/** Emits the usage of all pods once; nothing when it cannot be measured. */
function measurePods(
  needsDisks: boolean,
  maxAgeMs: number | undefined,
  { ports: { telemetry }, cells, tools: { stats } }: EvictionContext,
): Observable<PodUsage> {
  const measured$ = needsDisks
    ? forkJoin({ summary: stats.summary(maxAgeMs), layout: stats.diskLayout() })
    : forkJoin({ summary: stats.summaryWithoutDirectories(), layout: of(ONE_DISK) });
  return measured$.pipe(
    map((measured) => ({ registry: cells.registry.value, ...measured })),
    catchError((thrown: unknown) => {
      telemetry.log.warn("Eviction manager: failed to get summary stats", { error: toKubeletError(thrown) });
      return EMPTY;
    }),
  );
}

/** Ranks the pods for the most urgent threshold, and keeps the ranking for readers of the cell. */
function rank(
  threshold: Threshold | undefined,
  usage: PodUsage,
  { ports, cells: { eviction } }: EvictionContext,
): readonly PodRank[] {
  if (threshold === undefined) return [];
  const { signal } = threshold;
  const pods = rankingFor(signal, usage);
  eviction.set({ ...eviction.value, ranking: { at: instantOf(ports.clock), signal, pods } });
  return pods;
}
