/**
 * What makes a volume on the node, as data: where it is, what is mounted or bound there, who owns it. The kinds differ in
 * this record alone; making and removing are the same for all. Counterparts: the volume plugins of pkg/volume.
 */
import type { Labels, Term } from "../admission/nodeSelection.ts";
import type { Pod } from "../api.ts";
import { goQuote } from "../container/goJson.ts";
import { type KubeletError, kubeletError } from "../errors.ts";
import { escapePluginName, localDeviceMount, type PathRoots, podPluginsDir, podsDir, podVolumeDir } from "../paths.ts";
import { parseQuantity, quantityValue } from "../quantity.ts";
import { podCgroupResources } from "../resources/podCgroup.ts";
import type { ResourceAmounts } from "../resources/resourceList.ts";
import { err, ok, type Result } from "../result.ts";
import { type CsiOrigin, csiNotServed } from "./csiVolume.ts";
import { hugePageSize } from "./hugePages.ts";
import { nestedMountPoints } from "./nestedMountPoints.ts";

export type Volume = NonNullable<Pod["spec"]["volumes"]>[number];

/** A file system mounted at the directory of a volume. */
export interface FileSystem {
  readonly source: string;
  readonly fsType: string;
  readonly options: readonly string[];
}

/** A directory of the node, or the file system of a block device of the node, that is bound to the path of a volume. */
export interface BoundVolume {
  readonly source: string;
  readonly readOnly: boolean;
  /** Of that mount alone, as the PersistentVolume has them. */
  readonly options: readonly string[];
  /** Where pods have their volumes: what another pod has bound there is its group's, and stays so. */
  readonly podsDir: string;
  /** Where `source` is mounted for all pods of the node, should it be a block device. */
  readonly device: DeviceMount;
}

/** A block device and the place of its file system on the node, one for all its pods. */
export interface DeviceMount extends FileSystem {
  readonly mountPoint: string;
}

/** A group the volume is given to. Counterpart: SetVolumeOwnership. */
export interface Ownership {
  readonly fsGroup: number;
  readonly changePolicy?: "Always" | "OnRootMismatch";
  /** The group may only read: of volumes that containers cannot write to. */
  readonly readOnly?: boolean;
}

/** One volume of a pod, as it has to be on the node. */
export interface VolumeLayout {
  /** Its own name: that in the pod, or that of the PersistentVolume behind a claim. */
  readonly name: string;
  /** `kubernetes.io/empty-dir`; empty for what no plugin makes. */
  readonly plugin: string;
  /** What containers see. */
  readonly path: string;
  /** Whether `path` is a directory of the kubelet's own: made before anything else, removed at last. */
  readonly isOwnDirectory: boolean;
  readonly fileSystem?: FileSystem;
  readonly bound?: BoundVolume;
  /** Its file system is to count what is in it, if it can. */
  readonly hasQuota?: boolean;
  /** What must be at `path`, as a hostPath type; absent or empty: anything or nothing. */
  readonly wanted?: string;
  /** Whether the kubelet fills it, again whenever what it is made of changed. */
  readonly hasContent: boolean;
  readonly ownership?: Ownership;
  /** Of what pods write to, a directory that tells that it was given to `ownership` once: never again, as upstream. */
  readonly readyDir?: string;
  /** Directories in a volume with content, relative, for what containers mount below it. */
  readonly nested?: readonly string[];
  /** Of the node, by its labels; absent: any. */
  readonly nodeTerms?: readonly Term[];
  /** It has options for a mount, where nothing is mounted. */
  readonly hasVainMountOptions?: boolean;
  /** Why it can never be set up; to be said at each try, as upstream does. */
  readonly fault?: KubeletError;
  /** Containers may not write to it, whatever they ask for. */
  readonly isReadOnly: boolean;
  readonly selinuxRelabel: boolean;
  /** An image that the runtime mounts. */
  readonly image?: { readonly reference: string; readonly pullPolicy: string };
}

/** What of the node a layout depends on. */
export interface VolumeNode {
  readonly directories: Pick<PathRoots, "rootDir">;
  readonly allocatable: ResourceAmounts;
  /** Whether a tmpfs can be kept out of swap. */
  readonly hasNoSwap: boolean;
  /** Undefined until the Node is known, and on a node of no cluster. */
  readonly labels: Labels | undefined;
}

export const EMPTY_DIR_PLUGIN = "kubernetes.io/empty-dir";
export const NFS_PLUGIN = "kubernetes.io/nfs";
export const LOCAL_PLUGIN = "kubernetes.io/local-volume";
const HOST_PATH_PLUGIN = "kubernetes.io/host-path";
const LIMITS = { cpuCfsQuota: false, cpuCfsPeriodUs: 100_000, podPidsLimit: 0, memoryQos: undefined };

/** Names a volume among those of its pod: two with one key are one directory. */
export const volumeKey = ({ plugin, name }: Pick<VolumeLayout, "plugin" | "name">): string => `${plugin}/${name}`;

const own = (pod: Pod, name: string, plugin: string, { directories }: VolumeNode) => ({
  name,
  plugin,
  path: podVolumeDir(directories, pod.metadata.uid, escapePluginName(plugin), name),
  isOwnDirectory: true,
});

/** `fsGroup` of the pod, if it has one. Its change policy is for volumes that outlive the pod. */
function contentOwnership({ spec }: Pod): Pick<VolumeLayout, "ownership"> {
  const { fsGroup } = spec.securityContext ?? {};
  return fsGroup === undefined ? {} : { ownership: { fsGroup, readOnly: true } };
}

/** Of a volume that pods write to. */
function givenOnce(
  { metadata, spec }: Pod,
  { name, plugin }: Pick<VolumeLayout, "name" | "plugin">,
  { directories }: VolumeNode,
): Pick<VolumeLayout, "ownership" | "readyDir"> {
  const { fsGroup } = spec.securityContext ?? {};
  if (fsGroup === undefined) return {};
  const readyDir = `${podPluginsDir(directories, metadata.uid)}/${escapePluginName(plugin)}/${name}`;
  return { ownership: { fsGroup }, readyDir };
}

function bytesOf(amount: string | undefined): bigint {
  const quantity = parseQuantity(amount ?? "0");
  return quantity === undefined ? 0n : quantityValue(quantity);
}

/** Of a tmpfs for the pod, in bytes: no more than the pod may use, or the node has. */
function memoryBytes(pod: Pod, sizeLimit: string | undefined, { allocatable }: VolumeNode): bigint {
  const node = bytesOf(allocatable["memory"]);
  const podLimit = BigInt(podCgroupResources(pod, LIMITS).memoryLimitBytes ?? 0);
  return [podLimit, bytesOf(sizeLimit)].reduce((size, limit) => (limit > 0n && limit <= size ? limit : size), node);
}

function tmpfs(pod: Pod, sizeLimit: string | undefined, node: VolumeNode): FileSystem {
  const bytes = memoryBytes(pod, sizeLimit, node);
  const options = [...(bytes > 0n ? [`size=${bytes}`] : []), ...(node.hasNoSwap ? ["noswap"] : [])];
  return { source: "tmpfs", fsType: "tmpfs", options };
}

function emptyDir(
  pod: Pod,
  name: string,
  source: NonNullable<Volume["emptyDir"]>,
  node: VolumeNode,
): Result<VolumeLayout> {
  const { medium = "", sizeLimit } = source;
  const made = {
    ...own(pod, name, EMPTY_DIR_PLUGIN, node),
    ...givenOnce(pod, { name, plugin: EMPTY_DIR_PLUGIN }, node),
    hasContent: false,
    isReadOnly: false,
    selinuxRelabel: true,
  };
  // With ids of the node a pod could give its files to another project, and nobody would count them.
  if (medium === "") return ok(pod.spec.hostUsers === false ? { ...made, hasQuota: true } : made);
  if (medium === "Memory") return ok({ ...made, fileSystem: tmpfs(pod, sizeLimit, node) });
  const pageSize = hugePageSize(pod, medium);
  if (!pageSize.ok) return ok({ ...made, fault: pageSize.error });
  const options = [`pagesize=${pageSize.value}`];
  const { readyDir: _everyTime, ...again } = made;
  return ok({ ...again, fileSystem: { source: "nodev", fsType: "hugetlbfs", options } });
}

/** Volumes the kubelet fills; upstream keeps those of ConfigMaps on disk and the others in memory. */
const CONTENT_PLUGINS = {
  configMap: { plugin: "kubernetes.io/configmap", isInMemory: false },
  secret: { plugin: "kubernetes.io/secret", isInMemory: true },
  downwardAPI: { plugin: "kubernetes.io/downward-api", isInMemory: true },
  projected: { plugin: "kubernetes.io/projected", isInMemory: true },
} as const;

function content(pod: Pod, volume: Volume, kind: keyof typeof CONTENT_PLUGINS, node: VolumeNode): VolumeLayout {
  const { plugin, isInMemory } = CONTENT_PLUGINS[kind];
  const nested = nestedMountPoints(pod, volume.name);
  return {
    ...own(pod, volume.name, plugin, node),
    ...contentOwnership(pod),
    ...(nested.length === 0 ? {} : { nested }),
    ...(isInMemory ? { fileSystem: tmpfs(pod, undefined, node) } : {}),
    hasContent: true,
    isReadOnly: true,
    selinuxRelabel: true,
  };
}

/** Where a volume comes from, once its claim is resolved; the fields of PersistentVolumes are those of pods. */
export interface VolumeOrigin {
  readonly name: string;
  readonly hostPath?: Volume["hostPath"];
  readonly nfs?: Volume["nfs"];
  readonly local?: { readonly path: string; readonly fsType?: string };
  readonly csi?: CsiOrigin;
  readonly mountOptions?: readonly string[];
  readonly nodeTerms?: readonly Term[];
  readonly readOnly?: boolean;
}

/** A volume of the node or of the network, which outlives the pod; undefined for a kind that is not served. */
export function layoutOfOrigin(
  pod: Pod,
  origin: Omit<VolumeOrigin, "csi">,
  node: VolumeNode,
): VolumeLayout | undefined {
  const { name, hostPath, nfs, local, mountOptions = [] } = origin;
  if (hostPath !== undefined) {
    const { path, type = "" } = hostPath;
    const seen = { name, plugin: HOST_PATH_PLUGIN, path, isOwnDirectory: false, wanted: type };
    const vain = mountOptions.length === 0 ? {} : { hasVainMountOptions: true };
    return { ...seen, ...vain, hasContent: false, isReadOnly: origin.readOnly ?? false, selinuxRelabel: false };
  }
  if (nfs !== undefined) {
    const isReadOnly = nfs.readOnly === true || origin.readOnly === true;
    const options = joinedOptions(mountOptions, isReadOnly);
    const fileSystem = { source: `${nfsHost(nfs.server)}:${nfs.path}`, fsType: "nfs", options };
    return {
      ...own(pod, name, NFS_PLUGIN, node),
      fileSystem,
      hasContent: false,
      isReadOnly,
      selinuxRelabel: false,
    };
  }
  if (local !== undefined) {
    const isReadOnly = origin.readOnly ?? false;
    return {
      ...own(pod, name, LOCAL_PLUGIN, node),
      bound: boundVolume(name, local, { mountOptions, isReadOnly }, node),
      ...(isReadOnly ? {} : localOwnership(pod, name, node)),
      hasContent: false,
      isReadOnly,
      selinuxRelabel: true,
    };
  }
  return undefined;
}

function boundVolume(
  name: string,
  { path, fsType = "ext4" }: NonNullable<VolumeOrigin["local"]>,
  { mountOptions, isReadOnly }: { readonly mountOptions: readonly string[]; readonly isReadOnly: boolean },
  { directories }: VolumeNode,
): BoundVolume {
  const options = [...joinedOptions(mountOptions, isReadOnly), "defaults"];
  return {
    source: path,
    readOnly: isReadOnly,
    options: mountOptions,
    podsDir: podsDir(directories),
    device: { source: path, fsType, options, mountPoint: localDeviceMount(directories, name) },
  };
}

/** Sorted, each once, as upstream has them. */
const joinedOptions = (mountOptions: readonly string[], isReadOnly: boolean): readonly string[] =>
  [...new Set([...mountOptions, ...(isReadOnly ? ["ro"] : [])])].sort();

function localOwnership(pod: Pod, name: string, node: VolumeNode): Pick<VolumeLayout, "ownership" | "readyDir"> {
  const { ownership, ...ready } = givenOnce(pod, { name, plugin: LOCAL_PLUGIN }, node);
  if (ownership === undefined) return {};
  const changePolicy = pod.spec.securityContext?.fsGroupChangePolicy;
  return { ...ready, ownership: changePolicy === "OnRootMismatch" ? { ...ownership, changePolicy } : ownership };
}

const nfsHost = (server: string): string => (server.includes(":") && !server.startsWith("[") ? `[${server}]` : server);

/** The kind of a volume, by the name of its field. */
const volumeKind = ({ name: _name, ...sources }: Volume): string =>
  Object.entries(sources).find(([, source]) => source !== undefined)?.[0] ?? "";

/** No plugin makes volumes of this kind: upstream's words, and more. */
const notServed = (name: string, why: string): Result<never> =>
  err(
    kubeletError(
      "Unimplemented",
      `failed to get Plugin from volumeSpec for volume ${goQuote(name)} err=no volume plugin matched (${why})`,
      { reason: "FailedMount" },
    ),
  );

/** The layout of a volume that was looked up. */
export function layoutOfFound(pod: Pod, origin: VolumeOrigin, node: VolumeNode): Result<VolumeLayout> {
  if (origin.csi !== undefined) return notServed(origin.name, csiNotServed(origin.csi));
  const found = layoutOfOrigin(pod, origin, node);
  if (found === undefined) return notServed(origin.name, "its kind is not served");
  return ok(origin.nodeTerms === undefined ? found : { ...found, nodeTerms: origin.nodeTerms });
}

/** The layout of a volume that names its source itself; claims and drivers are looked up first. */
export function layoutOf(pod: Pod, volume: Volume, node: VolumeNode): Result<VolumeLayout> {
  const kind = volumeKind(volume);
  if (volume.emptyDir !== undefined) return emptyDir(pod, volume.name, volume.emptyDir, node);
  if (kind in CONTENT_PLUGINS) return ok(content(pod, volume, kind as keyof typeof CONTENT_PLUGINS, node));
  if (volume.image !== undefined) {
    const { reference = "", pullPolicy = "" } = volume.image;
    const made = { name: volume.name, plugin: "kubernetes.io/image", path: "", isOwnDirectory: false };
    return ok({ ...made, hasContent: false, isReadOnly: true, selinuxRelabel: true, image: { reference, pullPolicy } });
  }
  const found = layoutOfOrigin(pod, volume, node);
  return found === undefined ? notServed(volume.name, `${kind || "no source"} is not served`) : ok(found);
}

/** Volumes some container of the pod uses, in the order of the spec; those nobody uses are never set up. */
export function usedVolumes({ spec }: Pod): readonly Volume[] {
  const { containers, initContainers = [], ephemeralContainers = [], volumes = [] } = spec;
  const all = [...containers, ...initContainers, ...ephemeralContainers];
  const names = new Set(
    all.flatMap(({ volumeMounts = [], volumeDevices = [] }) =>
      [...volumeMounts, ...volumeDevices].map(({ name }) => name),
    ),
  );
  return volumes.filter(({ name }) => names.has(name));
}
