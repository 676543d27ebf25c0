/** Randomness as an input, so that a seed repeats a run. */
export interface Rng {
  /** Uniform in [0, 1). */
  next(): number;
  /** A random (version 4) UUID. */
  uuid(): string;
}
