/** The part of a volume's layout that only CSI volumes have. */
import type { CsiOrigin, SecretName } from "../volume/csiVolume.ts";
import type { CsiBlockPlaces } from "./csiBlockPlaces.ts";

/** A token that the driver wants for the pod. */
export interface CsiTokenWish {
  readonly audience: string;
  readonly expirationSeconds?: number | undefined;
}

/** The part of a layout that only CSI volumes have. */
export interface CsiLayout {
  readonly driver: string;
  /** The volume in the driver's storage system. */
  readonly handle: string;
  readonly mode: CsiOrigin["mode"];
  /** Its driver replaces an in-tree kind of volume. */
  readonly isMigrated?: true;
  /** Directory of the pod's volume, with vol_data.json; the driver publishes at `mount` in it. */
  readonly directory: string;
  readonly target: string;
  /** Directory of the volume for all pods of the node, with vol_data.json; undefined: it is never staged. */
  readonly stageDir: string | undefined;
  /** Present for a volume that containers get as a device; `directory` is the pod's link to it. */
  readonly block?: CsiBlockPlaces;
  /** The number of volumes that the node may have of the driver is kept current. */
  readonly followsLimit?: boolean;
  /** undefined: the volume is not attached to the node first. */
  readonly attachment: CsiAttachment | undefined;
  readonly fsType: string;
  /** Access mode in the terms of Kubernetes, such as `ReadWriteOnce`. */
  readonly accessMode: string;
  /** Only one pod of the cluster may use it. */
  readonly isForOnePod?: true;
  readonly mountOptions: readonly string[];
  /** SELinux label of the mount, `NO_LABEL` for none; absent: its label does not matter. */
  readonly label?: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly stageSecret: SecretName | undefined;
  readonly publishSecret: SecretName | undefined;
  readonly expandSecret?: SecretName | undefined;
  readonly wantsPodInfo: boolean;
  readonly tokens: readonly CsiTokenWish[];
  /** Tokens are given as secrets, not as attributes. */
  readonly hasSecretTokens: boolean;
  /** The driver wants the volume to be published again from time to time. */
  readonly isRepublished: boolean;
  /** Group of the pod, for drivers that set it themselves. */
  readonly fsGroup: number | undefined;
}

export interface CsiAttachment {
  /** Name of the volume in the status of the Node. */
  readonly volumeName: string;
  /** Name of its VolumeAttachment. */
  readonly id: string;
}

/** Returns the path by which the driver knows the volume; that of a device is the one bound for the pod, as upstream. */
export const statsPath = ({ block, target }: Pick<CsiLayout, "block" | "target">): string => block?.map ?? target;
