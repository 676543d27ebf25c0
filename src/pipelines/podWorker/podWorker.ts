/**
 * The worker of one pod UID: runs the commanded phase, one at a time, and emits the pod's status whenever it changes.
 * Owns its memories. Bound: one effectful phase, one sync at a time. Upstream: pod_workers.go podWorkerLoop.
 *
 *     commands   sync--sync'------terminating--terminating(1s)--terminated(remove)
 *     running    [sync ~~~~~~~~~~][kill      ~][kill           ][clean up         ]|
 */
import { concat, defer, EMPTY, filter, finalize, map, merge, type Observable, takeUntil, takeWhile, tap } from "rxjs";
import { objectsReadBy } from "../../core/configObjects.ts";
import type { PodUid } from "../../core/ids.ts";
import { invariant, unreachable } from "../../core/invariant.ts";
import { perObject } from "../../core/perObject.ts";
import { isOwnEcho } from "../../core/pod/ownEcho.ts";
import { isTerminalPhase } from "../../core/pod/phase.ts";
import type { PodCommand, PodIdentity } from "../../core/pod/podRegistry.ts";
import { emptyRuntimeStatus, type PodRuntimeStatus } from "../../core/runtime/podRuntimeStatus.ts";
import { NO_VOLUMES, volumeStage } from "../../core/volume/podVolumes.ts";
import { sameValue } from "../../core/sameValue.ts";
import { aborted } from "../../operators/aborted.ts";
import { derived } from "../../operators/derived.ts";
import { type Stage, staged } from "../../operators/loopStage.ts";
import { inParallel } from "../../operators/inParallel.ts";
import { reconcile } from "../../operators/reconcile.ts";
import { switchAndJoin } from "../../operators/switchAndJoin.ts";
import { whenever } from "../../operators/whenever.ts";
import { createLateCell, type LateCell } from "../../state/cell.ts";
import { deadlineLeftMs } from "./activeDeadlineTimer.ts";
import { cleanUpPod, reclaimPod } from "./podCleanup.ts";
import { keepGrants, noteAllocation } from "./keepAllocation.ts";
import { type PodContext, podFields } from "../podContext.ts";
import { createPodMemories } from "../podMemories.ts";
import type { PodOutput } from "../podOutputs.ts";
import { wakeAfter } from "./podRound.ts";
import { followObjects } from "../podObjects.ts";
import type { PodServices, PodServicesState } from "../podServices.ts";
import { holdsClaims } from "./claimSteps.ts";
import { podStatusStream } from "./podStatusStream.ts";
import { syncPod } from "./podSync.ts";
import { keepStatusTimes, restoreStatusTimes } from "./statusTimesFile.ts";
import { terminatePod } from "./podTerminate.ts";
import { keepVerdicts, restoreVerdicts } from "../probes/probeJournalFile.ts";
import { podProbes } from "../probes/probes.ts";

/** The phases of a worker in their only order. */
const PHASES: readonly PodCommand["phase"][] = ["sync", "terminating", "terminated"];

/** Runs one pod until it is removed. Never errors but for a broken invariant. */
export function podWorker(
  uid: PodUid,
  commands$: Observable<PodCommand>,
  services: PodServices,
): Observable<PodOutput> {
  return defer(() => {
    const { ports, config, state } = services;
    const latest = createLateCell<PodCommand>();
    const memory = createPodMemories(ports.clock.monotonicMs());
    const contextOf = perObject(
      (identity: PodIdentity): PodContext => ({
        ...services,
        identity,
        memory,
        runtimeStatus: () => statusOf(identity, services.state),
      }),
    );
    // The first status is made of all that the API server knows; from then on the worker knows better.
    const isNews = (command: PodCommand): boolean =>
      memory.reported.status === undefined || !isOwnEcho(latest.value, command);
    const phases$ = commands$.pipe(
      filter(isNews),
      tap((command) => {
        const before = latest.value?.phase ?? "sync";
        const isForward = PHASES.indexOf(command.phase) >= PHASES.indexOf(before);
        invariant(isForward, `the worker of pod ${uid} goes back from ${before} to ${command.phase}`);
        noteAllocation(memory.allocation, command, config.resizableParts);
        latest.set(command);
      }),
      switchAndJoin<PodCommand, PodOutput>({
        key: phaseKey,
        run: (command, stop) =>
          runPhase(contextOf(command.identity), command, stop, latest).pipe(staged(stageOf(command.identity))),
        joinDeadlineMs: config.joinDeadlineMs,
        clock: ports.clock,
        onLeak: ({ phase, identity }) => {
          ports.telemetry.metrics.count("rxlet_leaked_calls_total");
          const fields = { ...podFields(contextOf(identity)), phase };
          ports.telemetry.log.warn("A pod phase did not end in time and was abandoned", fields);
        },
      }),
    );
    const commanded$ = latest.changes$;
    const inspected$ = state.runtimeStatuses.changes$(uid);
    const statuses$ = podStatusStream(contextOf, commanded$, inspected$);
    const probes$ = podProbes(contextOf, commanded$, inspected$);
    const journal = { uid, probing: memory.probing, config, ports };
    const times = { uid, reported: memory.reported, config, ports };
    // Verdicts and times of an earlier kubelet are restored before any decision or status about running containers.
    const isAdopted = state.listing.value?.pods.has(uid) === true;
    const restored$ = isAdopted ? merge(restoreVerdicts(journal), restoreStatusTimes(times)) : EMPTY;
    // Once it is being stopped the directory may go at any time.
    const stopping$ = commanded$.pipe(filter(({ phase }) => phase !== "sync"));
    const keepers = [keepGrants(contextOf, commanded$), keepVerdicts(journal), keepStatusTimes(times)];
    const kept$ = inParallel<Observable<PodOutput>, PodOutput>(keepers, (keeper$) => keeper$).pipe(
      takeUntil(stopping$),
    );
    const objects$ = followObjects(commanded$, services.objects, memory.objects);
    const volumes$ = services.volumes.run(uid, commanded$, memory);
    const facts$ = memory.timeline.facts.pipe(map((fact): PodOutput => ({ kind: "fact", uid, fact })));
    const parts = [facts$, objects$, volumes$, phases$, statuses$, probes$, kept$];
    const running$ = inParallel(parts, (part$) => part$);
    return (restored$ === EMPTY ? running$ : concat(restored$, running$)).pipe(
      takeWhile((output) => output.kind !== "removed", true),
      finalize(() => memory.effects.over.abort()),
    );
  });
}

const stageOf = ({ namespace, name }: PodIdentity): Stage => ({
  kind: "pod_worker",
  text: `pod worker ${namespace}/${name}`,
});

/** Commands with one key are one phase: they change its input, not what runs. */
function phaseKey(command: PodCommand): string {
  switch (command.phase) {
    case "sync":
      return "sync";
    case "terminating":
      return `terminating/${command.graceSeconds ?? "spec"}`;
    case "terminated":
      return `terminated/${command.remove}`;
    default:
      return unreachable(command);
  }
}

function runPhase(
  context: PodContext,
  command: PodCommand,
  stop: AbortSignal,
  latest: LateCell<PodCommand>,
): Observable<PodOutput> {
  const { identity, state, config, ports } = context;
  const volumes$ = derived([state.volumes.changes$(identity.uid)], () =>
    volumeStage(state.volumes.get(identity.uid) ?? NO_VOLUMES),
  );
  const seen$ = whenever(state.runtimeStatuses.changes$(identity.uid), state.runtimeState.changes$, volumes$);
  const looked$ = holdsClaims(context, command.pod) ? whenever(seen$, state.draDrivers.changes$) : seen$;
  switch (command.phase) {
    case "sync": {
      const commands$ = latest.changes$.pipe(filter(({ phase }) => phase === "sync"));
      const { probing, objects } = context.memory;
      // A pod that waits for an object it refers to is synced once the object is there.
      const objects$ = derived(
        [latest.changes$, objects.changes$, state.runtimeClasses.changes$],
        () => latest.value?.pod && objectsReadBy(latest.value.pod, objects.value, state.runtimeClasses.value),
        sameValue,
      );
      return reconcile({
        triggers$: whenever(commands$, looked$, probing.verdicts.changes$, objects$).pipe(takeUntil(aborted(stop))),
        run: () => syncLatest(context, latest.value, stop).pipe(staged(stageOf(identity))),
        wakeAfterMs: () =>
          // A pod that is not synced keeps its wake-up time, which would wake this loop without end.
          Math.min(config.syncPeriodMs, (isToSync(context, latest.value) ? wakeAfter(context) : undefined) ?? Infinity),
        clock: ports.clock,
      });
    }
    case "terminating":
      // Cancelling a stop under way is safe: the next round asks again, with the grace then in force.
      return terminatePod(context, command, looked$).pipe(takeUntil(aborted(stop)));
    case "terminated":
      return command.remove
        ? cleanUpPod(context, command, looked$).pipe(takeUntil(aborted(stop)))
        : reclaimPod(context, command.pod, looked$).pipe(takeUntil(aborted(stop)));
    default:
      return unreachable(command);
  }
}

type SyncCommand = PodCommand & { readonly phase: "sync" };

/** A sync, unless there is nothing left to decide, or nobody to carry it out. */
const syncLatest = (context: PodContext, command: PodCommand | undefined, stop: AbortSignal): Observable<PodOutput> =>
  isToSync(context, command) ? syncPod(context, command, stop) : EMPTY;

const isToSync = (context: PodContext, command: PodCommand | undefined): command is SyncCommand =>
  command?.phase === "sync" &&
  !isTerminalPhase(command.pod.status?.phase) &&
  canSync(context) &&
  !(Number(deadlineLeftMs(context, command.pod)) <= 0);

const canSync = ({ memory, state }: PodContext): boolean =>
  !memory.reported.finished && state.runtimeState.value.runtimeProblems.length === 0;

/** The pod's runtime status; undefined while the pod is listed but not yet inspected. */
function statusOf(
  identity: PodIdentity,
  { listing, runtimeStatuses: statuses }: PodServicesState,
): PodRuntimeStatus | undefined {
  const { uid, name, namespace } = identity;
  const known = statuses.get(uid);
  if (known !== undefined) return known;
  return listing.value?.pods.has(uid) === true ? undefined : emptyRuntimeStatus(uid, name, namespace, 0);
}
