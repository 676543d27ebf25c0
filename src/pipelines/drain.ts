/** Waits for the end of all pods of a node, for a drain. */
import { map, type Observable, race } from "rxjs";
import { kubeletError } from "../core/errors.ts";
import { longTimer } from "../operators/longTimer.ts";
import type { Clock } from "../ports/clock.ts";
import { noPodsLeft } from "../state/milestones.ts";
import type { NodeView } from "../state/nodeState.ts";

/** Completes once the last pod is gone; errors with DeadlineExceeded. */
export function drained(state: Pick<NodeView, "registry">, clock: Clock, deadlineMs: number): Observable<void> {
  const empty$ = noPodsLeft(state).pipe(map(() => undefined));
  const late$ = longTimer(clock, deadlineMs).pipe(
    map(() => {
      throw kubeletError("DeadlineExceeded", `pods are still there after ${deadlineMs} ms`);
    }),
  );
  return race(empty$, late$);
}
