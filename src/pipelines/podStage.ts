/** Records the begin and end of a stage (a CRI call, hook or other effect) in a pod's timeline. No other code does. */
import { defer, finalize, type Observable, tap } from "rxjs";
import type { Result } from "../core/result.ts";
import type { Stage } from "../core/timeline/timelineTypes.ts";
import type { TimelineMemory } from "./podMemories.ts";

/** Returns the same work, recorded in the timeline. Work that is unsubscribed before its result counts as cut off. */
export function stage<T>(timeline: TimelineMemory, about: Stage, work$: Observable<Result<T>>): Observable<Result<T>> {
  return defer(() => {
    const id = timeline.stagesBegun;
    timeline.stagesBegun += 1;
    let hasEnded = false;
    const end = (how: { readonly failure?: string; readonly cutOff?: boolean }): void => {
      if (hasEnded) return;
      hasEnded = true;
      timeline.facts.next({ kind: "stageEnded", id, ...how });
    };
    timeline.facts.next({ kind: "stageBegan", id, stage: about });
    return work$.pipe(
      // Recorded before the result is passed on: the next stage begins after the end of this one.
      tap((result) => end(result.ok ? {} : { failure: result.error.message })),
      finalize(() => end({ cutOff: true })),
    );
  });
}
