/** A counter that orders the inspections and effects of this process, since clocks of processes do not compare. */
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
