/** A lock of tasks that run beside each other, and of tasks that run alone. */

/** See the file header. */
export interface SharedLock {
  /** Runs the task beside other shared ones, after an exclusive one that waits or runs. Rejects as the task does. */
  shared<T>(task: () => Promise<T>): Promise<T>;
  /**
   * Runs the task alone. Later shared tasks wait for its end, so it has a bound of its own. Returns false, without a run,
   * where the shared tasks do not end before `patience` aborts. Rejects as the task does.
   */
  exclusive(task: () => Promise<void>, patience: AbortSignal): Promise<boolean>;
}

/** Creates a lock that is free. */
export function createSharedLock(): SharedLock {
  let sharing = 0;
  let free = Promise.withResolvers<void>();
  free.resolve();
  let barrier: Promise<void> | undefined;
  return {
    shared: async (task) => {
      while (barrier !== undefined) await barrier;
      if (sharing === 0) free = Promise.withResolvers();
      sharing += 1;
      try {
        return await task();
      } finally {
        sharing -= 1;
        if (sharing === 0) free.resolve();
      }
    },
    exclusive: async (task, patience) => {
      while (barrier !== undefined) await barrier;
      const turn = Promise.withResolvers<void>();
      barrier = turn.promise;
      try {
        if (!(await isBefore(free.promise, patience))) return false;
        await task();
        return true;
      } finally {
        barrier = undefined;
        turn.resolve();
      }
    },
  };
}

/** Whether the promise resolves before the signal aborts. */
async function isBefore(done: Promise<void>, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const giveUp = (): void => resolve(false);
  signal.addEventListener("abort", giveUp, { once: true });
  if (signal.aborted) giveUp();
  const isDone = done.then(() => true);
  try {
    return await Promise.race([promise, isDone]);
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}
