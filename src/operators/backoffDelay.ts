/** The delays of a doubling backoff. */
import { invariant } from "../core/invariant.ts";
import type { Rng } from "../ports/random.ts";

/** First delay, its cap, and the fraction by which a delay may exceed the curve. */
export interface BackoffCurve {
  readonly initialMs: number;
  readonly maxMs: number;
  /** 0.2 adds up to 20 %; 0, the default, adds nothing. */
  readonly jitter?: number;
}

/**
 * Returns the delay before attempt `failures` + 1, in milliseconds: doubling from `initialMs`, at most `maxMs` plus
 * jitter.
 */
export function backoffDelay(curve: BackoffCurve, failures: number, rng: Rng): number {
  const delayMs = Math.min(curve.maxMs, curve.initialMs * 2 ** Math.max(0, failures - 1));
  const jitteredMs = Math.round(delayMs * (1 + (curve.jitter ?? 0) * rng.next()));
  invariant(jitteredMs >= 0 && Number.isFinite(jitteredMs), `backoff of ${jitteredMs} ms`);
  return jitteredMs;
}
