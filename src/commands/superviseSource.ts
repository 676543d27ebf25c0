/**
 * A source of this process under the operator `supervise`, which restarts it: this file has the backoff of all sources,
 * the log line of a restart and the metrics of restarts and health.
 */
import type { Observable } from "rxjs";
import type { Clock } from "../ports/clock.ts";
import type { Rng } from "../ports/random.ts";
import type { Telemetry } from "../ports/telemetry.ts";
import { supervise } from "../operators/supervise.ts";

const BACKOFF = { initialMs: 200, maxMs: 30_000, jitter: 0.2, resetAfterMs: 60_000 };

/** Returns a source that neither errors nor completes, except for a broken invariant. */
export function superviseSource<T>(
  name: string,
  source$: Observable<T>,
  { clock, rng, telemetry }: { readonly clock: Clock; readonly rng: Rng; readonly telemetry: Telemetry },
): Observable<T> {
  const { log, metrics } = telemetry;
  metrics.gauge("rxlet_source_up", 1, { source: name });
  return supervise(name, () => source$, {
    backoff: BACKOFF,
    clock,
    rng,
    onRestart: ({ error, delayMs }) => {
      metrics.count("rxlet_supervise_restarts_total", { source: name });
      log.error("A source failed and is reopened", { source: name, error, delayMs });
    },
    onHealth: (problem) => metrics.gauge("rxlet_source_up", problem === undefined ? 1 : 0, { source: name }),
  });
}
