/** Measures figures side by side: a figure that cannot be measured in time is omitted and logged. */
import { catchError, defaultIfEmpty, forkJoin, type Observable, of } from "rxjs";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import { deadline } from "../../operators/deadline.ts";
import type { Call } from "../../ports/call.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";

/** Deadline of each figure, in milliseconds. */
export const FIGURE_DEADLINE_MS = 10_000;

type Ports = Pick<KubeletPorts, "telemetry" | "clock">;

/** Returns the figure, or undefined. `name` is the name of the figure in the error of its deadline. */
export function orUndefined<T>(call$: Call<T>, { telemetry, clock }: Ports, name?: string): Observable<T | undefined> {
  const subject = name === undefined ? "" : `${name}: `;
  const late = () => kubeletError("DeadlineExceeded", `${subject}no end within ${FIGURE_DEADLINE_MS} ms`);
  return call$.pipe(
    deadline(FIGURE_DEADLINE_MS, clock, late),
    catchError((thrown: unknown) => {
      telemetry.log.debug("A figure is left out of the stats", { error: toKubeletError(thrown) });
      return of(undefined);
    }),
  );
}

/** Calls and their results by the name of the figure. */
type Measurements<Figures> = { readonly [Name in keyof Figures]: Call<Figures[Name]> };
type Measured<Figures> = { readonly [Name in keyof Figures]: Figures[Name] | undefined };

/** Measures figures side by side and emits them once; the value of an omitted figure is undefined. */
export function figuresOf<Figures extends object>(
  calls: Measurements<Figures>,
  ports: Ports,
): Observable<Measured<Figures>> {
  const figures = Object.entries<Call<unknown>>(calls).map(([name, call$]) => [
    name,
    orUndefined(call$, ports, name).pipe(defaultIfEmpty(undefined)),
  ]);
  const measured$: Observable<unknown> = forkJoin(Object.fromEntries(figures)).pipe(defaultIfEmpty({}));
  return measured$ as Observable<Measured<Figures>>;
}
