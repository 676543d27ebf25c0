/** A counter that orders what this process saw and did; no other process's clock has a say. */
export interface Sequence {
  /** A number greater than every one before. */
  next(): number;
}

/** Starts at 1. */
export function createSequence(): Sequence {
  let last = 0;
  return {
    next: () => {
      last += 1;
      return last;
    },
  };
}
