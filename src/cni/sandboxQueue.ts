/** Runs one task of a sandbox at a time, so DEL never overtakes the ADD of the same sandbox. */
import { kubeletError } from "../core/errors.ts";
import { err, type Result } from "../core/result.ts";

/** Bound on tasks that run or wait, of all sandboxes: far more than a node starts at once. */
export const MAX_TASKS = 256;

/** Tasks by sandbox. */
export interface SandboxQueue {
  /** Runs the task after the earlier ones of the same sandbox. Errors: ResourceExhausted beyond MAX_TASKS. */
  run<T>(id: string, task: () => Promise<Result<T>>): Promise<Result<T>>;
}

/** Creates a queue without tasks. */
export function createSandboxQueue(): SandboxQueue {
  const last = new Map<string, Promise<unknown>>();
  let count = 0;
  return {
    run: async (id, task) => {
      if (count >= MAX_TASKS) {
        return err(kubeletError("ResourceExhausted", `more than ${MAX_TASKS} changes of pod networks at once`));
      }
      count += 1;
      const before = last.get(id) ?? Promise.resolve();
      const done = before.then(task);
      // A task that breaks an invariant rejects; the next one of the sandbox runs all the same.
      const settled = done.catch(() => undefined);
      last.set(id, settled);
      try {
        return await done;
      } finally {
        count -= 1;
        if (last.get(id) === settled) last.delete(id);
      }
    },
  };
}
