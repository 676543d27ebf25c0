/**
 * Patches of the status subresource: changes of status, and for nodes of labels and annotations. A pod's patch carries
 * its uid, so that it never applies to another pod of the same name.
 * Upstream: pkg/util/pod and component-helpers' node status patches.
 */
import { sameValue } from "../sameValue.ts";
import { patchSchemaOf } from "./patchSchema.ts";
import { PATCH_DIRECTIVE } from "./patchDirectives.ts";
import { strategicMergeDiff } from "./strategicMergeDiff.ts";

type JsonMap = Readonly<Record<string, unknown>>;

/** The parts of an object that a status patch covers; others are left unchanged. */
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

/** Returns the strategic merge patch that turns `older`'s status into `newer`'s; undefined when they are equal. */
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

/** Replaces the address list. Addresses would merge by type, of which a node may have several. */
function withWholeAddresses(patch: JsonMap, older: StatusOwner, newer: StatusOwner): JsonMap {
  const addressesOf = ({ status }: StatusOwner) => (status as { readonly addresses?: readonly object[] })?.addresses;
  const addresses = addressesOf(newer);
  if (addresses === undefined || sameValue(addressesOf(older), addresses)) return patch;
  const { "$setElementOrder/addresses": _order, ...status } = patch["status"] as JsonMap;
  return { ...patch, status: { ...status, addresses: [...addresses, { [PATCH_DIRECTIVE]: "replace" }] } };
}
