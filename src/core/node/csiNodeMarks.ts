/**
 * Marks of CSI drivers on the Node: the annotation with the node's ID in each storage system, and the labels of its place.
 * Upstream: pkg/volume/csi/nodeinfomanager.
 */
import type { Node } from "../api.ts";
import { goJson } from "../container/goJson.ts";
import { topologyCollision } from "../csi/csiDriverFacts.ts";
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";
import type { KnownCsiDrivers } from "./csiNode.ts";

const NODE_IDS = "csi.volume.kubernetes.io/nodeid";

/** A merge patch of the Node. */
export interface CsiNodePatch extends Readonly<Record<string, unknown>> {
  readonly metadata: {
    readonly annotations?: Readonly<Record<string, string | null>>;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

/**
 * Returns the patch that the Node needs; undefined: none. Labels stay when their driver goes, as upstream. Errors: an
 * annotation that cannot be read is never replaced, since it may be another program's.
 */
export function csiNodePatch(node: Node, drivers: KnownCsiDrivers): Result<CsiNodePatch | undefined> {
  const { annotations = {}, labels = {} } = node.metadata ?? {};
  const ids = nodeIdsOf(annotations[NODE_IDS] ?? "");
  if (!ids.ok) return ids;
  const wanted = { ...ids.value };
  for (const name of drivers.gone) delete wanted[name];
  const news: Record<string, string> = {};
  for (const { name, nodeId, topology } of drivers.registered.values()) {
    wanted[name] = nodeId;
    // Since the driver registered, others may have changed the labels: they win.
    if (topologyCollision(topology, labels) !== undefined) continue;
    for (const [key, value] of Object.entries(topology)) if (labels[key] !== value) news[key] = value;
  }
  const text = textOf(wanted);
  const isSame = text === textOf(ids.value);
  if (isSame && Object.keys(news).length === 0) return ok(undefined);
  return ok({
    metadata: {
      ...(isSame ? {} : { annotations: { [NODE_IDS]: text } }),
      ...(Object.keys(news).length === 0 ? {} : { labels: news }),
    },
  });
}

type NodeIds = Readonly<Record<string, string>>;

/** Sorted by name; null removes the annotation of a node without drivers. */
const textOf = (ids: NodeIds): string | null => {
  const entries = Object.entries(ids).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0 ? null : goJson(Object.fromEntries(entries));
};

function nodeIdsOf(annotation: string): Result<NodeIds> {
  if (annotation === "") return ok({});
  try {
    const parsed: unknown = JSON.parse(annotation);
    if (parsed === null) return ok({});
    if (typeof parsed === "object" && !Array.isArray(parsed) && Object.values(parsed).every(isText)) {
      return ok(parsed as NodeIds);
    }
  } catch {
    // The same outcome as for other values.
  }
  const shown = JSON.stringify(annotation.slice(0, 256));
  return err(kubeletError("InvalidArgument", `failed to parse node's "${NODE_IDS}" annotation value (${shown})`));
}

const isText = (value: unknown): value is string => typeof value === "string";
