/** Measures figures side by side: a figure that cannot be measured in time is omitted and logged. */
import { catchError, defer, finalize, type Observable, of } from "rxjs";
import { type KubeletError, toKubeletError } from "../../core/errors.ts";
import { deadline } from "../../operators/deadline.ts";
import { type NamedCalls, settleAll, type Settled } from "../../operators/settleAll.ts";
import type { Call } from "../../ports/call.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";

/** Deadline of each figure, in milliseconds. */
export const FIGURE_DEADLINE_MS = 10_000;

type Ports = Pick<KubeletPorts, "telemetry" | "clock">;

/** Returns the figure, or undefined. */
export function orUndefined<T>(call$: Call<T>, ports: Ports): Observable<T | undefined> {
  return call$.pipe(
    deadline(FIGURE_DEADLINE_MS, ports.clock),
    catchError((thrown: unknown) => {
      noteOmission(toKubeletError(thrown), ports);
      return of(undefined);
    }),
  );
}

const noteOmission = (error: KubeletError, { telemetry }: Ports): void =>
  telemetry.log.debug("measuredFigure", "A figure is left out of the stats", { error });

/** Measures figures side by side and emits them once, without the omitted ones. */
export const figuresOf = <Figures extends object>(
  calls: NamedCalls<Figures>,
  ports: Ports,
): Observable<Settled<Figures>> =>
  settleAll(calls, {
    deadlineMs: FIGURE_DEADLINE_MS,
    clock: ports.clock,
    onFailure: (error) => noteOmission(error, ports),
  });

/** Observes how long the measurement of a volume takes. `source`: its method, once it is known. */
export const timed = <T>(measured$: Observable<T>, source: () => string, { clock, telemetry }: Ports): Observable<T> =>
  defer(() => {
    const beganAt = clock.monotonicMs();
    return measured$.pipe(
      finalize(() => {
        const seconds = (clock.monotonicMs() - beganAt) / 1000;
        const labels = { metric_source: source() };
        telemetry.metrics.observe("kubelet_volume_metric_collection_duration_seconds", seconds, labels);
      }),
    );
  });
