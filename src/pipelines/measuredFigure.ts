/** One figure among many: what cannot be measured, or not in time, is left out and logged. */
import { catchError, type Observable, of } from "rxjs";
import { toKubeletError } from "../core/errors.ts";
import { deadline } from "../operators/deadline.ts";
import type { Call } from "../ports/call.ts";
import type { KubeletPorts } from "../ports/kubeletPorts.ts";

/** Of each figure, in milliseconds. */
export const FIGURE_DEADLINE_MS = 10_000;

/** The figure, or undefined. */
export function orUndefined<T>(
  call$: Call<T>,
  { telemetry, clock }: Pick<KubeletPorts, "telemetry" | "clock">,
): Observable<T | undefined> {
  return call$.pipe(
    deadline(FIGURE_DEADLINE_MS, clock),
    catchError((thrown: unknown) => {
      telemetry.log.debug("A figure is left out of the stats", { error: toKubeletError(thrown) });
      return of(undefined);
    }),
  );
}
