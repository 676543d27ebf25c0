/**
 * The rules of the CSI specification for callers of a node service: required fields, sizes, order, one call for a volume at a
 * time, equal arguments of a repeated call. Knows a driver's volumes by its calls.
 */
import type { CsiCapability } from "../../src/core/csi/csiDriverFacts.ts";
import { VolumeCapability_AccessMode_Mode as Mode } from "../../src/gen/csi.ts";

/** A request, as decoded. */
export interface CsiRequest {
  readonly volumeId?: string;
  readonly stagingTargetPath?: string;
  readonly targetPath?: string;
  readonly volumePath?: string;
  readonly readonly?: boolean;
  readonly volumeCapability?:
    | {
        readonly block?: object | undefined;
        readonly mount?:
          | { readonly fsType: string; readonly mountFlags: readonly string[]; readonly volumeMountGroup: string }
          | undefined;
        readonly accessMode?: { readonly mode: number } | undefined;
      }
    | undefined;
  readonly capacityRange?: { readonly requiredBytes: bigint; readonly limitBytes: bigint } | undefined;
  readonly publishContext?: Readonly<Record<string, string>>;
  readonly volumeContext?: Readonly<Record<string, string>>;
  readonly secrets?: Readonly<Record<string, string>>;
}

/** Volumes of a driver; outlives the driver. */
export interface CsiRuleState {
  /** Staging path by volume. */
  readonly staged: Map<string, string>;
  /** Volume and arguments by target path. */
  readonly published: Map<string, { readonly volume: string; readonly args: string }>;
  /** Calls under way by volume. */
  readonly busy: Map<string, string>;
}

export const newRuleState = (): CsiRuleState => ({ staged: new Map(), published: new Map(), busy: new Map() });

const MAX_TEXT_BYTES = 128;
const MAX_MAP_BYTES = 4 * 1024;
const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

type Rpc = "nodeStageVolume" | "nodeUnstageVolume" | "nodePublishVolume" | "nodeUnpublishVolume" | "nodeExpandVolume";
const CHANGING: ReadonlySet<string> = new Set<Rpc>([
  ...(["nodeStageVolume", "nodeUnstageVolume", "nodePublishVolume", "nodeUnpublishVolume"] as const),
  "nodeExpandVolume",
]);

const REQUIRED: Readonly<Record<string, readonly (keyof CsiRequest)[]>> = {
  nodeStageVolume: ["volumeId", "stagingTargetPath", "volumeCapability"],
  nodeUnstageVolume: ["volumeId", "stagingTargetPath"],
  nodePublishVolume: ["volumeId", "targetPath", "volumeCapability"],
  nodeUnpublishVolume: ["volumeId", "targetPath"],
  nodeExpandVolume: ["volumeId", "volumePath"],
  nodeGetVolumeStats: ["volumeId", "volumePath"],
};
const NEEDED: Readonly<Record<string, CsiCapability>> = {
  nodeStageVolume: "STAGE_UNSTAGE_VOLUME",
  nodeUnstageVolume: "STAGE_UNSTAGE_VOLUME",
  nodeExpandVolume: "EXPAND_VOLUME",
  nodeGetVolumeStats: "GET_VOLUME_STATS",
};

/** Lists the required fields that a request lacks: a driver answers InvalidArgument. */
export const missingFields = (rpc: string, request: CsiRequest): readonly string[] =>
  (REQUIRED[rpc] ?? []).filter((field) => request[field] === undefined || request[field] === "");

/** Returns the rules that a request breaks as it arrives. */
export function brokenRules(
  rpc: string,
  request: CsiRequest,
  capabilities: ReadonlySet<CsiCapability>,
  state: CsiRuleState,
): readonly string[] {
  const needed = NEEDED[rpc];
  return [
    ...missingFields(rpc, request).map((field) => `${field} is required`),
    ...(needed !== undefined && !capabilities.has(needed) ? [`the driver lacks ${needed}`] : []),
    ...sizeFaults(request),
    ...capabilityFaults(request, capabilities),
    ...rangeFaults(request),
    ...orderFaults(rpc, request, capabilities, state),
  ];
}

function sizeFaults(request: CsiRequest): readonly string[] {
  const { volumeId = "", volumeCapability: { mount } = {} } = request;
  const texts = { volumeId, fsType: mount?.fsType ?? "", volumeMountGroup: mount?.volumeMountGroup ?? "" };
  const maps = {
    publishContext: Object.entries(request.publishContext ?? {}).flat(),
    volumeContext: Object.entries(request.volumeContext ?? {}).flat(),
    secrets: Object.entries(request.secrets ?? {}).flat(),
    mountFlags: mount?.mountFlags ?? [],
  };
  const { stagingTargetPath = "", targetPath = "", volumePath = "" } = request;
  const paths = Object.entries({ stagingTargetPath, targetPath, volumePath });
  return [
    ...Object.entries(texts)
      .filter(([, text]) => bytesOf(text) > MAX_TEXT_BYTES)
      .map(([field]) => `${field} exceeds ${MAX_TEXT_BYTES} bytes`),
    ...Object.entries(maps)
      .filter(([, texts]) => bytesOf(texts.join("")) > MAX_MAP_BYTES)
      .map(([field]) => `${field} exceeds ${MAX_MAP_BYTES} bytes`),
    ...paths
      .filter(([, path]) => path !== "" && !path.startsWith("/"))
      .map(([field]) => `${field} is not an absolute path`),
  ];
}

const NEW_MODES: ReadonlySet<number> = new Set([Mode.SINGLE_NODE_SINGLE_WRITER, Mode.SINGLE_NODE_MULTI_WRITER]);

function capabilityFaults(
  { volumeCapability: capability }: CsiRequest,
  capabilities: ReadonlySet<CsiCapability>,
): readonly string[] {
  if (capability === undefined) return [];
  const { block, mount, accessMode } = capability;
  const mode = accessMode?.mode ?? Mode.UNKNOWN;
  return [
    ...((block === undefined) === (mount === undefined) ? ["either block or mount is required"] : []),
    ...(mode === Mode.UNKNOWN ? ["an access mode is required"] : []),
    ...(NEW_MODES.has(mode) && !capabilities.has("SINGLE_NODE_MULTI_WRITER")
      ? ["the driver lacks SINGLE_NODE_MULTI_WRITER"]
      : []),
    ...((mount?.volumeMountGroup ?? "") !== "" && !capabilities.has("VOLUME_MOUNT_GROUP")
      ? ["the driver lacks VOLUME_MOUNT_GROUP"]
      : []),
  ];
}

function rangeFaults({ capacityRange: range }: CsiRequest): readonly string[] {
  if (range === undefined) return [];
  const { requiredBytes: required, limitBytes: limit } = range;
  if (required < 0n || limit < 0n) return ["a size is negative"];
  if (required === 0n && limit === 0n) return ["capacityRange has no size"];
  return limit !== 0n && limit < required ? ["limitBytes is less than requiredBytes"] : [];
}

function orderFaults(
  rpc: string,
  request: CsiRequest,
  capabilities: ReadonlySet<CsiCapability>,
  { staged, published, busy }: CsiRuleState,
): readonly string[] {
  const { volumeId = "", stagingTargetPath = "", targetPath = "", volumePath = "" } = request;
  const faults: string[] = [];
  const other = CHANGING.has(rpc) ? busy.get(volumeId) : undefined;
  if (other !== undefined) faults.push(`${other} is under way for the volume`);
  const stage = staged.get(volumeId);
  const isOther = stage !== undefined && stagingTargetPath !== "" && stage !== stagingTargetPath;
  if (isOther) faults.push(`the volume is staged at ${stage}`);
  const users = [...published].filter(([, { volume }]) => volume === volumeId);
  if (rpc === "nodeUnstageVolume" && users[0] !== undefined) faults.push(`the volume is published at ${users[0][0]}`);
  if (rpc === "nodePublishVolume") {
    // A staging path names a staged volume; inline volumes are never staged.
    const isStaging = capabilities.has("STAGE_UNSTAGE_VOLUME") && stagingTargetPath !== "";
    if (isStaging && stage === undefined) faults.push("the volume is not staged");
    const known = published.get(targetPath);
    if (known !== undefined && known.volume !== volumeId) faults.push(`${known.volume} is published there`);
    if (known !== undefined && known.args !== argsOf(request))
      faults.push("it is published there with other arguments");
  }
  if (rpc === "nodeExpandVolume" && volumePath !== stage && !users.some(([path]) => path === volumePath)) {
    faults.push(`the volume is not at ${volumePath}`);
  }
  return faults;
}

const argsOf = ({ volumeCapability, readonly }: CsiRequest): string => JSON.stringify({ volumeCapability, readonly });

/** Notes that a call has begun. Returns a function that notes its end; the driver has done its work or not. */
export function followCall(rpc: string, request: CsiRequest, state: CsiRuleState): (isDone: boolean) => void {
  const { volumeId = "", stagingTargetPath = "", targetPath = "" } = request;
  if (!CHANGING.has(rpc)) return () => {};
  state.busy.set(volumeId, rpc);
  return (isDone) => {
    state.busy.delete(volumeId);
    if (!isDone) return;
    if (rpc === "nodeStageVolume") state.staged.set(volumeId, stagingTargetPath);
    if (rpc === "nodeUnstageVolume") state.staged.delete(volumeId);
    if (rpc === "nodePublishVolume") state.published.set(targetPath, { volume: volumeId, args: argsOf(request) });
    if (rpc === "nodeUnpublishVolume") state.published.delete(targetPath);
  };
}
