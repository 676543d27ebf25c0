/**
 * One sync of a pod that should run, in the steps of the kubelet. Decides first (computePodActions), acts after;
 * a failed step ends the sync and is told as the container's waiting reason. Counterpart: kuberuntime SyncPod.
 */
import { concat, EMPTY, from, ignoreElements, type Observable, of, tap } from "rxjs";
import { planResize, type ResizePlan } from "../../core/allocation/resizePlan.ts";
import type { Pod } from "../../core/api.ts";
import { registerRestart, syncErrorDelayMs } from "../../core/backoff.ts";
import { objectsReadBy } from "../../core/configObjects.ts";
import { type KubeletError, kubeletError } from "../../core/errors.ts";
import { type ContainerId, type MonotonicMs, monotonicMs, podUid } from "../../core/ids.ts";
import { claimedDevices, unpreparedDevices } from "../../core/pod/deviceClaims.ts";
import { computePodActions } from "../../core/pod/podActions.ts";
import { podMeaning } from "../../core/pod/podUpdate.ts";
import type { ContainerStart, PodActions } from "../../core/pod/podActionsTypes.ts";
import { backOffEvent, sandboxChangedEvent } from "../../core/pod/podEvents.ts";
import { containerGraceSeconds } from "../../core/pod/gracePeriod.ts";
import type { PodCommand } from "../../core/pod/podRegistry.ts";
import { newestContainer } from "../../core/pod/restartRules.ts";
import type { Result } from "../../core/result.ts";
import { NO_VOLUMES, unmountedVolumes } from "../../core/volume/podVolumes.ts";
import { usedVolumes } from "../../core/volume/volumeLayout.ts";
import type { PodRuntimeStatus } from "../../core/runtime/podRuntimeStatus.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { steer, steeredPolicy } from "./steerCrashLoop.ts";
import { isIdle, isStillIdle, syncBasis } from "./idleSync.ts";
import { killContainer, killRunningPod } from "./killPod.ts";
import { type PodContext, podEvent, podFields } from "../podContext.ts";
import { failuresAt, noteFailure } from "../podFailures.ts";
import { wakeBy } from "../podMemories.ts";
import { measureRun, observeIdleSync, observeWorkerStart } from "./podMetrics.ts";
import { isAllocationKept, keepAllocation } from "./keepAllocation.ts";
import { eventOutput, type PodOutput } from "../podOutputs.ts";
import { concludeResize, confirmedSizes, noteSizes, resizePod } from "./podResize.ts";
import { podRound } from "./podRound.ts";
import { pruneContainers } from "./removeDeadContainers.ts";
import { resetContainers } from "./resetContainers.ts";
import { createSandbox, existingSandbox, type Sandbox } from "./sandbox.ts";
import { startContainer } from "./startContainer.ts";
import { findNamed } from "../../core/findNamed.ts";

/** A sync under way: what its steps hand to the next. */
interface SyncRun {
  readonly context: PodContext;
  readonly pod: Pod;
  readonly runtime: PodRuntimeStatus;
  readonly actions: PodActions;
  readonly resize: PodResize;
  /** Names of the volumes that are not mounted yet. */
  readonly unmounted: readonly string[];
  readonly stop: AbortSignal;
  readonly errors: KubeletError[];
  sandbox: Sandbox | undefined;
  /**
   * Containers that did not start, by name; but for those that wait for their image, which the next round has to tell.
   */
  readonly failed: Set<string>;
  /** The start of the pod, which begins with its sandbox and fails with the first failure after it. */
  podStart: "none" | "begun" | "failed";
  /** Set by a step that makes the following ones pointless. */
  halted: boolean;
}

/** The resize to perform; undefined without a live sandbox, since new containers get the right size. */
type PodResize = { readonly plan: ResizePlan | undefined } | undefined;

/** Syncs once from the state as last inspected. Never errors; ends early between two effects when `stop` is aborted. */
export function syncPod(
  context: PodContext,
  command: PodCommand & { readonly phase: "sync" },
  stop: AbortSignal,
): Observable<PodOutput> {
  const { memory, ports } = context;
  const { pod } = command;
  if (isStillIdle(context, command)) {
    observeIdleSync(context);
    return EMPTY;
  }
  const basis = syncBasis(context, command);
  memory.rounds.idleBasis = undefined;
  let run: SyncRun | undefined;
  const round$ = podRound(context, {
    plan: (runtime) => {
      const sizes = confirmedSizes(context, pod, runtime);
      const resizePlan = planResize({ pod, runtime, sizes, node: context.node, config: context.config });
      const actions = computePodActions({
        pod,
        runtime,
        verdicts: memory.probing.verdicts.value,
        resizeRestarts: new Set(resizePlan?.restarts),
        backoffs: memory.crashLoop.backoffs,
        backoffPolicy: steeredPolicy(context, pod),
        now: ports.clock.monotonicMs(),
      });
      const resize: PodResize = actions.killPod || actions.createSandbox ? undefined : { plan: resizePlan };
      const isResizing = memory.allocation.resizing.value !== undefined;
      const objects = objectsReadBy(pod, memory.objects.value, context.state.runtimeClasses.value);
      const unmounted = unmountedOf(context, pod);
      const runtimeState = context.state.runtimeState.value;
      return { pod, objects, runtimeState, actions, sizes, resize, isResizing, unmounted };
    },
    // A status that has come to the server and back is no reason to try again.
    essence: ({ actions, pod: wanted, sizes: _, ...basis }) => ({
      ...basis,
      wanted: podMeaning(wanted),
      actions: essenceOf(actions),
    }),
    act: ({ actions, sizes, resize, unmounted }, runtime, errors) => {
      const operation = operationOf(memory.rounds.synced, command);
      memory.rounds.synced = command;
      noteSizes(memory.allocation, sizes);
      if (operation === "create") observeWorkerStart(context, pod);
      memory.rounds.replacing = instancesReplacedBy(actions, runtime);
      memory.rounds.restarting.set(stopsToStartAgain(actions));
      const begun = { context, pod, runtime, actions, resize, unmounted, stop, errors };
      run = { ...begun, sandbox: undefined, failed: new Set(), podStart: "none", halted: false };
      const carriedOut$ = carryOut(run).pipe(measureRun(context, operation));
      if (!isIdle(actions) || resize?.plan !== undefined) return carriedOut$;
      const settle = (): void => {
        if (errors.length === 0) memory.rounds.idleBasis = basis;
      };
      return carriedOut$.pipe(tap({ complete: settle }));
    },
    left: (plan) => (run === undefined || run.failed.size === 0 ? undefined : { ...plan, ...leftBy(run) }),
  });
  return inSequence([() => steer(context, pod), () => round$], (next) => next());
}

/** Whatever was cut short: what there is to conclude is concluded. */
const carryOut = (run: SyncRun): Observable<PodOutput> =>
  inSequence(STEPS, (step) => ((run.halted || run.stop.aborted) && step !== conclude ? EMPTY : step(run)));

/** In this order. One with nothing to do answers EMPTY: most syncs find nothing at all. */
const STEPS: readonly ((run: SyncRun) => Observable<PodOutput>)[] = [
  resetAllContainers,
  keepSize,
  killChangedSandbox,
  killUnwantedContainers,
  awaitVolumes,
  awaitDevices,
  provideSandbox,
  putSizeInForce,
  startInitContainers,
  startContainers,
  pruneOldAttempts,
  concludeSize,
  conclude,
];

/**
 * Returns the remaining actions: everything before a failed start was done, so only containers that did not start
 * remain.
 */
function leftBy({ actions, failed }: SyncRun): { readonly actions: PodActions; readonly resize: PodResize } {
  const isLeft = ({ name }: ContainerStart): boolean => failed.has(name);
  const { initContainersToStart, ephemeralContainersToStart, containersToStart } = actions;
  return {
    actions: {
      ...actions,
      killPod: false,
      createSandbox: false,
      containersToKill: [],
      initContainersToStart: initContainersToStart.filter(isLeft),
      ephemeralContainersToStart: ephemeralContainersToStart.filter(isLeft),
      containersToStart: containersToStart.filter(isLeft),
    },
    resize: { plan: undefined },
  };
}

const stopsToStartAgain = ({ containersToKill, containersToReset, killPod, createSandbox }: PodActions): boolean =>
  containersToKill.length + containersToReset.length > 0 || (killPod && createSandbox);

/** Attempts are counted on by what a failed try leaves behind: a plan that differs in them alone is the same plan. */
function essenceOf(actions: PodActions): unknown {
  const { killPod, createSandbox, containersToKill, waits, containersToReset } = actions;
  const starts = startsOf(actions).map(({ name, backoff }) => ({ name, backoff }));
  const resets = containersToReset.map(({ container, kill }) => ({ id: container.id, kill }));
  return { killPod, createSandbox, containersToKill, waits, starts, resets };
}

const startsOf = (actions: PodActions): readonly ContainerStart[] => [
  ...actions.initContainersToStart,
  ...actions.ephemeralContainersToStart,
  ...actions.containersToStart,
];

/** The newest instances, as far as there are any, of the containers to be started. */
const instancesReplacedBy = (actions: PodActions, runtime: PodRuntimeStatus): ReadonlySet<ContainerId> =>
  new Set(startsOf(actions).flatMap(({ name }) => newestContainer(runtime, name)?.id ?? []));

function operationOf(synced: PodCommand | undefined, command: PodCommand): "create" | "update" | "sync" {
  if (synced === undefined) return "create";
  return synced === command ? "sync" : "update";
}

/** Step 1: a container's end restarts all of them; the next round starts them. */
function resetAllContainers(run: SyncRun): Observable<PodOutput> {
  const { context, pod, actions, errors, stop } = run;
  if (actions.containersToReset.length === 0) return EMPTY;
  run.halted = true;
  return resetContainers(context, pod, actions.containersToReset, errors, stop);
}

/** Step 2: a sandbox that no longer fits goes, with everything in it. */
function killChangedSandbox(run: SyncRun): Observable<PodOutput> {
  const { context, pod, runtime, actions, errors, stop } = run;
  if (!actions.killPod) return EMPTY;
  const told =
    actions.createSandbox && actions.sandboxId !== undefined ? of(eventOutput(sandboxChangedEvent(pod))) : EMPTY;
  return concat(told, killRunningPod(context, pod, runtime, errors, { stop })).pipe(
    tap({
      complete: () => {
        run.halted = errors.length > 0 || !actions.createSandbox;
      },
    }),
  );
}

/** Step 3: containers whose definition changed, that failed their probes, or that nobody asked for. */
function killUnwantedContainers(run: SyncRun): Observable<PodOutput> {
  const { context, pod, actions, errors, stop } = run;
  if (actions.killPod || actions.containersToKill.length === 0) return EMPTY;
  return inSequence(actions.containersToKill, (kill) => {
    const spec = findNamed(pod.spec.initContainers, kill.name) ?? findNamed(pod.spec.containers, kill.name);
    const graceSeconds = containerGraceSeconds(pod, spec, kill.reason, undefined);
    return killContainer(context, pod, kill, graceSeconds, errors, { stop });
  }).pipe(
    tap({
      complete: () => {
        run.halted = errors.length > 0;
      },
    }),
  );
}

/** Creates nothing before the volumes of the pod are mounted; their change triggers the next sync. */
function awaitVolumes(run: SyncRun): Observable<PodOutput> {
  run.halted = run.unmounted.length > 0 && (run.actions.createSandbox || startsOf(run.actions).length > 0);
  return EMPTY;
}

const unmountedOf = ({ state: { volumes } }: PodContext, pod: Pod): readonly string[] =>
  unmountedVolumes(
    usedVolumes(pod).map(({ name }) => name),
    volumes.get(podUid(pod.metadata.uid)) ?? NO_VOLUMES,
  );

/** No container of a pod starts without the devices it claims. */
function awaitDevices(run: SyncRun): Observable<PodOutput> {
  const { context, pod, actions, errors } = run;
  const claims = claimedDevices(pod);
  if (claims.length === 0 || (!actions.createSandbox && startsOf(actions).length === 0)) return EMPTY;
  const message = unpreparedDevices(claims);
  errors.push(kubeletError("Unimplemented", message, { reason: "FailedPrepareDynamicResources" }));
  run.halted = true;
  return of(podEvent(context, "Warning", "FailedPrepareDynamicResources", message));
}

/** Step 4: the sandbox to run in, if anything is to be started. */
function provideSandbox(run: SyncRun): Observable<PodOutput> {
  const { context, pod, runtime, actions } = run;
  const provided = (outcome: Result<Sandbox>): void => {
    if (outcome.ok) run.sandbox = outcome.value;
    else {
      run.errors.push(outcome.error);
      noteFailedStart(run);
    }
    run.halted = !outcome.ok;
  };
  if (!actions.createSandbox) {
    if (actions.sandboxId === undefined || startsOf(actions).length === 0) return EMPTY;
    return existingSandbox(context, pod, runtime, actions.sandboxId).pipe(tap(provided), ignoreElements());
  }
  const problems = context.state.runtimeState.value.networkProblems;
  if (problems.length === 0 || pod.spec.hostNetwork === true) {
    run.podStart = "begun";
    return createSandbox(context, pod, actions, run.stop, provided);
  }
  const message = `network is not ready: ${problems.join(", ")}`;
  run.errors.push(kubeletError("Unavailable", message, { reason: "NetworkNotReady" }));
  run.halted = true;
  return of(podEvent(context, "Warning", "NetworkNotReady", message));
}

const noteFailedStart = (run: SyncRun): void => {
  if (run.podStart === "begun") run.podStart = "failed";
};

/** Writes the allocation first, so that a later kubelet knows every size in force. */
function keepSize(run: SyncRun): Observable<PodOutput> {
  const { context, errors } = run;
  if (isAllocationKept(context)) return EMPTY;
  return keepAllocation(context, errors).pipe(
    tap({
      complete: () => {
        run.halted = errors.length > 0;
      },
    }),
  );
}

/** Containers that stay get their allocated size, before others start beside them. */
function putSizeInForce({ context, pod, runtime, actions, resize, errors }: SyncRun): Observable<PodOutput> {
  const { sandboxId } = actions;
  if (resize?.plan === undefined || sandboxId === undefined) return EMPTY;
  return resizePod(context, { pod, runtime, sandboxId, plan: resize.plan }, errors);
}

/** A resize is over when nothing of it was left to do. */
function concludeSize({ context, pod, resize, errors }: SyncRun): Observable<PodOutput> {
  if (resize === undefined || resize.plan !== undefined) return EMPTY;
  const outputs = concludeResize(context, pod);
  return outputs.length === 0 ? EMPTY : concat(from(outputs), keepAllocation(context, errors));
}

/** Step 5: init containers, one after the other. */
function startInitContainers(run: SyncRun): Observable<PodOutput> {
  return startEach(run, run.actions.initContainersToStart);
}

/** Step 6: ephemeral and regular containers, in the order of the spec. */
function startContainers(run: SyncRun): Observable<PodOutput> {
  const { ephemeralContainersToStart, containersToStart } = run.actions;
  return startEach(run, [...ephemeralContainersToStart, ...containersToStart]);
}

function startEach(run: SyncRun, starts: readonly ContainerStart[]): Observable<PodOutput> {
  return inSequence(starts, (start) =>
    run.halted || run.stop.aborted || run.sandbox === undefined ? EMPTY : startOne(run, start, run.sandbox),
  );
}

function startOne(run: SyncRun, start: ContainerStart, sandbox: Sandbox): Observable<PodOutput> {
  const { context, pod, stop } = run;
  const { memory, ports } = context;
  const { initContainers, containers, ephemeralContainers } = pod.spec;
  const container =
    findNamed(initContainers, start.name) ??
    findNamed(containers, start.name) ??
    findNamed(ephemeralContainers, start.name);
  if (container === undefined) return EMPTY;
  if (start.backoff !== undefined) {
    const { key, exitedAt } = start.backoff;
    const now = ports.clock.monotonicMs();
    memory.crashLoop.backoffs = registerRestart(
      memory.crashLoop.backoffs,
      key,
      exitedAt,
      now,
      steeredPolicy(context, pod),
    );
  }
  return startContainer({
    context,
    pod,
    container,
    start,
    sandbox,
    stop,
    failed: (error, retryAt) => {
      noteFailedStart(run);
      wakeBy(memory.rounds, retryAt);
      if (retryAt === undefined) {
        run.failed.add(container.name);
        run.errors.push(error);
      }
      // A fresh failure is retried as after any failed sync, so that its backoff shows in the status.
      else if (error.code !== "Backoff") wakeBy(memory.rounds, retrySyncAt(context, [error]));
      // A failed init container stops those after it, a failed regular one does not.
      if (start.kind === "init") run.halted = true;
    },
  });
}

/** After the steps: old attempts nobody needs any more go. */
function pruneOldAttempts({ context, runtime, errors }: SyncRun): Observable<PodOutput> {
  return pruneContainers(context, runtime, errors);
}

/** Concludes the sync: reports the containers that wait, and sets the next wake-up. */
function conclude({ context, pod, actions, podStart, errors }: SyncRun): Observable<PodOutput> {
  const { memory, ports } = context;
  const outputs: PodOutput[] = [];
  memory.rounds.restarting.set(false);
  const told = new Map(failuresAt(memory));
  for (const wait of actions.waits) {
    if (told.get(wait.name)?.error.message !== wait.error.message) {
      outputs.push(eventOutput(backOffEvent(pod, wait.name)));
      const inMs = Math.round(wait.until - ports.clock.monotonicMs());
      ports.telemetry.log.info("Container waits to be restarted", {
        ...podFields(context),
        container: wait.name,
        inMs,
      });
    }
    noteFailure(memory, wait.name, wait.error, wait.until);
    wakeBy(memory.rounds, wait.until);
  }
  // User namespaces fail when containers are made, as often as when the sandbox is.
  if (podStart === "failed" && pod.spec.hostUsers === false)
    ports.telemetry.metrics.count("kubelet_started_user_namespaced_pods_errors_total");
  if (errors.length > 0) ports.telemetry.log.warn("Pod sync ended with errors", { ...podFields(context), errors });
  return outputs.length === 0 ? EMPTY : from(outputs);
}

/** When a sync that ended with these errors is tried again. */
const retrySyncAt = ({ ports }: PodContext, errors: readonly KubeletError[]): MonotonicMs =>
  monotonicMs(ports.clock.monotonicMs() + syncErrorDelayMs(errors, ports.rng.next()));
