/**
 * Where things are on disk: every path the kubelet uses, as upstream lays them out, so that crictl, log shippers and
 * another kubelet taking over the node find them. Pure: names in, absolute paths out.
 */
import { isPathSegment } from "./pathSegment.ts";

/** The directories all paths hang off; absolute, without a trailing slash. */
export interface PathRoots {
  /** `/var/lib/kubelet` upstream. */
  readonly rootDir: string;
  /** `/var/log/pods` upstream. */
  readonly podLogsDir: string;
}

type RootDir = Pick<PathRoots, "rootDir">;
type PodLogsDir = Pick<PathRoots, "podLogsDir">;

/** Who a pod is, as its log directory tells. */
export interface PodLogDirName {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

const MAX_FILE_NAME_LENGTH = 255;
const LOG_SUFFIX = ".log";

/** A volume plugin's name as a directory name: `kubernetes.io/empty-dir` is `kubernetes.io~empty-dir`. */
export const escapePluginName = (plugin: string): string => plugin.replaceAll("/", "~");

/** A directory name as the plugin's name. */
export const unescapePluginName = (escaped: string): string => escaped.replaceAll("~", "/");

export const podsDir = ({ rootDir }: RootDir): string => `${rootDir}/pods`;
export const podDir = (roots: RootDir, uid: string): string => `${podsDir(roots)}/${uid}`;
export const podVolumesDir = (roots: RootDir, uid: string): string => `${podDir(roots, uid)}/volumes`;

/** Directory of one volume; `plugin` in its escaped form, e.g. `kubernetes.io~empty-dir`. */
export const podVolumeDir = (roots: RootDir, uid: string, plugin: string, volume: string): string =>
  `${podVolumesDir(roots, uid)}/${plugin}/${volume}`;

export const podVolumeSubpathsDir = (roots: RootDir, uid: string): string => `${podDir(roots, uid)}/volume-subpaths`;

/** Block devices of local volumes, each mounted once for all pods of the node at the name of its volume. */
export const localDeviceMounts = ({ rootDir }: RootDir): string =>
  `${rootDir}/plugins/kubernetes.io/local-volume/mounts`;
export const localDeviceMount = (roots: RootDir, volume: string): string => `${localDeviceMounts(roots)}/${volume}`;

/** Where plugins keep per-pod state. */
export const podPluginsDir = (roots: RootDir, uid: string): string => `${podDir(roots, uid)}/plugins`;
/** Directory of the termination message files of one container of a pod. */
export const podContainerDir = (roots: RootDir, uid: string, container: string): string =>
  `${podDir(roots, uid)}/containers/${container}`;

/** Termination message file of one attempt of a container; `id` is eight random hex digits. */
export const terminationLogPath = (roots: RootDir, uid: string, container: string, id: string): string =>
  `${podContainerDir(roots, uid, container)}/${id}`;

/**
 * Whether a path is that of a termination message file of this container. The root directory is not compared: an earlier
 * kubelet may have reached it by another path.
 */
export function isTerminationLog(path: string, uid: string, container: string): boolean {
  const [id = "", ...above] = path.split("/").toReversed();
  return (
    /^[0-9a-f]{8}$/.test(id) && [container, "containers", uid, "pods"].every((name, index) => above[index] === name)
  );
}

/** What was granted to the pod, for the next kubelet. */
export const podAllocationPath = (roots: RootDir, uid: string): string => `${podDir(roots, uid)}/allocation.json`;

/** The file mounted as /etc/hosts. */
export const etcHostsPath = (roots: RootDir, uid: string): string => `${podDir(roots, uid)}/etc-hosts`;

/** Held open and locked by tools for mounts while they work. */
export const mountToolsLockPath = ({ rootDir }: RootDir): string => `${rootDir}/mount-tools.lock`;

/** Where `localhostProfile` of a seccomp profile is looked up. */
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

/** What a log link is named after. */
export interface ContainerLogLink {
  readonly podName: string;
  readonly namespace: string;
  readonly container: string;
  readonly containerId: string;
}

/** Link to a container's log for log shippers; the name is cut to what file systems allow. */
export function containerLogLinkPath(containerLogsDir: string, link: ContainerLogLink): string {
  const name = `${link.podName}_${link.namespace}_${link.container}-${link.containerId}`;
  return `${containerLogsDir}/${name.slice(0, MAX_FILE_NAME_LENGTH - LOG_SUFFIX.length)}${LOG_SUFFIX}`;
}

/** Whether this name (not path) is that of a link to a log of the pod. */
export const isLogLinkOf = (pod: { readonly name: string; readonly namespace: string }, name: string): boolean =>
  name.startsWith(`${pod.name}_${pod.namespace}_`);

/** Id of the container whose log this name (not path) of a link stands for; undefined when it is none. */
export const parseContainerLogLink = (name: string): string | undefined =>
  /^[^_]+_[^_]+_[^_]+-([0-9a-f]+)\.log(?:\.rxlet-\d+)?$/.exec(name)?.[1];

/** Whose log directory this name (not path) is; undefined when it is none. */
export function parsePodLogDir(name: string): PodLogDirName | undefined {
  const [namespace, podName, uid, ...rest] = name.split("_");
  if (rest.length > 0 || !namespace || !podName || !uid || !isPathSegment(uid)) return undefined;
  return { namespace, name: podName, uid };
}
