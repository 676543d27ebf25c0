/** Counts how often entries of lists are read, so that a test can tell linear work from quadratic without a clock. */

const KEYS = ["name", "type"] as const;

/** Entries whose keys are counted. */
export interface Counted {
  /** A copy of an entry; each read of its key counts. */
  of<T extends object>(entry: T): T;
  /** How often the keys of all entries were read. */
  reads(): number;
}

/** Makes a count of its own. */
export function countedReads(): Counted {
  let reads = 0;
  return {
    of(entry) {
      const copy = { ...entry };
      for (const key of KEYS) {
        if (!(key in entry)) continue;
        const value: unknown = entry[key as keyof typeof entry];
        const get = (): unknown => {
          reads += 1;
          return value;
        };
        Object.defineProperty(copy, key, { enumerable: true, get });
      }
      return copy;
    },
    reads: () => reads,
  };
}
