/**
 * Facts that a CSI driver gives at its registration. Its answers are untrusted: each part has a bound, those of the API
 * where the API has one.
 */
import { labelKeyFault, labelValueFault } from "../config/nodeNames.ts";
import { goQuote } from "../container/goJson.ts";
import { type KubeletError, kubeletError } from "../errors.ts";
import type { GetPluginInfoResponse, NodeGetCapabilitiesResponse, NodeGetInfoResponse } from "../../gen/csi.ts";
import { NodeServiceCapability_RPC_Type as Rpc } from "../../gen/csi.ts";
import { err, ok, type Result } from "../result.ts";
import type { CsiVersion } from "./csiVersion.ts";

/** Optional calls of a driver that the kubelet knows. */
export type CsiCapability =
  | "STAGE_UNSTAGE_VOLUME"
  | "GET_VOLUME_STATS"
  | "EXPAND_VOLUME"
  | "VOLUME_CONDITION"
  | "SINGLE_NODE_MULTI_WRITER"
  | "VOLUME_MOUNT_GROUP";

/** A registered driver. */
export interface CsiDriverFacts {
  readonly name: string;
  /** Path of its socket. */
  readonly endpoint: string;
  readonly version: CsiVersion;
  /** Version of the vendor; empty: unknown. */
  readonly vendorVersion: string;
  /** Name of this node in the driver's storage system. */
  readonly nodeId: string;
  /** Volumes that the node can have; undefined: no limit. */
  readonly maxVolumes: number | undefined;
  /** Labels of the place of this node. */
  readonly topology: Readonly<Record<string, string>>;
  readonly capabilities: ReadonlySet<CsiCapability>;
}

/** Registered drivers by name. */
export type CsiDrivers = ReadonlyMap<string, CsiDriverFacts>;

export const NO_CSI_DRIVERS: CsiDrivers = new Map();

/** The answers of a driver. */
export interface CsiDriverAnswers {
  /** undefined: the driver does not say its name. */
  readonly plugin: GetPluginInfoResponse | undefined;
  readonly node: NodeGetInfoResponse;
  readonly capabilities: NodeGetCapabilitiesResponse;
}

/** The API's longest nodeID of a CSINode. */
const MAX_NODE_ID_BYTES = 256;
const MAX_SEGMENTS = 64;
const MAX_CAPABILITIES = 64;
const MAX_INT32 = 2 ** 31 - 1;
const MAX_VENDOR_VERSION = 128;

const CAPABILITIES: ReadonlyMap<number, CsiCapability> = new Map([
  [Rpc.STAGE_UNSTAGE_VOLUME, "STAGE_UNSTAGE_VOLUME"],
  [Rpc.GET_VOLUME_STATS, "GET_VOLUME_STATS"],
  [Rpc.EXPAND_VOLUME, "EXPAND_VOLUME"],
  [Rpc.VOLUME_CONDITION, "VOLUME_CONDITION"],
  [Rpc.SINGLE_NODE_MULTI_WRITER, "SINGLE_NODE_MULTI_WRITER"],
  [Rpc.VOLUME_MOUNT_GROUP, "VOLUME_MOUNT_GROUP"],
]);

/** Returns the facts from the answers, or why they cannot be used. */
export function csiDriverFacts(
  registered: Pick<CsiDriverFacts, "name" | "endpoint" | "version">,
  { plugin, node, capabilities }: CsiDriverAnswers,
): Result<CsiDriverFacts> {
  const { nodeId, accessibleTopology } = node;
  const limit = maxVolumesOf(node);
  const topology = accessibleTopology?.segments ?? {};
  const fault =
    nameFault(registered.name, plugin) ??
    nodeIdFault(nodeId) ??
    topologyFault(topology) ??
    (limit.ok ? undefined : limit.error.message) ??
    (capabilities.capabilities.length > MAX_CAPABILITIES
      ? `the driver lists more than ${MAX_CAPABILITIES} capabilities`
      : undefined);
  if (fault !== undefined) return err(lie(fault));
  const known = capabilities.capabilities.flatMap(({ rpc }) => CAPABILITIES.get(rpc?.type ?? 0) ?? []);
  return ok({
    ...registered,
    vendorVersion: (plugin?.vendorVersion ?? "").slice(0, MAX_VENDOR_VERSION),
    nodeId,
    maxVolumes: limit.ok ? limit.value : undefined,
    topology: sorted(topology),
    capabilities: new Set(known),
  });
}

/** Returns the number of volumes that the node can have; undefined: no limit. Errors: InvalidArgument. */
export function maxVolumesOf({
  maxVolumesPerNode,
}: Pick<NodeGetInfoResponse, "maxVolumesPerNode">): Result<number | undefined> {
  if (maxVolumesPerNode < 0n) return err(lie(`the driver gives ${maxVolumesPerNode} as max_volumes_per_node`));
  return ok(maxVolumesPerNode === 0n ? undefined : Math.min(Number(maxVolumesPerNode), MAX_INT32));
}

const lie = (message: string): KubeletError => kubeletError("InvalidArgument", message);

const sorted = (topology: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(topology).sort(([a], [b]) => (a < b ? -1 : 1)));

const nameFault = (name: string, plugin: GetPluginInfoResponse | undefined): string | undefined =>
  plugin === undefined || plugin.name === name
    ? undefined
    : `the driver calls itself ${goQuote(plugin.name.slice(0, MAX_NODE_ID_BYTES))}, but registers as ${goQuote(name)}`;

function nodeIdFault(nodeId: string): string | undefined {
  if (nodeId === "") return "error adding CSI driver node info: driverNodeID must not be empty";
  // No character of UTF-16 has more than three bytes, so a long text needs no encoding to be refused.
  if (nodeId.length > MAX_NODE_ID_BYTES) return `the node ID has more than ${MAX_NODE_ID_BYTES} characters`;
  return undefined;
}

function topologyFault(topology: Readonly<Record<string, string>>): string | undefined {
  const entries = Object.entries(topology);
  if (entries.length > MAX_SEGMENTS) return `the topology has more than ${MAX_SEGMENTS} segments`;
  for (const [key, value] of entries) {
    const fault = labelKeyFault(key) ?? labelValueFault(value);
    if (fault !== undefined) {
      return `the topology segment ${goQuote(key.slice(0, MAX_NODE_ID_BYTES))} cannot be a label of the node: ${fault}`;
    }
  }
  return undefined;
}

/** Returns the first label of the node that contradicts the topology, in upstream's words. */
export function topologyCollision(
  topology: Readonly<Record<string, string>>,
  labels: Readonly<Record<string, string>> | undefined,
): string | undefined {
  for (const [key, value] of Object.entries(topology)) {
    const existing = labels?.[key];
    if (existing !== undefined && existing !== value) {
      const [k, v, old] = [goQuote(key), goQuote(value), goQuote(existing)];
      return `detected topology value collision: driver reported ${k}:${v} but existing label is ${k}:${old}`;
    }
  }
  return undefined;
}
