/**
 * The steps of a sync, which carry out its plan in this order:
 *
 *     resetAllContainers      a container's rule restarts all of them; the next sync starts them
 *     keepSize                write the allocation
 *     killChangedSandbox      with everything in it
 *     killUnwantedContainers
 *     awaitVolumes            stop here until they are mounted
 *     awaitClaims             stop here until its ResourceClaims are prepared
 *     provideSandbox
 *     putSizeInForce          resize containers that stay
 *     startInitContainers     records each restart in the crash-loop backoffs
 *     startContainers         records them too
 *     pruneOldAttempts
 *     concludeSize            report that a resize is complete
 *
 * A step emits its failures, and "stop" last to skip the steps after it. An aborted sync starts no further step.
 * `conclude` runs in any case. Upstream: kuberuntime SyncPod.
 */
import { concat, defer, EMPTY, from, ignoreElements, type Observable, of, takeWhile, tap } from "rxjs";
import type { ResizePlan } from "../../core/allocation/resizePlan.ts";
import type { Pod } from "../../core/api.ts";
import { registerRestart, syncErrorDelayMs } from "../../core/backoff.ts";
import { type ErrorCode, type KubeletError, kubeletError } from "../../core/errors.ts";
import { findNamed } from "../../core/findNamed.ts";
import { type MonotonicMs, monotonicMs } from "../../core/ids.ts";
import { hasClaims } from "../../core/dra/podClaims.ts";
import { findContainer } from "../../core/pod/containers.ts";
import { containerGraceSeconds } from "../../core/pod/gracePeriod.ts";
import { startsOf } from "../../core/pod/podActions.ts";
import type { ContainerStart, PodActions } from "../../core/pod/podActionsTypes.ts";
import { backOffEvent, sandboxChangedEvent } from "../../core/pod/podEvents.ts";
import type { Result } from "../../core/result.ts";
import type { PodRuntimeStatus } from "../../core/runtime/podRuntimeStatus.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { type PodContext, podEvent, podFields } from "../podContext.ts";
import { failuresAt, noteFailure } from "../podFailures.ts";
import { wakeBy } from "../podMemories.ts";
import { eventOutput, type PodOutput } from "../podOutputs.ts";
import { inspectedLater, type InspectLater } from "./inspectLater.ts";
import { isAllocationKept, keepAllocation } from "./keepAllocation.ts";
import { killContainer, killRunningPod } from "./killPod.ts";
import { concludeResize, resizePod } from "./podResize.ts";
import { preparePodClaims } from "./claimSteps.ts";
import { pruneContainers } from "./removeDeadContainers.ts";
import { resetContainers } from "./resetContainers.ts";
import { andThen, failed, type RoundFailure, type RoundOutput } from "./roundFailure.ts";
import { type Ahead, prepareAhead } from "./prepareAhead.ts";
import { createSandbox, existingSandbox, type Sandbox } from "./sandbox.ts";
import { startContainer } from "./startContainer.ts";
import { steeredPolicy } from "./steerCrashLoop.ts";

/** The state of a running sync, which its steps share. */
export interface SyncRun {
  readonly context: PodContext;
  readonly pod: Pod;
  readonly runtime: PodRuntimeStatus;
  readonly actions: PodActions;
  readonly resize: PodResize;
  /** Names of the volumes that are not mounted yet. */
  readonly unmounted: readonly string[];
  readonly stop: AbortSignal;
  /** The failures of the steps so far. */
  readonly errors: KubeletError[];
  sandbox: Sandbox | undefined;
  /** Preparations beside the sandbox, by the name of the container. */
  readonly ahead: Map<string, Ahead>;
  /**
   * Names of the containers that did not start. Containers that wait for their image are absent: the next round must
   * run to report their backoff.
   */
  readonly failed: Set<string>;
  /** The start of the pod, which begins with its sandbox and fails with the first failure after it. */
  podStart: "none" | "begun" | "failed";
}

/** The resize to perform; undefined without a live sandbox, since new containers get the right size. */
export type PodResize = { readonly plan: ResizePlan | undefined } | undefined;

/** An output of a step, or "stop": the steps after it are skipped. */
type StepOutput = RoundOutput | InspectLater | "stop";

/** A step returns EMPTY if it has nothing to do: most syncs find nothing at all. */
type Step = (run: SyncRun) => Observable<StepOutput>;

/** Runs the steps up to the first that says "stop", and concludes the sync. */
export const syncSteps = (run: SyncRun): Observable<RoundOutput> =>
  inSequence([runSteps, conclude], (part) => part(run));

const runSteps = (run: SyncRun): Observable<RoundOutput> =>
  inSequence(STEPS, (step) => (run.stop.aborted ? EMPTY : step(run))).pipe(
    takeWhile(isOutput),
    inspectedLater(run.context),
    tap((output) => {
      if (output.kind === "failed") run.errors.push(output.error);
    }),
  );

const isOutput = (output: StepOutput): output is RoundOutput | InspectLater => output !== "stop";

const STOP$ = of("stop" as const);

/** Emits "stop" after a step that failed. */
const stopIfFailed = andThen((errors) => (errors.length > 0 ? STOP$ : EMPTY));

const STEPS: readonly Step[] = [
  resetAllContainers,
  keepSize,
  killChangedSandbox,
  killUnwantedContainers,
  awaitVolumes,
  awaitClaims,
  provideSandbox,
  putSizeInForce,
  startInitContainers,
  startContainers,
  pruneOldAttempts,
  concludeSize,
];

/** Stops and removes all containers after the exit of one whose rule says so; the next sync starts them. */
function resetAllContainers({ context, pod, actions, stop }: SyncRun): Observable<StepOutput> {
  if (actions.containersToReset.length === 0) return EMPTY;
  return concat(resetContainers(context, pod, actions.containersToReset, stop), STOP$);
}

/** Writes the allocation first, so that a later kubelet knows every size in force. */
function keepSize({ context }: SyncRun): Observable<StepOutput> {
  return isAllocationKept(context) ? EMPTY : keepAllocation(context).pipe(stopIfFailed);
}

/** Stops a sandbox that changed, with everything in it. */
function killChangedSandbox({ context, pod, runtime, actions, stop }: SyncRun): Observable<StepOutput> {
  if (!actions.killPod) return EMPTY;
  const isChanged = actions.createSandbox && actions.sandboxId !== undefined;
  return concat(
    isChanged ? of(eventOutput(sandboxChangedEvent(pod))) : EMPTY,
    killRunningPod(context, pod, runtime, { stop }).pipe(stopIfFailed),
    actions.createSandbox ? EMPTY : STOP$,
  );
}

/** Stops containers whose definition changed, that failed their probes, or that are not in the spec. */
function killUnwantedContainers({ context, pod, actions, stop }: SyncRun): Observable<StepOutput> {
  if (actions.killPod || actions.containersToKill.length === 0) return EMPTY;
  const killed$ = inSequence(actions.containersToKill, (kill) => {
    const spec = findContainer(pod.spec, kill.name);
    const graceSeconds = containerGraceSeconds(pod, spec, kill.reason, undefined);
    return killContainer(context, pod, kill, graceSeconds, { stop });
  });
  return killed$.pipe(stopIfFailed);
}

/** Creates nothing before the volumes of the pod are mounted; their change triggers the next sync. */
function awaitVolumes({ unmounted, actions }: SyncRun): Observable<StepOutput> {
  return unmounted.length > 0 && makesSomething(actions) ? STOP$ : EMPTY;
}

const makesSomething = (actions: PodActions): boolean => actions.createSandbox || startsOf(actions).length > 0;

/** No container of a pod starts before its claims are prepared. */
function awaitClaims({ context, pod, actions, stop }: SyncRun): Observable<StepOutput> {
  if (!hasClaims(pod) || !makesSomething(actions)) return EMPTY;
  return preparePodClaims(context, pod, actions, stop).pipe(stopIfFailed);
}

/** Fails the sync before anything is made. */
function refuse({ context }: SyncRun, code: ErrorCode, reason: string, message: string): Observable<StepOutput> {
  const failure = failed(kubeletError(code, message, { reason }));
  return of<StepOutput[]>(failure, podEvent(context, "Warning", reason, message), "stop");
}

/** Provides the sandbox to run in, if anything is to be started. */
function provideSandbox(run: SyncRun): Observable<StepOutput> {
  const { context, pod, runtime, actions } = run;
  const failures: RoundFailure[] = [];
  const provided = (outcome: Result<Sandbox>): void => {
    if (outcome.ok) run.sandbox = outcome.value;
    else {
      failures.push(failed(outcome.error));
      noteFailedStart(run);
    }
  };
  const unlessProvided$ = defer(() => (run.sandbox === undefined ? from([...failures, "stop" as const]) : EMPTY));
  if (!actions.createSandbox) {
    if (actions.sandboxId === undefined || startsOf(actions).length === 0) return EMPTY;
    const found$ = existingSandbox(context, pod, runtime, actions.sandboxId).pipe(tap(provided), ignoreElements());
    return concat(found$, unlessProvided$);
  }
  const problems = context.state.runtimeState.value.networkProblems;
  if (problems.length === 0 || pod.spec.hostNetwork === true) {
    run.podStart = "begun";
    const ahead$ = prepareAhead(context, pod, actions, run.ahead);
    return concat(createSandbox({ context, pod, actions, stop: run.stop, made: provided, ahead$ }), unlessProvided$);
  }
  return refuse(run, "Unavailable", "NetworkNotReady", `network is not ready: ${problems.join(", ")}`);
}

const noteFailedStart = (run: SyncRun): void => {
  if (run.podStart === "begun") run.podStart = "failed";
};

/** Containers that stay get their allocated size, before others start beside them. */
function putSizeInForce({ context, pod, runtime, actions, resize }: SyncRun): Observable<RoundOutput> {
  const { sandboxId } = actions;
  if (resize?.plan === undefined || sandboxId === undefined) return EMPTY;
  return resizePod(context, { pod, runtime, sandboxId, plan: resize.plan });
}

/** A resize is over when nothing of it was left to do. */
function concludeSize({ context, pod, resize }: SyncRun): Observable<RoundOutput> {
  if (resize === undefined || resize.plan !== undefined) return EMPTY;
  const outputs = concludeResize(context, pod);
  return outputs.length === 0 ? EMPTY : concat(from(outputs), keepAllocation(context));
}

/** Starts init containers, one after the other, up to the first failure. */
function startInitContainers(run: SyncRun): Observable<StepOutput> {
  return startEach(run, run.actions.initContainersToStart);
}

/** Starts ephemeral and regular containers in the order of the spec. */
function startContainers(run: SyncRun): Observable<StepOutput> {
  const { ephemeralContainersToStart, containersToStart } = run.actions;
  return startEach(run, [...ephemeralContainersToStart, ...containersToStart]);
}

function startEach(run: SyncRun, starts: readonly ContainerStart[]): Observable<StepOutput> {
  const { sandbox, stop } = run;
  if (starts.length === 0 || sandbox === undefined) return EMPTY;
  return inSequence(starts, (start) => (stop.aborted ? EMPTY : startOne(run, start, sandbox))).pipe(
    takeWhile(isOutput, true),
  );
}

function startOne(run: SyncRun, start: ContainerStart, sandbox: Sandbox): Observable<StepOutput> {
  const { context, pod, stop } = run;
  const { memory, ports } = context;
  const container = findContainer(pod.spec, start.name) ?? findNamed(pod.spec.ephemeralContainers, start.name);
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
  const outcome: StepOutput[] = [];
  const started$ = startContainer({
    context,
    pod,
    container,
    start,
    sandbox,
    stop,
    ahead: run.ahead.get(container.name),
    failed: (error, retryAt) => {
      noteFailedStart(run);
      wakeBy(memory.rounds, retryAt);
      if (retryAt === undefined) {
        run.failed.add(container.name);
        outcome.push(failed(error));
      }
      // A fresh failure is retried as after any failed sync, so that its backoff shows in the status.
      else if (error.code !== "Backoff") wakeBy(memory.rounds, retrySyncAt(context, [error]));
      // A failed init container stops those after it, a failed regular one does not.
      if (start.kind === "init") outcome.push("stop");
    },
  });
  return concat(
    started$,
    defer(() => from(outcome)),
  );
}

/** Removes old attempts and sandboxes that nobody needs any more. */
function pruneOldAttempts({ context, runtime }: SyncRun): Observable<RoundOutput> {
  return pruneContainers(context, runtime);
}

/** Concludes the sync: reports the containers that wait, and sets the next wake-up. */
function conclude({ context, pod, actions, podStart, errors, stop }: SyncRun): Observable<PodOutput> {
  const { memory, ports } = context;
  const outputs: PodOutput[] = [];
  memory.rounds.restarting.set(false);
  const reported = new Map(failuresAt(memory));
  // A pod that terminates meanwhile may already be reported as Succeeded: none of its containers waits any more.
  for (const wait of stop.aborted ? [] : actions.waits) {
    if (reported.get(wait.name)?.error.message !== wait.error.message) {
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
