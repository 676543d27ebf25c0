/**
 * Names the current synchronous work, so that a stall of the event loop can be attributed to it. A process has one
 * event loop, and so one watch; without a watch (simulations, tests, short commands) all functions call through.
 */
import { EMPTY, type MonoTypeOperatorFunction, Observable } from "rxjs";
import type { StageKind } from "../core/telemetry/loopStalls.ts";

/** A span of synchronous work. `kind` is a label of a metric, from a closed set; `text` may name a pod or a file. */
export interface Stage {
  readonly kind: StageKind;
  readonly text: string;
  /**
   * The owner of the work, such as a pod worker for an answer of the runtime. Timers that it sets belong to the
   * owner.
   */
  readonly owner?: Stage | undefined;
}

/** Follows the stages of a process. Must not throw. */
export interface StageWatch {
  readonly current: Stage | undefined;
  /** Returns the stage that was current, for `leave`. */
  enter(stage: Stage): Stage | undefined;
  leave(outer: Stage | undefined): void;
}

let watch: StageWatch | undefined;

/** Reports the stages of this process to `next`, instead of the previous watch; the result undoes that. */
export function watchStages(next: StageWatch): () => void {
  const before = watch;
  watch = next;
  return () => {
    watch = before;
  };
}

/** Runs `work` as a stage. Costs two clock reads while a watch is set. */
export function inStage<T>(stage: Stage | undefined, work: () => T): T {
  if (watch === undefined || stage === undefined) return work();
  const watching = watch;
  const outer = watching.enter(stage);
  try {
    return work();
  } finally {
    watching.leave(outer);
  }
}

/** Returns the stage that owns work scheduled now: the owner of the current stage, or the stage itself. */
export function ownerStage(): Stage | undefined {
  const current = watch?.current;
  return current?.owner ?? current;
}

/**
 * Subscribes to the source in a stage: its synchronous work, and the timers and calls it starts, belong to the stage.
 *
 *     source           --a--b|
 *     staged(stage)    --a--b|
 *
 * Without a watch it is the source itself. Cancels: the source. Errors: pass on. Bound: none of its own.
 */
export const staged =
  <T>(stage: Stage): MonoTypeOperatorFunction<T> =>
  (source$) =>
    watch === undefined || source$ === EMPTY
      ? source$
      : new Observable<T>((subscriber) => inStage(stage, () => source$.subscribe(subscriber)));
