/**
 * Probes of one pod: a schedule per running container instance and probe, verdicts into the worker's memory, events out.
 * Owner of the probe memory. Bound: one attempt at a time per probe. Upstream: pkg/kubelet/prober.
 *
 *     worker       sync--------------------terminating-------terminated
 *     startup      [f f s]                 |
 *     liveness            [s s f]new ID[s s|
 *     readiness           [f s s]      [f s|s f]             |
 */
import {
  combineLatest,
  concat,
  concatAll,
  defer,
  distinctUntilChanged,
  EMPTY,
  filter,
  finalize,
  from,
  ignoreElements,
  map,
  merge,
  type Observable,
  switchMap,
  take,
  tap,
} from "rxjs";
import type { Container, Pod } from "../../core/api.ts";
import type { PodCommand, PodIdentity } from "../../core/pod/podRegistry.ts";
import { verdictOn } from "../../core/pod/killOf.ts";
import type { ProbeVerdict } from "../../core/pod/podActionsTypes.ts";
import { containerAddress } from "../../core/pod/podAddresses.ts";
import { newestContainer } from "../../core/pod/restartRules.ts";
import { hasStarted, isProbed, probedContainers, probeModeOf, sameProbes } from "../../core/probe/podProbing.ts";
import { initialProbeStates, isGain, type ProbeStates, quietStates, verdictOf } from "../../core/probe/probeVerdict.ts";
import { PROBE_KINDS } from "../../core/probe/probeTypes.ts";
import { sameValue } from "../../core/sameValue.ts";
import { inParallel } from "../../operators/inParallel.ts";
import { switchOnNews } from "../../operators/switchOnNews.ts";
import { derived } from "../../operators/derived.ts";
import { createCell } from "../../state/cell.ts";
import type { PodContext } from "../podContext.ts";
import type { ProbeMemory } from "../podMemories.ts";
import type { PodOutput } from "../podOutputs.ts";
import { forgetProbeMetrics } from "./probeMetrics.ts";
import { journalOf, writeAhead } from "./probeJournalFile.ts";
import { type ProbedInstance, probeSchedule } from "./runProbeSchedule.ts";

/** Probes while subscribed; `inspected$` emits after an inspection of this pod. */
export function podProbes(
  contextOf: (identity: PodIdentity) => PodContext,
  commands$: Observable<PodCommand>,
  inspected$: Observable<unknown>,
): Observable<PodOutput> {
  return commands$.pipe(
    switchOnNews({
      select: ({ identity, pod }) => pod && { identity, pod },
      same: (before, now) => sameProbes(before.pod, now.pod),
      run: ({ identity, pod }) => {
        const context = contextOf(identity);
        return inParallel(probedContainers(pod), (container) =>
          containerProbes(context, pod, container, commands$, inspected$).pipe(
            finalize(() => forgetProbeMetrics(context, container.name)),
          ),
        );
      },
    }),
  );
}

/** Follows the instances of a container, one after the other. */
function containerProbes(
  context: PodContext,
  pod: Pod,
  container: Container,
  commands$: Observable<PodCommand>,
  inspected$: Observable<unknown>,
): Observable<PodOutput> {
  const instance$ = derived(
    [inspected$, context.memory.hooks.postStarting.changes$],
    () => runningInstance(context, pod, container),
    (before, now) => before?.id === now?.id && before?.podIp === now?.podIp,
  );
  return instance$.pipe(
    switchMap((instance) => (instance === undefined ? EMPTY : instanceProbes(context, instance, commands$))),
  );
}

/** Returns the running instance; undefined if there is none. */
function runningInstance(context: PodContext, pod: Pod, container: Container): ProbedInstance | undefined {
  const { memory, ports } = context;
  const runtime = context.runtimeStatus();
  const newest = runtime === undefined ? undefined : newestContainer(runtime, container.name);
  if (runtime === undefined || newest?.state !== "running") return undefined;
  if (memory.hooks.postStarting.value.get(container.name) === newest.id) return undefined;
  // The runtime's clock is the node's: it gives the time since the start once, the monotonic clock everything after.
  const ranMs = Math.max(0, ports.clock.wallTime() - (newest.startedAt ?? newest.createdAt));
  const startedAt = ports.clock.monotonicMs() - ranMs;
  return {
    pod,
    container,
    id: newest.id,
    startedAt,
    isFresh: startedAt >= memory.start.startedAt,
    known: verdictOn(newest, memory.probing.verdicts.value),
    podIp: containerAddress(pod, runtime, newest, memory.reported.status, context.node.nodeIps),
  };
}

/** Runs all probes of an instance, each on its schedule. */
function instanceProbes(
  context: PodContext,
  instance: ProbedInstance,
  commands$: Observable<PodCommand>,
): Observable<PodOutput> {
  return defer(() => {
    const { container, id } = instance;
    const states = createCell<ProbeStates>(initialProbeStates(container, instance.known));
    const startedBefore = hasStarted(states.value);
    const publish = (next: ProbeStates): void => {
      noteVerdict(context.memory.probing.verdicts, container.name, verdictOf(next, id));
      states.set(next);
    };
    publish(states.value);
    const settle = (change: ProbeStates): Observable<never> => {
      const next = (): ProbeStates => ({ ...states.value, ...change });
      const publishNext = (): Observable<never> => {
        publish(next());
        return EMPTY;
      };
      const verdict = verdictOf(next(), id);
      if (!isGain(verdictOf(states.value, id), verdict)) return publishNext();
      return concat(writeAhead(journalOf(context), container.name, verdict), defer(publishNext));
    };
    const mode$ = commands$.pipe(map(probeModeOf), distinctUntilChanged());
    const quiet$ = mode$.pipe(
      filter((mode) => mode !== "all"),
      take(1),
      tap(() => publish(quietStates(states.value))),
      ignoreElements(),
    );
    const kinds = PROBE_KINDS.filter((kind) => states.value[kind] !== undefined);
    const schedules = kinds.map((kind) =>
      combineLatest([mode$, states.changes$]).pipe(
        map(([mode, now]) => isProbed(kind, mode, now)),
        distinctUntilChanged(),
        switchMap((probed) => {
          if (!probed) return EMPTY;
          const looksEarly = kind === "liveness" ? false : instance.isFresh || (kind === "readiness" && !startedBefore);
          const stateOf = () => states.value[kind];
          return probeSchedule(context, { ...instance, kind, stateOf, looksEarly });
        }),
        // Emit the event first: the new state may close the schedule that it comes from.
        map(({ outputs, state }) => {
          const settled$ = defer(() => (state === undefined ? EMPTY : settle({ [state.kind]: state.state })));
          return outputs.length === 0 ? settled$ : concat(from(outputs), settled$);
        }),
        concatAll(),
      ),
    );
    return merge(quiet$, ...schedules);
  });
}

function noteVerdict(verdicts: ProbeMemory["verdicts"], name: string, verdict: ProbeVerdict): void {
  if (sameValue(verdicts.value.get(name), verdict)) return;
  verdicts.set(new Map(verdicts.value).set(name, verdict));
}
