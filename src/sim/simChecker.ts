/** A rule a node keeps at every instant, and what breaks it. */
import type { SimObservation } from "./simObservation.ts";

/** Watches one node; keeps what it must remember. */
export interface SimChecker {
  readonly name: string;
  /** What it looks at; nothing else is shown to it. Default: everything. */
  readonly sees?: readonly SimObservation["kind"][];
  /** Called with what happens, in order; the rule broken, in one sentence, or undefined. */
  check(observation: SimObservation): string | undefined;
}

/** Whether a checker looks at what is of this kind. */
export const looksAt = ({ sees }: SimChecker, kind: SimObservation["kind"]): boolean =>
  sees === undefined || sees.includes(kind);

/** A rule that was broken. */
export interface SimViolation {
  /** Virtual time in milliseconds. */
  readonly atMs: number;
  readonly checker: string;
  readonly message: string;
}
