/**
 * Which volumes the API server's Node lists as in use for sure. A volume that was given up and is needed again may be in the Node
 * that the kubelet knows, while the write that removes it is under way: the controller could detach it. Pure.
 */
import type { Node } from "../api.ts";
import { sameItems } from "../sameValue.ts";
import { newerObject } from "./newerObject.ts";

/** The Node as of the last report of its status. */
export interface ReportedNode {
  /** The last answer of the API server that changed the list. */
  readonly node: Node;
  /** The volumes in use that were reported, without those that a later report removes. */
  readonly volumesInUse: readonly string[];
}

/** Returns what stays reported while a report of this list is under way. */
export const beingReported = (
  reported: ReportedNode | undefined,
  volumesInUse: readonly string[] | undefined,
): ReportedNode | undefined => {
  if (reported === undefined || volumesInUse === undefined) return reported;
  const left = reported.volumesInUse.filter((name) => volumesInUse.includes(name));
  return left.length === reported.volumesInUse.length ? reported : { ...reported, volumesInUse: left };
};

/** Returns what is reported after an answer; the same object if the list is the same, also when it was under way. */
export const afterReport = (
  reported: ReportedNode | undefined,
  node: Node,
  volumesInUse: readonly string[] | undefined,
): ReportedNode | undefined => {
  if (volumesInUse === undefined) return reported;
  const isSame =
    reported?.node.metadata?.uid === node.metadata?.uid && sameItems(reported?.volumesInUse ?? [], volumesInUse);
  return isSame && reported !== undefined ? reported : { node, volumesInUse };
};

/** Returns the newest Node, with the volumes in use that it has for sure; undefined while the Node is unknown. */
export function confirmedNode(known: Node | undefined, reported: ReportedNode | undefined): Node | undefined {
  if (known === undefined) return undefined;
  const isSame = reported !== undefined && reported.node.metadata?.uid === known.metadata?.uid;
  const { volumesInUse: listed = [], ...status } = (isSame ? newerObject(known, reported.node) : known).status ?? {};
  const confirmed = new Set(isSame ? reported.volumesInUse : []);
  const volumesInUse = listed.filter((name) => confirmed.has(name));
  return { ...known, status: { ...status, volumesInUse } };
}
