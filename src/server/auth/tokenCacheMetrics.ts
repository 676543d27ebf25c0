/**
 * Metrics of the token cache.
 * Upstream: stats.go of apiserver's token cache.
 */
import { defer, finalize, tap } from "rxjs";
import type { Call } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Metrics } from "../../ports/telemetry.ts";
import type { CacheObserver } from "./answerCache.ts";

/** Creates an observer that counts lookups and fetches in `metrics`. */
export function tokenCacheMetrics<A>(metrics: Metrics, clock: Clock): CacheObserver<A> {
  const active = { in_flight: 0, blocked: 0 };
  const change = (status: keyof typeof active, by: number): void => {
    active[status] += by;
    metrics.gauge("authentication_token_cache_active_fetch_count", active[status], { status });
  };
  const whileActive = (status: keyof typeof active, answer$: Call<A>): Call<A> =>
    defer(() => {
      change(status, 1);
      return answer$.pipe(finalize(() => change(status, -1)));
    });
  return {
    answered: (isKnown, answer$) =>
      defer(() => {
        const startedAt = clock.monotonicMs();
        const status = isKnown ? "hit" : "miss";
        return (isKnown ? answer$ : whileActive("blocked", answer$)).pipe(
          finalize(() => {
            const seconds = (clock.monotonicMs() - startedAt) / 1_000;
            metrics.count("authentication_token_cache_request_total", { status });
            metrics.observe("authentication_token_cache_request_duration_seconds", seconds, { status });
          }),
        );
      }),
    fetched: (answer$) => {
      const count = (status: string): void => metrics.count("authentication_token_cache_fetch_total", { status });
      return whileActive("in_flight", answer$).pipe(tap({ next: () => count("ok"), error: () => count("error") }));
    },
  };
}
