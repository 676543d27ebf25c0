/**
 * The patch of a status subresource: what changed of status, and of labels and annotations for nodes. Pods carry their
 * uid, so that a namesake is never written to. Counterpart: pkg/util/pod and component-helpers' node status patches.
 */
import { sameValue } from "../sameValue.ts";
import { patchSchemaOf } from "./patchSchema.ts";
import { PATCH_DIRECTIVE } from "./strategicMergePatch.ts";
import { strategicMergeDiff } from "./strategicMergeDiff.ts";

type JsonMap = Readonly<Record<string, unknown>>;

/** What a status patch is made from; everything else of the object is left alone. */
export interface StatusOwner {
  readonly metadata?:
    | {
        readonly uid?: string;
        readonly labels?: Readonly<Record<string, string>>;
        readonly annotations?: Readonly<Record<string, string>>;
      }
    | undefined;
  readonly status?: object | undefined;
}

/** The strategic merge patch that makes `newer`'s status of `older`'s; undefined when there is nothing to write. */
export function createStatusPatch(kind: "Pod" | "Node", older: StatusOwner, newer: StatusOwner): JsonMap | undefined {
  const schema = patchSchemaOf(kind);
  const patch = strategicMergeDiff(patched(kind, older), patched(kind, newer), schema);
  if (Object.keys(patch).length === 0) return undefined;
  if (kind === "Node") return withWholeAddresses(patch, older, newer);
  const uid = newer.metadata?.uid;
  return uid === undefined ? patch : { metadata: { uid }, ...patch };
}

function patched(kind: "Pod" | "Node", { metadata, status }: StatusOwner): JsonMap {
  const { labels, annotations } = metadata ?? {};
  return kind === "Node" ? { metadata: { labels, annotations }, status: status ?? {} } : { status: status ?? {} };
}

/** Addresses merge by type, of which a node may have several: the list is replaced, never merged. */
function withWholeAddresses(patch: JsonMap, older: StatusOwner, newer: StatusOwner): JsonMap {
  const addressesOf = ({ status }: StatusOwner) => (status as { readonly addresses?: readonly object[] })?.addresses;
  const addresses = addressesOf(newer);
  if (addresses === undefined || sameValue(addressesOf(older), addresses)) return patch;
  const { "$setElementOrder/addresses": _order, ...status } = patch["status"] as JsonMap;
  return { ...patch, status: { ...status, addresses: [...addresses, { [PATCH_DIRECTIVE]: "replace" }] } };
}
