/** What a node that is being stopped still waits for. */
import type { TimelineView } from "../timeline/timelineView.ts";

/** Pods named at most. */
const MAX_NAMED = 3;

/** One line for a terminal; `pods` are those that are still there. */
export function stoppingNote(pods: readonly TimelineView[]): string {
  const named = pods.slice(0, MAX_NAMED).map(({ pod, waits: [wait] }) => {
    const left = wait?.next === undefined ? "" : `, ${Math.ceil(wait.next.inSeconds)}s left`;
    return wait === undefined ? pod.name : `${pod.name} (${wait.what}${left})`;
  });
  const more = pods.length > MAX_NAMED ? ` and ${pods.length - MAX_NAMED} more` : "";
  const waiting = pods.length === 0 ? "" : ` waiting for ${named.join(", ")}${more};`;
  return `Stopping pods...${waiting} Ctrl-C again to stop now`;
}
