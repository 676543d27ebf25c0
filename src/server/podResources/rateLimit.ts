/** A limit on requests that refuses instead of waiting. Upstream: LimiterUnaryServerInterceptor of podresources. */
import type { MonotonicMs } from "../../core/ids.ts";

/** Upstream: DefaultQPS and DefaultBurstTokens. */
const REQUESTS_PER_SECOND = 100;
const BURST = 10;

/** Creates a limit; each call returns whether a request may be served now. */
export function createRateLimit(now: () => MonotonicMs): () => boolean {
  let tokens = BURST;
  let at = now();
  return () => {
    const then = at;
    at = now();
    tokens = Math.min(BURST, tokens + ((at - then) * REQUESTS_PER_SECOND) / 1_000);
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
