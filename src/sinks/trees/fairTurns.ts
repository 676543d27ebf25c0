/**
 * Schedules jobs that share a thread: the job with the least work done runs next. A new job starts with the work done
 * of the others, less a credit: small jobs finish before large ones continue, and large ones share the rest evenly.
 */
export interface FairTurns<Job> {
  add(job: Job): void;
  remove(job: Job): void;
  /** Returns the next job; undefined without jobs. Ties go to the job that was added first. */
  next(): Job | undefined;
  /** Adds to the work done of a job. */
  charge(job: Job, cost: number): void;
  readonly size: number;
}

/** Creates an empty schedule. */
export function createFairTurns<Job>(credit: number): FairTurns<Job> {
  const had = new Map<Job, number>();
  /** Work done of a job that has been present from the start. */
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

/**
 * Returns the next job of schedules that share a thread evenly, however many jobs each has, and moves its schedule to
 * the end of `schedules`. Returns undefined without jobs.
 */
export function nextOfAll<Job>(schedules: FairTurns<Job>[]): Job | undefined {
  for (let passed = 0; passed < schedules.length; passed += 1) {
    const schedule = schedules.shift() as FairTurns<Job>;
    schedules.push(schedule);
    const job = schedule.next();
    if (job !== undefined) return job;
  }
  return undefined;
}
