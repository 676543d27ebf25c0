/** Randomness as an input, so that a seed reproduces a run. */
export interface Rng {
  /** Returns a number uniform in [0, 1). */
  next(): number;
  /** Returns a random (version 4) UUID. */
  uuid(): string;
}
