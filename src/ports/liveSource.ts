/** The node as those see it who watch it live. Nothing of it works, and nothing is kept, before somebody subscribes. */
import type { Observable } from "rxjs";
import type { LivePart, LivePlace, LivePod } from "../core/live/liveMessages.ts";
import type { MarbleDraft } from "../core/live/marbleLog.ts";

/** Figures of a queue. */
export interface QueueFigures {
  readonly name: string;
  readonly depth: number;
  /** Values that were dropped since the start because the queue was full. */
  readonly dropped: number;
}

export interface LiveSource {
  /** The parts and the owners of cells, in the order of their start. */
  readonly parts: readonly LivePart[];
  readonly places: readonly LivePlace[];
  /** Emits each new value of a place. Never completes, never errors. */
  readonly drafts$: Observable<MarbleDraft>;
  /** Emits the pods at once, and after changes at most once a second. Never completes, never errors. */
  readonly pods$: Observable<readonly LivePod[]>;
  queues(): readonly QueueFigures[];
}
