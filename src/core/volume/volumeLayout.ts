/**
 * Layouts of volumes on the node, as data: path, mount with its source and options, ownership. The volume types differ
 * only in this record; set up and tear down are the same for all but CSI (`core/csi/csiLayout.ts`). A type without a layout
 * is not supported, and its pods wait. Upstream: the volume plugins of pkg/volume.
 */
import type { Labels, Term } from "../admission/nodeSelection.ts";
import type { Pod } from "../api.ts";
import { goQuote } from "../container/goJson.ts";
import { type KubeletError, kubeletError } from "../errors.ts";
import { escapePluginName, localDeviceMount, type PathRoots, podPluginsDir, podsDir, podVolumeDir } from "../paths.ts";
import { perObject } from "../perObject.ts";
import { allContainers } from "../pod/containers.ts";
import { parseQuantity, quantityValue } from "../quantity.ts";
import { podCgroupResources } from "../resources/podCgroup.ts";
import type { ResourceAmounts } from "../resources/resourceList.ts";
import { err, ok, type Result } from "../result.ts";
import type { CsiLayout } from "../csi/csiVolumeLayout.ts";
import type { BlockLayout } from "./blockVolume.ts";
import type { DiskLayout } from "../disk/diskLayout.ts";
import { type FcDisk, fcLayout, type FcSource } from "../disk/fcDisk.ts";
import { iscsiLayout, type IscsiSource, type IscsiTarget } from "../disk/iscsiDisk.ts";
import { type FlexLayout, flexLayout, type FlexSource } from "../flex/flexLayout.ts";
import type { SelinuxNode } from "../selinux/selinuxNode.ts";
import type { CsiOrigin } from "./csiVolume.ts";
import { hugePageSize } from "./hugePages.ts";
import { lastingOwnership } from "./lastingOwnership.ts";
import type { VolumeCapacity } from "./volumeExpansion.ts";
import { nestedMountPoints } from "./nestedMountPoints.ts";

export type Volume = NonNullable<Pod["spec"]["volumes"]>[number];

/** A file system that is mounted at a volume's directory. */
export interface FileSystem {
  readonly source: string;
  readonly fsType: string;
  readonly options: readonly string[];
}

/** A directory of the node, or the file system of a block device, that is bind-mounted at a volume's path. */
export interface BoundVolume {
  readonly source: string;
  readonly readOnly: boolean;
  /** Mount options of the PersistentVolume, for this bind mount only. */
  readonly options: readonly string[];
  /**
   * Directory of all pods. If another pod has bind-mounted the source below it, the volume's group is left unchanged.
   */
  readonly podsDir: string;
  /** Mount point of `source` for all pods of the node, when it is a block device. */
  readonly device: DeviceMount;
}

/** A block device and the mount point of its file system, shared by the node's pods. */
export interface DeviceMount extends FileSystem {
  readonly mountPoint: string;
}

/** The group of a volume. Upstream: SetVolumeOwnership. */
export interface Ownership {
  readonly fsGroup: number;
  readonly changePolicy?: "Always" | "OnRootMismatch";
  /** The group gets read access only: for volumes that containers cannot write to. */
  readonly readOnly?: boolean;
}

/** The desired layout of a pod's volume. */
export interface VolumeLayout {
  /** The volume's name in the pod, or the name of the PersistentVolume behind a claim. */
  readonly name: string;
  /** `kubernetes.io/empty-dir`; empty when no volume plugin provides it. */
  readonly plugin: string;
  /** The path that is mounted into containers. */
  readonly path: string;
  /** Whether the kubelet owns the directory `path`: created before anything else, removed last. */
  readonly isOwnDirectory: boolean;
  readonly fileSystem?: FileSystem;
  readonly bound?: BoundVolume;
  /** Present for a volume that containers get as a device; `path` is the pod's link to it. */
  readonly block?: BlockLayout;
  readonly csi?: CsiLayout;
  readonly flex?: FlexLayout;
  readonly disk?: DiskLayout<FcDisk | IscsiTarget>;
  /** Present for a volume that the node expands together with its PersistentVolume. */
  readonly capacity?: VolumeCapacity;
  /** The file system measures its usage by quota, if supported. */
  readonly hasQuota?: boolean;
  /** The required hostPath type of `path`; absent or empty: no check. */
  readonly wanted?: string;
  /** Whether the kubelet fills it, and again when its inputs change. */
  readonly hasContent: boolean;
  readonly ownership?: Ownership;
  /**
   * Present for writable volumes: the directory of a file `ready`, which records that `ownership` was set. It is set only once,
   * as upstream.
   */
  readonly readyDir?: string;
  /** Relative paths of mount points that a volume with content must contain. */
  readonly nested?: readonly string[];
  /** Terms that the node's labels must match; absent: any node. */
  readonly nodeTerms?: readonly Term[];
  /** The volume has mount options although it is not mounted. */
  readonly hasVainMountOptions?: boolean;
  /** Why it can never be set up; as upstream, reported on each attempt. */
  readonly fault?: KubeletError;
  /** Containers cannot write to it, whatever their volumeMount says. */
  readonly isReadOnly: boolean;
  /** On a node with SELinux, the runtime labels its files, unless they turn out to have fixed labels once it is mounted. */
  readonly selinuxRelabel: boolean;
  /** An image volume, which the runtime mounts. */
  readonly image?: { readonly reference: string; readonly pullPolicy: string };
}

/** The node's facts that a layout depends on. */
export interface VolumeNode {
  readonly directories: Pick<PathRoots, "rootDir">;
  readonly allocatable: ResourceAmounts;
  /** Whether a tmpfs can be excluded from swap. */
  readonly hasNoSwap: boolean;
  /** undefined until the Node is known, and on a standalone node. */
  readonly labels: Labels | undefined;
  /** undefined: the node has no CSI drivers. */
  readonly csi?: { readonly nodeName: string } | undefined;
  /** Whether files have SELinux labels. */
  readonly selinuxEnabled: boolean;
  /** undefined: no volume is mounted with an SELinux label. */
  readonly selinux?: SelinuxNode | undefined;
}

export const EMPTY_DIR_PLUGIN = "kubernetes.io/empty-dir";
export const NFS_PLUGIN = "kubernetes.io/nfs";
export const LOCAL_PLUGIN = "kubernetes.io/local-volume";
const HOST_PATH_PLUGIN = "kubernetes.io/host-path";
const GIT_REPO_PLUGIN = "kubernetes.io/git-repo";
const LIMITS = { cpuCfsQuota: false, cpuCfsPeriodUs: 100_000, podPidsLimit: 0, memoryQos: undefined };

/** Returns the key of a volume within its pod; volumes with equal keys share a directory. */
export const volumeKey = ({ plugin, name }: Pick<VolumeLayout, "plugin" | "name">): string => `${plugin}/${name}`;

const own = (pod: Pod, name: string, plugin: string, { directories }: VolumeNode) => ({
  name,
  plugin,
  path: podVolumeDir(directories, pod.metadata.uid, escapePluginName(plugin), name),
  isOwnDirectory: true,
});

/** Returns the ownership from the pod's `fsGroup`. The change policy applies only to volumes that outlive the pod. */
function contentOwnership({ spec }: Pod): Pick<VolumeLayout, "ownership"> {
  const { fsGroup } = spec.securityContext ?? {};
  return fsGroup === undefined ? {} : { ownership: { fsGroup, readOnly: true } };
}

/** Returns the ownership of a writable volume, which is set once. */
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

/** Returns the size of the pod's tmpfs in bytes: at most the pod's memory limit and the node's allocatable. */
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
  // Without a user namespace, a pod could assign its files to another project and escape the quota.
  if (medium === "") return ok(pod.spec.hostUsers === false ? { ...made, hasQuota: true } : made);
  if (medium === "Memory") return ok({ ...made, fileSystem: tmpfs(pod, sizeLimit, node) });
  const pageSize = hugePageSize(pod, medium);
  if (!pageSize.ok) return ok({ ...made, fault: pageSize.error });
  const options = [`pagesize=${pageSize.value}`];
  const { readyDir: _everyTime, ...again } = made;
  return ok({ ...again, fileSystem: { source: "nodev", fsType: "hugetlbfs", options } });
}

/** Volumes that the kubelet fills; as upstream, those of ConfigMaps are on disk and the others in memory. */
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

/** Differs from upstream: the message does not advise to turn on a gate that is locked. */
const GIT_REPO_FAULT = kubeletError(
  "Unimplemented",
  "git-repo volume plugin has been disabled: the feature gate GitRepoVolumeDriver is locked to false",
);

/** A volume that can never be set up. */
const gitRepo = (pod: Pod, name: string, node: VolumeNode): VolumeLayout => ({
  ...own(pod, name, GIT_REPO_PLUGIN, node),
  fault: GIT_REPO_FAULT,
  hasContent: false,
  isReadOnly: false,
  selinuxRelabel: true,
});

/** The source of a volume, after its claim is resolved; PersistentVolumes and pods share the fields. */
export interface VolumeOrigin {
  readonly name: string;
  readonly hostPath?: Volume["hostPath"];
  readonly nfs?: Volume["nfs"];
  readonly local?: { readonly path: string; readonly fsType?: string };
  readonly csi?: CsiOrigin;
  readonly flexVolume?: FlexSource;
  readonly fc?: FcSource;
  readonly iscsi?: IscsiSource;
  readonly mountOptions?: readonly string[];
  /** Access modes of a PersistentVolume; `csi` has its own. */
  readonly accessModes?: readonly string[];
  readonly nodeTerms?: readonly Term[];
  readonly readOnly?: boolean;
  /** Containers get it as a block device. */
  readonly isBlock?: boolean;
  readonly capacity?: VolumeCapacity;
}

/** Returns the layout of a volume that outlives the pod; undefined for an unsupported type. */
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
      selinuxRelabel: !isReadOnly,
    };
  }
  const { flexVolume, fc, iscsi } = origin;
  if (fc !== undefined) return fcLayout(pod, name, fc, origin, node);
  if (iscsi !== undefined) return iscsiLayout(pod, name, iscsi, origin, node);
  return flexVolume && flexLayout(pod, name, flexVolume, origin.readOnly, node);
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

/** Sorted and without duplicates, as upstream. */
const joinedOptions = (mountOptions: readonly string[], isReadOnly: boolean): readonly string[] =>
  [...new Set([...mountOptions, ...(isReadOnly ? ["ro"] : [])])].sort();

function localOwnership(pod: Pod, name: string, node: VolumeNode): Pick<VolumeLayout, "ownership" | "readyDir"> {
  return { ...givenOnce(pod, { name, plugin: LOCAL_PLUGIN }, node), ...lastingOwnership(pod) };
}

const nfsHost = (server: string): string => (server.includes(":") && !server.startsWith("[") ? `[${server}]` : server);

/** Returns the type of a volume: the name of its source's field. */
const volumeKind = ({ name: _name, ...sources }: Volume): string =>
  Object.entries(sources).find(([, source]) => source !== undefined)?.[0] ?? "";

/** Returns the error of a volume that no volume plugin supports: upstream's text, with a reason added. */
export const noPlugin = (name: string, why: string): KubeletError =>
  kubeletError(
    "Unimplemented",
    `failed to get Plugin from volumeSpec for volume ${goQuote(name)} err=no volume plugin matched (${why})`,
    { reason: "FailedMount" },
  );

export const notServed = (name: string, why: string): Result<never> => err(noPlugin(name, why));

/** Returns the layout of a volume with its source in the pod; claims and drivers must be looked up first. */
export function layoutOf(pod: Pod, volume: Volume, node: VolumeNode): Result<VolumeLayout> {
  const kind = volumeKind(volume);
  if (volume.emptyDir !== undefined) return emptyDir(pod, volume.name, volume.emptyDir, node);
  if (kind in CONTENT_PLUGINS) return ok(content(pod, volume, kind as keyof typeof CONTENT_PLUGINS, node));
  if (volume.image !== undefined) {
    const { reference = "", pullPolicy = "" } = volume.image;
    const made = { name: volume.name, plugin: "kubernetes.io/image", path: "", isOwnDirectory: false };
    return ok({ ...made, hasContent: false, isReadOnly: true, selinuxRelabel: true, image: { reference, pullPolicy } });
  }
  if (volume.gitRepo !== undefined) return ok(gitRepo(pod, volume.name, node));
  const found = layoutOfOrigin(pod, volume, node);
  return found === undefined ? notServed(volume.name, `${kind || "no source"} is not served`) : ok(found);
}

/** Returns the volumes that a container of the pod uses, in spec order; unused volumes are never set up. */
export const usedVolumes = ({ spec }: Pod): readonly Volume[] => usedInSpec(spec);

const usedInSpec = perObject((spec: Pod["spec"]): readonly Volume[] => {
  const { volumes = [] } = spec;
  const names = new Set<string>();
  for (const { volumeMounts = [], volumeDevices = [] } of allContainers(spec)) {
    for (const { name } of volumeMounts) names.add(name);
    for (const { name } of volumeDevices) names.add(name);
  }
  return volumes.filter(({ name }) => names.has(name));
});
