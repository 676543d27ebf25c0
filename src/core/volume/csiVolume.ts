/**
 * CSI volumes as pods and PersistentVolumes name them, and error texts of a node without drivers. Upstream:
 * supportsVolumeLifecycleMode of pkg/volume/csi/csi_mounter.go.
 */
import type { ApiObjects } from "../api/apiResources.ts";
import { goQuote } from "../container/goJson.ts";

export type CsiDriver = ApiObjects["csidrivers"];

/** The driver of a volume, and its CSIDriver object. */
export interface CsiOrigin {
  readonly driver: string;
  /** `Ephemeral`: the pod names the driver itself, without a claim. */
  readonly mode: "Ephemeral" | "Persistent";
  /** undefined: the API server has not listed the drivers yet. */
  readonly known?: CsiDriver | "absent";
  readonly source?: CsiSource;
  /** The driver replaces an in-tree kind of volume. */
  readonly isMigrated?: true;
}

/** Name of a Secret for a driver. */
export interface SecretName {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
}

/** The source in a PersistentVolume or in the pod. */
export interface CsiSource {
  /** The volume in the driver's storage system; absent in a pod. */
  readonly volumeHandle?: string;
  readonly readOnly?: boolean;
  readonly fsType?: string;
  readonly volumeAttributes?: Readonly<Record<string, string>>;
  readonly nodeStageSecretRef?: SecretName;
  readonly nodePublishSecretRef?: SecretName;
  readonly nodeExpandSecretRef?: SecretName;
  readonly accessModes?: readonly string[];
}

/** Returns why volumes of this driver cannot be set up. */
export function csiNotServed({ driver, mode, known }: CsiOrigin): string {
  const refused = `CSI driver ${driver} is not served`;
  if (known === undefined) return refused;
  if (known === "absent") {
    const why = mode === "Persistent" ? "the cluster has no CSIDriver with this name" : unsupported(driver, mode);
    return `${refused}; ${why}`;
  }
  const modes = known.spec.volumeLifecycleModes ?? ["Persistent"];
  return `${refused}; ${modes.includes(mode) ? `its CSIDriver requires ${wishesOf(known)}` : unsupported(driver, mode, modes)}`;
}

const unsupported = (driver: string, mode: string, modes?: readonly string[]): string =>
  `volume mode ${goQuote(mode)} not supported by driver ${driver} (${modes === undefined ? "no CSIDriver object" : `only supports [${modes.map(goQuote).join(" ")}]`})`;

/** Lists the driver's requirements besides mounting. */
function wishesOf({ spec }: CsiDriver): string {
  const { attachRequired = true, podInfoOnMount, requiresRepublish, seLinuxMount, tokenRequests = [] } = spec;
  const wishes = {
    attachRequired,
    podInfoOnMount,
    requiresRepublish,
    seLinuxMount,
    tokenRequests: tokenRequests.length > 0,
  };
  const names = Object.entries(wishes).flatMap(([name, isWanted]) => (isWanted === true ? [name] : []));
  return names.length === 0 ? "nothing but mounts" : names.join(", ");
}
