/**
 * Layout of a flexVolume: its paths in upstream's layout, and the options of calls to its driver. Upstream:
 * pkg/volume/flexvolume/plugin.go, and NewOptionsForDriver of driver-call.go.
 */
import type { Pod } from "../api.ts";
import { goJson, goQuote } from "../container/goJson.ts";
import { kubeletError } from "../errors.ts";
import { escapePluginName, flexDeviceMount, type PathRoots, podVolumeDir } from "../paths.ts";
import { isPathSegment } from "../pathSegment.ts";
import type { SecretName } from "../volume/csiVolume.ts";
import { lastingOwnership } from "../volume/lastingOwnership.ts";

type Options = Readonly<Record<string, string>>;

/** The part of a volume's layout that only flexVolumes have. */
export interface FlexLayout {
  /** `vendor/driver`. */
  readonly driver: string;
  /** Name of the volume in the status of the Node, when its driver attaches volumes. */
  readonly volumeName: string;
  /** Mount point of the volume for all pods of the node, when its driver attaches volumes. */
  readonly mountPoint: string;
  readonly fsType: string;
  readonly secret: SecretName | undefined;
  /** Options of all calls. */
  readonly options: Options;
  /** Options that the pod or the PersistentVolume gives; they take precedence over all others. */
  readonly ownOptions: Options;
}

/** A volume in its pod or its PersistentVolume. */
export interface FlexSource {
  readonly driver: string;
  readonly fsType?: string;
  readonly readOnly?: boolean;
  readonly options?: Options;
  readonly secretRef?: SecretName;
}

/** Plugins with directories of their own, which no driver may take. */
const TAKEN =
  /^kubernetes\.io\/(?:empty-dir|configmap|secret|downward-api|projected|host-path|nfs|local-volume|csi|git-repo|iscsi|fc|flexvolume|image)$/;

/** Returns whether volumes of this plugin are those of a driver. */
export const isFlexPlugin = (plugin: string): boolean => plugin !== "" && !TAKEN.test(plugin);

/** Name of a volume that all pods of the node share. */
export const flexVolumeName = (driver: string, name: string): string => `${driver}/${name}`;

/** Returns the layout; `readOnly` is undefined for a volume of a pod. */
export function flexLayout(
  pod: Pod,
  name: string,
  source: FlexSource,
  readOnly: boolean | undefined,
  { directories }: { readonly directories: Pick<PathRoots, "rootDir"> },
) {
  const { driver, fsType = "", options = {}, secretRef } = source;
  const { uid, namespace } = pod.metadata;
  const isUsable =
    driver.split("/").every(isPathSegment) && isPathSegment(escapePluginName(driver)) && isFlexPlugin(driver);
  const plugin = isUsable ? driver : "kubernetes.io/flexvolume";
  const isReadOnly = readOnly ?? source.readOnly === true;
  return {
    name,
    plugin,
    path: podVolumeDir(directories, uid, escapePluginName(plugin), name),
    isOwnDirectory: true,
    hasContent: false,
    isReadOnly,
    selinuxRelabel: !isReadOnly,
    ...(isReadOnly ? {} : lastingOwnership(pod)),
    ...(isUsable
      ? {}
      : { fault: kubeletError("InvalidArgument", `no volume has the flexVolume driver ${goQuote(driver)}`) }),
    flex: {
      driver: plugin,
      volumeName: flexVolumeName(plugin, name),
      mountPoint: flexDeviceMount(directories, plugin, name),
      fsType,
      secret: secretRef?.name ? { name: secretRef.name, namespace: secretRef.namespace || namespace } : undefined,
      options: {
        "kubernetes.io/fsType": fsType,
        "kubernetes.io/readwrite": isReadOnly ? "ro" : "rw",
        "kubernetes.io/pvOrVolumeName": name,
      },
      ownOptions: options,
    },
  };
}

/** Returns the options of a call, as the driver gets them. */
export function flexOptions({ options, ownOptions }: FlexLayout, more: Options = {}): string {
  const all = { ...options, ...more, ...ownOptions };
  return goJson(Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1))));
}

/** Returns the options of the call that mounts a volume for a pod; values of secrets are in base64. */
export function flexMountOptions(layout: FlexLayout, { metadata, spec }: Pod, secrets: Options): string {
  const { fsGroup } = spec.securityContext ?? {};
  return flexOptions(layout, {
    ...Object.fromEntries(Object.entries(secrets).map(([key, value]) => [`kubernetes.io/secret/${key}`, value])),
    ...(fsGroup === undefined ? {} : { "kubernetes.io/mounterArgs.FsGroup": String(fsGroup) }),
    "kubernetes.io/pod.name": metadata.name,
    "kubernetes.io/pod.namespace": metadata.namespace,
    "kubernetes.io/pod.uid": metadata.uid,
    "kubernetes.io/serviceAccount.name": spec.serviceAccountName ?? "",
  });
}
