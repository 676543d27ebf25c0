/**
 * Paths on disk: all paths of the kubelet in upstream's layout, so that crictl, log shippers and another kubelet that
 * takes over the node find them. Pure: names in, absolute paths out.
 */
import { isPathSegment } from "./pathSegment.ts";

/** Root directories of all paths; absolute, without a trailing slash. */
export interface PathRoots {
  /** `/var/lib/kubelet` upstream. */
  readonly rootDir: string;
  /** `/var/log/pods` upstream. */
  readonly podLogsDir: string;
}

type RootDir = Pick<PathRoots, "rootDir">;
type PodLogsDir = Pick<PathRoots, "podLogsDir">;

/** Identity of a pod as encoded in its log directory's name. */
export interface PodLogDirName {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

const MAX_FILE_NAME_LENGTH = 255;
const LOG_SUFFIX = ".log";

/** Returns a volume plugin's name as a directory name: `kubernetes.io/empty-dir` is `kubernetes.io~empty-dir`. */
export const escapePluginName = (plugin: string): string => plugin.replaceAll("/", "~");

/** Returns the plugin's name for its directory name. */
export const unescapePluginName = (escaped: string): string => escaped.replaceAll("~", "/");

/** State of the CPU manager, in upstream's format. */
export const cpuStatePath = ({ rootDir }: RootDir): string => `${rootDir}/cpu_manager_state`;

/** State of the memory manager, in upstream's format. */
export const memoryStatePath = ({ rootDir }: RootDir): string => `${rootDir}/memory_manager_state`;

/** State of node shutdowns, in upstream's format. */
export const shutdownStatePath = ({ rootDir }: RootDir): string => `${rootDir}/graceful_node_shutdown_state`;

/** Directory of the key, and of all that is kept for a boot without the API server. */
export const offlineDir = ({ rootDir }: RootDir): string => `${rootDir}/offline`;

/** Directory of the records kept for a boot without the API server. */
export const offlineRecordsDir = (roots: RootDir): string => `${offlineDir(roots)}/records`;

/** Directory of records that cannot be used. */
export const offlineAsideDir = (roots: RootDir): string => `${offlineDir(roots)}/aside`;

/** Parent directory of all pod directories. */
export const podsDir = ({ rootDir }: RootDir): string => `${rootDir}/pods`;

/** Directory of a pod, named by its UID. */
export const podDir = (roots: RootDir, uid: string): string => `${podsDir(roots)}/${uid}`;

/** Parent directory of a pod's volumes, by plugin. */
export const podVolumesDir = (roots: RootDir, uid: string): string => `${podDir(roots, uid)}/volumes`;

/** Parent directory of the pod's links to its block volumes, by plugin. */
export const podVolumeDevicesDir = (roots: RootDir, uid: string): string => `${podDir(roots, uid)}/volumeDevices`;

/** Directory of one volume; `plugin` in its escaped form, e.g. `kubernetes.io~empty-dir`. */
export const podVolumeDir = (roots: RootDir, uid: string, plugin: string, volume: string): string =>
  `${podVolumesDir(roots, uid)}/${plugin}/${volume}`;

/** Parent directory of a pod's subPath mounts. */
export const podVolumeSubpathsDir = (roots: RootDir, uid: string): string => `${podDir(roots, uid)}/volume-subpaths`;

/** Mount points of block devices of local volumes; each device is mounted once per node, under its volume's name. */
export const localDeviceMounts = ({ rootDir }: RootDir): string =>
  `${rootDir}/plugins/kubernetes.io/local-volume/mounts`;

/** Mount point of the block device of a local volume. */
export const localDeviceMount = (roots: RootDir, volume: string): string => `${localDeviceMounts(roots)}/${volume}`;

/** Directory of the CSI volumes of all drivers. */
export const csiPluginDir = ({ rootDir }: RootDir): string => `${rootDir}/plugins/kubernetes.io/csi`;

/** Directory of a CSI volume that pods of the node share; `hash` stands for the volume in the driver's system. */
export const csiStageDir = (roots: RootDir, driver: string, hash: string): string =>
  `${csiPluginDir(roots)}/${driver}/${hash}`;

/** Mount point of a volume of a flexVolume driver for all pods of the node. */
export const flexDeviceMount = ({ rootDir }: RootDir, driver: string, volume: string): string =>
  `${flexPluginDir({ rootDir })}/${driver}/mounts/${volume}`;

/** Directory of the flexVolumes of the node, by driver. */
export const flexPluginDir = (roots: RootDir): string => diskPluginDir(roots, "kubernetes.io/flexvolume");

/** Mount point of a Fibre Channel disk for all pods of the node; `disk` is the name of its directory. */
export const fcDeviceMount = ({ rootDir }: RootDir, disk: string): string =>
  `${rootDir}/plugins/kubernetes.io/fc/${disk}`;

/** Directory of the iSCSI disks of the node. */
export const iscsiPluginDir = (roots: RootDir): string => diskPluginDir(roots, "kubernetes.io/iscsi");

/** Directory of the disks of a plugin, such as `kubernetes.io/fc`. */
export const diskPluginDir = ({ rootDir }: RootDir, plugin: string): string => `${rootDir}/plugins/${plugin}`;

/** Directory of the disks of a plugin that containers get as block devices. */
export const diskDevicesDir = (roots: RootDir, plugin: string): string =>
  `${diskPluginDir(roots, plugin)}/volumeDevices`;

/** Mount point of an iSCSI disk for all pods of the node; `iface` and `disk` are the names of its directories. */
export const iscsiDeviceMount = (roots: RootDir, iface: string, disk: string): string =>
  `${iscsiPluginDir(roots)}/${iface}/${disk}`;

/** Directory of the sockets through which plugins register. */
export const pluginRegistryDir = ({ rootDir }: RootDir): string => `${rootDir}/plugins_registry`;

/** The socket of the pod resources API. */
export const podResourcesSocket = ({ rootDir }: RootDir): string => `${rootDir}/pod-resources/kubelet.sock`;

/** The socket of the Pods API. */
export const podsSocket = ({ rootDir }: RootDir): string => `${rootDir}/pods-api/pods-api.sock`;

/** Directory of kubelet.sock, of the sockets of device plugins, and of the checkpoint of devices. */
export const devicePluginsDir = ({ rootDir }: RootDir): string => `${rootDir}/device-plugins`;

/** Checkpoint of the devices that containers have. */
export const deviceCheckpointPath = (roots: RootDir): string =>
  `${devicePluginsDir(roots)}/kubelet_internal_checkpoint`;

/** Directory for the per-pod state of plugins. */
export const podPluginsDir = (roots: RootDir, uid: string): string => `${podDir(roots, uid)}/plugins`;
/** Directory of the termination message files of one container of a pod. */
export const podContainerDir = (roots: RootDir, uid: string, container: string): string =>
  `${podDir(roots, uid)}/containers/${container}`;

/** Termination message file of one attempt of a container; `id` is eight random hex digits. */
export const terminationLogPath = (roots: RootDir, uid: string, container: string, id: string): string =>
  `${podContainerDir(roots, uid, container)}/${id}`;

/**
 * Returns whether a path is a termination message file of this container. Ignores the root directory, since an earlier
 * kubelet may have reached it by another path.
 */
export function isTerminationLog(path: string, uid: string, container: string): boolean {
  const [id = "", ...above] = path.split("/").toReversed();
  return (
    /^[0-9a-f]{8}$/.test(id) && [container, "containers", uid, "pods"].every((name, index) => above[index] === name)
  );
}

/** Checkpoint of the pod's allocated resources. */
export const podAllocationPath = (roots: RootDir, uid: string): string => `${podDir(roots, uid)}/allocation.json`;

/** Times of the status of a static pod. */
export const statusTimesPath = (roots: RootDir, uid: string): string => `${podDir(roots, uid)}/status-times.json`;

/** Checkpoint of the claims in use, where upstream has it. */
export const claimsStatePath = ({ rootDir }: RootDir): string => `${rootDir}/dra_manager_state`;

/** The file mounted as /etc/hosts. */
export const etcHostsPath = (roots: RootDir, uid: string): string => `${podDir(roots, uid)}/etc-hosts`;

/** Lock file that mount tools hold locked while they run. */
export const mountToolsLockPath = ({ rootDir }: RootDir): string => `${rootDir}/mount-tools.lock`;

/** Directory of the profiles that `localhostProfile` of a seccomp profile names. */
export const seccompProfilesDir = ({ rootDir }: RootDir): string => `${rootDir}/seccomp`;

/** Log directory of a pod. */
export const podLogDir = ({ podLogsDir }: PodLogsDir, pod: PodLogDirName): string =>
  `${podLogsDir}/${pod.namespace}_${pod.name}_${pod.uid}`;

/** Log directory of one container of a pod. */
export const containerLogDir = (roots: PodLogsDir, pod: PodLogDirName, container: string): string =>
  `${podLogDir(roots, pod)}/${container}`;

/** Log file of one attempt of a container, relative to the pod's log directory. */
export const containerLogName = (container: string, attempt: number): string => `${container}/${attempt}${LOG_SUFFIX}`;

/** Log file of one attempt of a container. */
export const containerLogPath = (roots: PodLogsDir, pod: PodLogDirName, container: string, attempt: number): string =>
  `${podLogDir(roots, pod)}/${containerLogName(container, attempt)}`;

/**
 * Returns whether a path is a log file of this container, as the runtime must report it. Ignores the directory of all logs,
 * since an earlier kubelet may have reached it by another path.
 */
export function isContainerLog(path: string, pod: PodLogDirName, container: string): boolean {
  const [file = "", ...above] = path.split("/").toReversed();
  const isBelow = above[0] === container && above[1] === `${pod.namespace}_${pod.name}_${pod.uid}`;
  return /^\d+\.log$/.test(file) && isBelow && above.at(-1) === "" && !above.includes("..");
}

/** Identity of a log link, encoded in its name. */
export interface ContainerLogLink {
  readonly podName: string;
  readonly namespace: string;
  readonly container: string;
  readonly containerId: string;
}

/** Returns the path of a container's log link for log shippers; the name is cut to the limit of file systems. */
export function containerLogLinkPath(containerLogsDir: string, link: ContainerLogLink): string {
  const name = `${link.podName}_${link.namespace}_${link.container}-${link.containerId}`;
  return `${containerLogsDir}/${name.slice(0, MAX_FILE_NAME_LENGTH - LOG_SUFFIX.length)}${LOG_SUFFIX}`;
}

/** Returns whether this name (not path) is a log link of the pod. */
export const isLogLinkOf = (pod: { readonly name: string; readonly namespace: string }, name: string): boolean =>
  name.startsWith(`${pod.name}_${pod.namespace}_`);

/** Returns the container ID in a log link's name (not path); undefined for any other name. */
export const parseContainerLogLink = (name: string): string | undefined =>
  /^[^_]+_[^_]+_[^_]+-([0-9a-f]+)\.log(?:\.rxlet-\d+)?$/.exec(name)?.[1];

/** Parses the name (not path) of a pod's log directory; undefined for any other name. */
export function parsePodLogDir(name: string): PodLogDirName | undefined {
  const [namespace, podName, uid, ...rest] = name.split("_");
  if (rest.length > 0 || !namespace || !podName || !uid || !isPathSegment(uid)) return undefined;
  return { namespace, name: podName, uid };
}
