/**
 * The Node of this kubelet at the API server. Owner of the node cell; emits events when the node becomes schedulable or
 * unschedulable.
 */
import { concat, distinctUntilChanged, map, type Observable, of, skip, tap } from "rxjs";
import type { Node } from "../../core/api.ts";
import type { KubeletEvent } from "../../core/events.ts";
import { nodeStatusEvent } from "../../core/node/nodeEvents.ts";
import type { Cell } from "../../state/cell.ts";

/** Follows the node into its cell; emits NodeSchedulable and NodeNotSchedulable, the latter also for the first Node. */
export const nodeObject = (
  nodeName: string,
  node$: Observable<Node | undefined>,
  cell: Cell<Node | undefined>,
): Observable<KubeletEvent> =>
  concat(of(undefined), node$.pipe(tap((node) => cell.set(node)))).pipe(
    map((node) => node?.spec?.unschedulable === true),
    distinctUntilChanged(),
    skip(1),
    map((isUnschedulable) => nodeStatusEvent(nodeName, isUnschedulable ? "NodeNotSchedulable" : "NodeSchedulable")),
  );
