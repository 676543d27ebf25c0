/** Describes the pods that a stopping node waits for. */
import type { TimelineView } from "../timeline/timelineView.ts";

/** Maximum number of pods named. */
const MAX_NAMED = 3;

/** Returns one line for a terminal; `pods` are those that have not ended. */
export function stoppingNote(pods: readonly TimelineView[]): string {
  const named = pods.slice(0, MAX_NAMED).map(({ pod, waits: [wait] }) => {
    const left = wait?.next === undefined ? "" : `, ${Math.ceil(wait.next.inSeconds)}s left`;
    return wait === undefined ? pod.name : `${pod.name} (${wait.what}${left})`;
  });
  const more = pods.length > MAX_NAMED ? ` and ${pods.length - MAX_NAMED} more` : "";
  const waiting = pods.length === 0 ? "" : ` waiting for ${named.join(", ")}${more};`;
  return `Stopping pods...${waiting} Ctrl-C again to stop now`;
}
