/** The Node that volumes wait for: with the volumes in use that the API server has for sure. Keeps the last one. */
import { map, merge } from "rxjs";
import type { Node } from "../../core/api.ts";
import { confirmedNode } from "../../core/node/reportedNode.ts";
import type { NodeView } from "../../state/nodeState.ts";
import type { ReadonlyCell } from "../../state/cell.ts";

/**
 * Returns the Node as of now; emits again after each change or report of it. One object per change: each volume that
 * waits asks at each change.
 */
export function confirmedNodes({
  node,
  reportedNode,
}: Pick<NodeView, "node" | "reportedNode">): ReadonlyCell<Node | undefined> {
  const last = { known: node.value, reported: reportedNode.value, confirmed: undefined as Node | undefined };
  const now = (): Node | undefined => {
    const [known, reported] = [node.value, reportedNode.value];
    if (last.confirmed === undefined || last.known !== known || last.reported !== reported) {
      Object.assign(last, { known, reported, confirmed: confirmedNode(known, reported) });
    }
    return last.confirmed;
  };
  return {
    get value() {
      return now();
    },
    changes$: merge(node.changes$, reportedNode.changes$).pipe(map(now)),
  };
}
