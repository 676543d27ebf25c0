/**
 * Turns among jobs that share a thread: the job that had least goes next. A job that arrives is taken to have had as much
 * as the others, less a credit: small jobs end before large ones go on, and large ones share what is left evenly.
 */
export interface FairTurns<Job> {
  add(job: Job): void;
  remove(job: Job): void;
  /** The next job; undefined without jobs. Of equals the one that was added first. */
  next(): Job | undefined;
  /** Counts what a job had. */
  charge(job: Job, cost: number): void;
  readonly size: number;
}

/** Makes turns for nobody yet. */
export function createFairTurns<Job>(credit: number): FairTurns<Job> {
  const had = new Map<Job, number>();
  /** What a job would have had by now that had always been there. */
  let reached = 0;
  return {
    add: (job) => void had.set(job, reached - credit),
    remove: (job) => void had.delete(job),
    next() {
      let best: Job | undefined;
      let least = Number.POSITIVE_INFINITY;
      for (const [job, cost] of had) {
        if (cost >= least) continue;
        [best, least] = [job, cost];
      }
      if (best !== undefined) reached = Math.max(reached, least);
      return best;
    },
    charge: (job, cost) => void had.set(job, (had.get(job) ?? 0) + cost),
    get size() {
      return had.size;
    },
  };
}
