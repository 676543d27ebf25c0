/**
 * Runs one lifecycle hook of a container: exec, httpGet or sleep. Stateless. Bound: the caller's, which unsubscribes to
 * end a hook (preStop.ts with the stop of the container, postStart.ts when the pod terminates). Upstream:
 * pkg/kubelet/lifecycle/handlers.go.
 */
import { catchError, defer, finalize, map, type Observable, of, tap } from "rxjs";
import type { Container, Pod } from "../../core/api.ts";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import { hookFailure, type LifecycleHandler } from "../../core/pod/hookMessages.ts";
import { httpTarget, joinHostPort } from "../../core/probe/probeTarget.ts";
import { PROBER_VERSION } from "../../core/probe/probeTypes.ts";
import type { Due } from "../../core/timeline/timelineTypes.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { longTimer } from "../../operators/longTimer.ts";
import type { PodContext } from "../podContext.ts";
import { stage } from "../podStage.ts";

/** A hook and where it runs. */
export interface HookTask {
  readonly hook: "PostStartHook" | "PreStopHook";
  /** The action after the time limit of the hook. */
  readonly due?: Due;
  readonly pod: Pod;
  readonly container: Container;
  readonly containerId: string;
  readonly handler: LifecycleHandler;
  /** Undefined while the pod has no address. */
  readonly podIp: string | undefined;
}

/** The result of a successful hook. */
export interface HookDone {
  /** Address that answered in plain HTTP instead of HTTPS. */
  readonly fellBackAt?: string;
}

/** Runs the hook; emits once, never errors. A failure's message is meant for the container's status. */
export function runHook(context: PodContext, task: HookTask): Observable<Result<HookDone>> {
  const { hook: name, container, due } = task;
  const about = { name, container: container.name, ...(due === undefined ? {} : { due }) };
  return stage(context.memory.timeline, about, handle(context, task));
}

function handle(context: PodContext, task: HookTask): Observable<Result<HookDone>> {
  const { pod, container, handler } = task;
  const failed = (what: string, thrown: unknown): Result<never> =>
    err(kubeletError("Unknown", hookFailure(pod, container.name, what, toKubeletError(thrown).message)));
  const { exec, httpGet, sleep } = handler;
  if (exec !== undefined) {
    const what = `Exec lifecycle hook ([${(exec.command ?? []).join(" ")}])`;
    return runExec(context, task, exec.command ?? []).pipe(catchError((thrown: unknown) => of(failed(what, thrown))));
  }
  if (httpGet !== undefined) {
    const what = `HTTP lifecycle hook (${httpGet.path ?? ""})`;
    return runHttp(context, task, httpGet).pipe(catchError((thrown: unknown) => of(failed(what, thrown))));
  }
  if (sleep !== undefined) return runSleep(context, sleep.seconds ?? 0);
  // A tcpSocket never was a hook; the API only keeps the field.
  return of(err(kubeletError("InvalidArgument", `Cannot run handler: invalid handler: ${JSON.stringify(handler)}`)));
}

function runExec(
  { ports }: PodContext,
  { containerId }: HookTask,
  command: readonly string[],
): Observable<Result<HookDone>> {
  return ports.runtime.execSync({ containerId, cmd: command, timeout: 0n }).pipe(
    map(({ exitCode, stdout, stderr }) => {
      if (exitCode === 0) return ok({});
      const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes.subarray(0, MAX_OUTPUT_BYTES));
      const cause = `command '${command.join(" ")}' exited with ${exitCode}: ${text(stderr)}`;
      throw kubeletError("Unknown", `${cause}, message: ${JSON.stringify(text(stdout) + text(stderr))}`);
    }),
  );
}

/** Maximum output of a failed command in the status, in bytes of each stream. */
const MAX_OUTPUT_BYTES = 2_048;

function runHttp(
  { ports }: PodContext,
  { container, podIp }: HookTask,
  action: NonNullable<LifecycleHandler["httpGet"]>,
): Observable<Result<HookDone>> {
  return defer(() => {
    const host = action.host || podIp;
    if (host === undefined || host === "") throw kubeletError("Unavailable", "failed to find networking container");
    const target = httpTarget(action, container, host, `kube-lifecycle/${PROBER_VERSION}`);
    if (!target.ok) throw target.error;
    return ports.probers.httpHook(target.value).pipe(
      map(({ fellBack }) => {
        if (!fellBack) return ok({});
        ports.telemetry.metrics.count("kubelet_lifecycle_handler_http_fallbacks_total");
        return ok({ fellBackAt: joinHostPort(host, target.value.port) });
      }),
    );
  });
}

function runSleep({ ports }: PodContext, seconds: number): Observable<Result<HookDone>> {
  return defer(() => {
    let slept = false;
    return longTimer(ports.clock, seconds * 1000).pipe(
      map(() => ok({})),
      tap(() => (slept = true)),
      finalize(() => {
        if (!slept) ports.telemetry.metrics.count("kubelet_sleep_action_terminated_early_total");
      }),
    );
  });
}
