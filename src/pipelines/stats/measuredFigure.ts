/** Measures figures side by side: a figure that cannot be measured in time is omitted and logged. */
import { catchError, Observable, of } from "rxjs";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import { deadline } from "../../operators/deadline.ts";
import { longTimer } from "../../operators/longTimer.ts";
import { subscribeInner } from "../../operators/subscribeInner.ts";
import type { Call } from "../../ports/call.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";

/** Deadline of each figure, in milliseconds. */
export const FIGURE_DEADLINE_MS = 10_000;

/** Returns the figure, or undefined. */
export function orUndefined<T>(
  call$: Call<T>,
  { telemetry, clock }: Pick<KubeletPorts, "telemetry" | "clock">,
): Observable<T | undefined> {
  return call$.pipe(
    deadline(FIGURE_DEADLINE_MS, clock),
    catchError((thrown: unknown) => {
      leaveOut(thrown, telemetry);
      return of(undefined);
    }),
  );
}

function leaveOut(thrown: unknown, { log }: KubeletPorts["telemetry"]): void {
  log.debug("A figure is left out of the stats", { error: toKubeletError(thrown) });
}

/** Calls and their results by the name of the figure. */
type Measurements<Figures> = { readonly [Name in keyof Figures]: Call<Figures[Name]> };
type Measured<Figures> = { [Name in keyof Figures]: Figures[Name] | undefined };

/**
 * Measures figures side by side; undefined ones are omitted. One subscription each and one timer, which is not set if
 * all answer at once: pressure observations are frequent.
 */
export function figuresOf<Figures extends object>(
  calls: Measurements<Figures>,
  { telemetry, clock }: Pick<KubeletPorts, "telemetry" | "clock">,
): Observable<Readonly<Measured<Figures>>> {
  return new Observable<Readonly<Measured<Figures>>>((destination) => {
    const found = {} as Measured<Figures>;
    const names = Object.keys(calls) as (keyof Figures)[];
    const open = new Set(names);
    const over = (name: keyof Figures): void => {
      open.delete(name);
      if (open.size === 0) tell();
    };
    const tell = (): void => {
      destination.next(found);
      destination.complete();
    };
    for (const name of names) {
      subscribeInner(destination, () => calls[name], {
        next: (figure) => (found[name] = figure),
        ended: () => over(name),
        failed: (thrown) => {
          leaveOut(thrown, telemetry);
          over(name);
        },
      });
    }
    if (names.length === 0) tell();
    if (open.size === 0) return;
    const giveUp = (): void => {
      for (const name of open) {
        const why = `${String(name)}: no end within ${FIGURE_DEADLINE_MS} ms`;
        leaveOut(kubeletError("DeadlineExceeded", why), telemetry);
      }
      tell();
    };
    subscribeInner(destination, () => longTimer(clock, FIGURE_DEADLINE_MS), { next: giveUp, ended: () => {} });
  });
}
