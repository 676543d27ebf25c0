/**
 * Layout of a CSI volume: its paths in upstream's layout, and the inputs of requests to its driver. Upstream:
 * csi_mounter.go and csi_attacher.go of pkg/volume/csi.
 */
import type { Pod } from "../api.ts";
import { goQuote } from "../container/goJson.ts";
import { kubeletError } from "../errors.ts";
import { csiStageDir, escapePluginName, podVolumeDir } from "../paths.ts";
import { isPathSegment } from "../pathSegment.ts";
import { err, ok, type Result } from "../result.ts";
import { sha256 } from "../sha256.ts";
import type { CsiDriver, CsiOrigin, SecretName } from "../volume/csiVolume.ts";
import { lastingOwnership } from "../volume/lastingOwnership.ts";
import type { VolumeLayout, VolumeNode, VolumeOrigin } from "../volume/volumeLayout.ts";
import { csiBlockLayout } from "./csiBlockLayout.ts";
import { csiBlockPlaces } from "./csiBlockPlaces.ts";
import { limitPeriodMs } from "./volumeLimit.ts";

export const CSI_PLUGIN = "kubernetes.io/csi";

/** Returns the name of a volume that all pods of the node share. */
export const csiVolumeName = (driver: string, handle: string): string => `${driver}^${handle}`;

/** Returns the name of a volume in `volumesInUse` and `volumesAttached`. */
export const nodeVolumeName = (volumeName: string): string => `${CSI_PLUGIN}/${volumeName}`;

/** Directory in which drivers mount a staged volume. */
export const globalMount = (stageDir: string): string => `${stageDir}/globalmount`;

export const attachmentId = (driver: string, handle: string, nodeName: string): string =>
  `csi-${sha256(`${handle}${driver}${nodeName}`)}`;

/** Directory of a staged volume. */
export const stageDirOf = (directories: VolumeNode["directories"], driver: string, handle: string): string =>
  csiStageDir(directories, driver, sha256(handle));

type Origin = VolumeOrigin & { readonly csi: CsiOrigin };
type Node = Pick<VolumeNode, "directories"> & { readonly csi: NonNullable<VolumeNode["csi"]> };

const refuse = (message: string): Result<never> =>
  err(kubeletError("Unimplemented", message, { reason: "FailedMount" }));

/** Returns the layout; the driver's CSIDriver, or its absence, is known. */
export function csiLayout(pod: Pod, origin: Origin, node: Node): Result<VolumeLayout> {
  const { csi, readOnly, isBlock, mountOptions = [] } = origin;
  // Names of migrated volumes may be paths of a cloud.
  const name = escapePluginName(origin.name);
  const { driver, mode, known, source = {} } = csi;
  const isEphemeral = mode === "Ephemeral";
  const spec = known === undefined || known === "absent" ? undefined : known.spec;
  const handle = isEphemeral ? `csi-${sha256(`${pod.metadata.uid}${name}`)}` : (source.volumeHandle ?? "");
  const isReadOnly = isEphemeral ? source.readOnly === true : readOnly === true;
  const attachment =
    isEphemeral || spec?.attachRequired === false
      ? undefined
      : {
          volumeName: nodeVolumeName(csiVolumeName(driver, handle)),
          id: attachmentId(driver, handle, node.csi.nodeName),
        };
  const fault = faultOf({ name, driver, handle, mode, spec });
  if (fault !== undefined) return refuse(fault);
  const directory = podVolumeDir(node.directories, pod.metadata.uid, escapePluginName(CSI_PLUGIN), name);
  const { fsGroup } = pod.spec.securityContext ?? {};
  const { fsType = "", accessModes = ["ReadWriteOnce"] } = source;
  const isGiven =
    !isReadOnly && isGroupGiven({ policy: spec?.fsGroupPolicy, isEphemeral, fsType, accessModes: source.accessModes });
  const layout = {
    name,
    plugin: CSI_PLUGIN,
    path: `${directory}/mount`,
    isOwnDirectory: true,
    hasContent: false,
    isReadOnly,
    // Upstream manages the files of writable volumes alone.
    selinuxRelabel: !isReadOnly,
    ...(isGiven ? lastingOwnership(pod) : {}),
    csi: {
      ...{ driver, handle, mode, directory, target: `${directory}/mount`, attachment, fsType, fsGroup },
      ...(csi.isMigrated && { isMigrated: true as const }),
      stageDir: isEphemeral ? undefined : stageDirOf(node.directories, driver, handle),
      accessMode: accessModes[0] ?? "ReadWriteOnce",
      ...(accessModes.length === 1 && accessModes[0] === "ReadWriteOncePod" && { isForOnePod: true as const }),
      mountOptions: isEphemeral ? [] : mountOptions,
      attributes: source.volumeAttributes ?? {},
      stageSecret: isEphemeral ? undefined : source.nodeStageSecretRef,
      publishSecret: publishSecretOf(pod, csi),
      expandSecret: isEphemeral ? undefined : source.nodeExpandSecretRef,
      wantsPodInfo: spec?.podInfoOnMount === true,
      tokens: spec?.tokenRequests ?? [],
      hasSecretTokens: spec?.serviceAccountTokenInSecrets === true,
      isRepublished: spec?.requiresRepublish === true,
      ...(limitPeriodMs(spec) === undefined ? {} : { followsLimit: true }),
    },
  };
  if (isBlock !== true) return ok(layout);
  return ok(csiBlockLayout(layout, csiBlockPlaces(node.directories, pod.metadata.uid, name)));
}

interface Checked {
  readonly name: string;
  readonly driver: string;
  readonly handle: string;
  readonly mode: CsiOrigin["mode"];
  readonly spec: CsiDriver["spec"] | undefined;
}

function faultOf({ name, driver, handle, mode, spec }: Checked): string | undefined {
  if (!isPathSegment(driver)) return `CSI volume ${goQuote(name)} has no usable driver name`;
  if (!isPathSegment(name)) return `CSI volume ${goQuote(name)} has no usable name`;
  if (handle === "") return "makeDeviceMountPath failed, CSIPersistentVolumeSource volume handle is empty";
  if (spec === undefined) {
    return mode === "Persistent"
      ? undefined
      : `volume mode ${goQuote(mode)} not supported by driver ${driver} (no CSIDriver object)`;
  }
  const modes = spec.volumeLifecycleModes ?? ["Persistent"];
  return modes.includes(mode)
    ? undefined
    : `volume mode ${goQuote(mode)} not supported by driver ${driver} (only supports [${modes.map(goQuote).join(" ")}])`;
}

function publishSecretOf({ metadata }: Pod, { mode, source }: CsiOrigin): SecretName | undefined {
  const { name, namespace } = source?.nodePublishSecretRef ?? {};
  return name === undefined ? undefined : { name, namespace: mode === "Ephemeral" ? metadata.namespace : namespace };
}

/** Upstream: supportsFSGroup. */
function isGroupGiven({
  policy = "ReadWriteOnceWithFSType",
  isEphemeral,
  fsType,
  accessModes,
}: {
  readonly policy: string | undefined;
  readonly isEphemeral: boolean;
  readonly fsType: string;
  readonly accessModes: readonly string[] | undefined;
}): boolean {
  if (policy === "None") return false;
  if (policy === "File") return true;
  if (fsType === "") return false;
  return isEphemeral || accessModes?.some((mode) => mode === "ReadWriteOnce" || mode === "ReadWriteOncePod") === true;
}
