/**
 * Keeps processes of the node in their configured cgroups, and sets the limits of the kubelet's own process. Touches no
 * cgroup that is not configured. Upstream: setupNode and Start of pkg/kubelet/cm/container_manager_linux.go.
 */
import {
  catchError,
  concat,
  defer,
  EMPTY,
  ignoreElements,
  merge,
  type Observable,
  of,
  switchMap,
  throwError,
  toArray,
} from "rxjs";
import { type KubeletError, kubeletError, toKubeletError } from "../../core/errors.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { inSequence } from "../../operators/inSequence.ts";
import { pollAfter } from "../../operators/pollAfter.ts";
import type { Call } from "../../ports/call.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { Processes } from "../../ports/processes.ts";
import type { Logger } from "../../ports/telemetry.ts";

/** Upstream's periods: for configured cgroups, and for the score alone. */
const ENSURE_PERIOD_MS = 60_000;
const SCORE_PERIOD_MS = 5 * 60_000;
/** Rounds that look for processes in the root cgroup: new ones may start meanwhile. */
const MAX_ROUNDS = 11;

const FILES_STEP = "Failed to set rlimit on max file handles: raising it takes prlimit and CAP_SYS_RESOURCE";
const SCORE_STEP = "Failed to apply oom_score_adj of the kubelet: lowering it takes CAP_SYS_RESOURCE";

type Ports = Pick<KubeletPorts, "clock" | "telemetry" | "processes">;

/** Runs while subscribed. Never emits, never errors. */
export function nodeProcesses(
  { clock, telemetry, processes }: Ports,
  { nodeCgroups: { kubelet, system }, ownProcess }: Pick<KubeletConfig, "nodeCgroups" | "ownProcess">,
): Observable<never> {
  if (processes === undefined || ownProcess === undefined) return EMPTY;
  const tolerated = tolerance(telemetry.log);
  const { ownPid } = processes;
  const score$ = processes.setOomScoreAdj(ownPid, ownProcess.oomScoreAdj);
  const scored$ = tolerated(SCORE_STEP, onHost(processes, score$));
  const ensured$ = concat(
    system === ""
      ? EMPTY
      : tolerated(`Failed to ensure state of systemCgroups ${system}`, moveFromRoot(processes, system)),
    kubelet === ""
      ? EMPTY
      : tolerated(
          `Failed to ensure state of kubeletCgroups ${kubelet}`,
          onHost(processes, keepIn(processes, ownPid, kubelet)),
        ),
  );
  return concat(
    tolerated(FILES_STEP, processes.setMaxOpenFiles(ownPid, ownProcess.maxOpenFiles)),
    tolerated(SCORE_STEP, score$),
    merge(
      system === "" && kubelet === "" ? EMPTY : pollAfter(clock, ENSURE_PERIOD_MS, () => ensured$),
      pollAfter(clock, kubelet === "" ? SCORE_PERIOD_MS : ENSURE_PERIOD_MS, () => scored$, { immediately: false }),
    ),
  );
}

/** Returns a wrapper of steps that logs a failure: once, until the step succeeds or fails for another reason. */
function tolerance(log: Pick<Logger, "warn">) {
  const logged = new Map<string, string>();
  return (step: string, work$: Observable<unknown>): Observable<never> =>
    concat(
      work$.pipe(ignoreElements()),
      defer(() => {
        logged.delete(step);
        return EMPTY;
      }),
    ).pipe(
      catchError((thrown: unknown) => {
        const error = toKubeletError(thrown);
        if (logged.get(step) !== error.message) log.warn(step, { error });
        logged.set(step, error.message);
        return EMPTY;
      }),
    );
}

/** Runs the work unless the kubelet runs in a container. */
const onHost = (processes: Processes, work$: Observable<unknown>): Observable<unknown> =>
  processes.isOnHost(processes.ownPid).pipe(switchMap((isOnHost) => (isOnHost ? work$ : EMPTY)));

const keepIn = (processes: Processes, pid: number, cgroup: string): Observable<unknown> =>
  processes.cgroupOf(pid).pipe(
    catchError((thrown: unknown) => {
      // A process with different cgroups for CPU and memory is moved, as upstream: the error is gone the next time.
      toKubeletError(thrown);
      return of(undefined);
    }),
    switchMap((found) => (found === cgroup ? EMPTY : processes.move(pid, cgroup))),
  );

/** Moves all processes of the root cgroup, in rounds until none is left; errors with the last failure. */
function moveFromRoot(processes: Processes, cgroup: string): Observable<never> {
  const round = (roundsLeft: number, last: KubeletError | undefined): Observable<never> =>
    processes.inRootCgroup().pipe(
      switchMap((pids) => {
        if (pids.length === 0) return EMPTY;
        return inSequence(pids, (pid) => failureOf(processes.move(pid, cgroup), pid, cgroup)).pipe(
          toArray(),
          switchMap((failures) => {
            const failure = failures.at(-1) ?? last;
            if (roundsLeft > 1) return round(roundsLeft - 1, failure);
            return failure === undefined ? EMPTY : throwError(() => failure);
          }),
        );
      }),
    );
  return round(MAX_ROUNDS, undefined);
}

/** Emits the error of a call that fails, nothing otherwise. */
const failureOf = (call$: Call<void>, pid: number, cgroup: string): Observable<KubeletError> =>
  call$.pipe(
    ignoreElements(),
    catchError((thrown: unknown) => {
      const { code, message } = toKubeletError(thrown);
      return of(kubeletError(code, `failed to move PID ${pid} into the system container "${cgroup}": ${message}`));
    }),
  );
