/** A task on a tree that is done in steps, so that many of them share a thread. */
import type { TreeProgress } from "./treeTasks.ts";

export interface TreeJob<Value> {
  /** Does the next step, which is about one file or directory: whether it was the last one. Throws when the job has failed. */
  step(): boolean;
  readonly progress: TreeProgress;
  /** Once the last step is done. */
  readonly value: Value;
  /** Directories that may be open at once, at least 1. */
  setMaxOpen(count: number): void;
  /** Closes what is open; the job may be unfinished. */
  close(): void;
}
