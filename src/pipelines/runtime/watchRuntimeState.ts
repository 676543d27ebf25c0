/**
 * Watches whether the runtime and its network are ready: asks periodically, and again when the event stream reports a
 * change. Owner of the runtimeState cell. Bound: one Status call at a time. Upstream: kubelet.updateRuntimeUp.
 */
import { catchError, filter, map, merge, type Observable, of, switchMap, tap } from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import { type RuntimeState, runtimeDown, runtimeStateOf } from "../../core/runtime/runtimeState.ts";
import { sameValue } from "../../core/sameValue.ts";
import { conflateMap } from "../../operators/conflateMap.ts";
import { pollAfter } from "../../operators/pollAfter.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { Cell } from "../../state/cell.ts";

type NamedVersion = Pick<RuntimeState, "runtimeName" | "runtimeVersion">;

const NOT_READY_PERIOD_MS = 1_000;

/** Keeps `state` current; emits after each change. */
export function runtimeState(
  inputs: { readonly lookAgain$: Observable<unknown> },
  ports: Pick<KubeletPorts, "runtime" | "clock" | "telemetry">,
  config: Pick<KubeletConfig, "runtimeStatusPeriodMs">,
  state: Cell<RuntimeState>,
): Observable<RuntimeState> {
  const look = (): Observable<RuntimeState> =>
    ports.runtime.status({ verbose: false }).pipe(
      switchMap((answer) => {
        // A runtime that was down may return as another version.
        const isKnown = state.value.runtimeName !== "" && state.value.downSince === undefined;
        const version$: Observable<NamedVersion> = isKnown ? of(state.value) : ports.runtime.version({ version: "v1" });
        return version$.pipe(map((version) => runtimeStateOf(answer, version)));
      }),
      catchError((thrown: unknown) =>
        of(runtimeDown(state.value, toKubeletError(thrown).message, ports.clock.monotonicMs())),
      ),
    );
  const isReady = (): boolean => state.value.runtimeProblems.length + state.value.networkProblems.length === 0;
  // No event reports that the network came up.
  const periodMs = (): number => Math.min(config.runtimeStatusPeriodMs, isReady() ? Infinity : NOT_READY_PERIOD_MS);
  const due$ = pollAfter(ports.clock, periodMs, () => of(undefined));
  return merge(due$, inputs.lookAgain$).pipe(
    conflateMap(look),
    filter((next) => !sameValue(next, state.value)),
    tap((next) => {
      report(state.value, next, ports);
      state.set(next);
    }),
  );
}

function report(before: RuntimeState, after: RuntimeState, { telemetry }: Pick<KubeletPorts, "telemetry">): void {
  const problems = [...after.runtimeProblems, ...after.networkProblems];
  if (problems.length > 0) telemetry.log.error("Container runtime is not ready", { problems });
  else if (before.runtimeProblems.length + before.networkProblems.length > 0) {
    telemetry.log.info("Container runtime is ready", { runtime: after.runtimeName });
  }
}
