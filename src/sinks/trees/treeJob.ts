/** A task on a tree in steps, so that many tasks share a thread. */
import type { TreeProgress } from "./treeTasks.ts";

export interface TreeJob<Value> {
  /**
   * Performs the next step on one file or directory; returns whether it was the last. Throws when the job has failed.
   */
  step(): boolean;
  readonly progress: TreeProgress;
  /** The result, after the last step. */
  readonly value: Value;
  /** Bound on directories open at once, at least 1. */
  setMaxOpen(count: number): void;
  /** Closes open directories; the job may be unfinished. */
  close(): void;
}
