/** A rule a node keeps at every instant, and what breaks it. */
import type { SimObservation } from "./simObservation.ts";

/** Watches one node; keeps what it must remember. */
export interface SimChecker {
  readonly name: string;
  /** Called with everything that happens, in order; the rule broken, in one sentence, or undefined. */
  check(observation: SimObservation): string | undefined;
}

/** A rule that was broken. */
export interface SimViolation {
  /** Virtual time in milliseconds. */
  readonly atMs: number;
  readonly checker: string;
  readonly message: string;
}
