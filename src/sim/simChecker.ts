/** An invariant of a simulated node and its violations. */
import type { SimObservation } from "./simObservation.ts";

/** Watches one node; owns the state of its rule. */
export interface SimChecker {
  readonly name: string;
  /** Kinds of observations that the checker receives. Default: all. */
  readonly sees?: readonly SimObservation["kind"][];
  /** Called with each observation, in order; returns the broken rule in one sentence, or undefined. */
  check(observation: SimObservation): string | undefined;
}

/** Returns whether a checker receives observations of this kind. */
export const looksAt = ({ sees }: SimChecker, kind: SimObservation["kind"]): boolean =>
  sees === undefined || sees.includes(kind);

/** A broken rule. */
export interface SimViolation {
  /** Virtual time in milliseconds. */
  readonly atMs: number;
  readonly checker: string;
  readonly message: string;
}
