/** Volumes as metrics name them. Upstream: GetFullQualifiedPluginNameForVolume and getMigratedStatusBySpec of pkg/volume. */

/** The part of a CSI volume that metrics tell. */
export interface MeasuredDriver {
  readonly driver: string;
  /** The driver replaces an in-tree kind of volume. */
  readonly isMigrated?: true | undefined;
}

/** A volume whose operations are measured. */
export interface MeasuredVolume {
  readonly plugin: string;
  /** Absent for other kinds, and for a volume of an earlier kubelet that no pod has asked for yet. */
  readonly csi?: MeasuredDriver | undefined;
}

/** Returns the plugin as metrics name it: that of a CSI volume has its driver added. */
export const measuredPlugin = ({ plugin, csi }: MeasuredVolume): string =>
  csi === undefined ? plugin : `${plugin}:${csi.driver}`;
