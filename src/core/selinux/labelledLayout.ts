/** The layout of a volume that is mounted with an SELinux label: the runtime leaves the labels of its files alone. */
import type { VolumeLayout } from "../volume/volumeLayout.ts";
import { contextOption, NO_LABEL } from "./fileLabel.ts";

/** Returns the layout; with `NO_LABEL` the volume is mounted without a label, and pods with one wait for it. */
export function labelledLayout(layout: VolumeLayout, label: string): VolumeLayout {
  const { csi, disk } = layout;
  const relabel = label === NO_LABEL ? layout.selinuxRelabel : false;
  if (csi !== undefined) return { ...layout, selinuxRelabel: relabel, csi: { ...csi, label } };
  if (disk === undefined) return layout;
  const options = label === NO_LABEL ? disk.options : [...disk.options, contextOption(label)].sort();
  return { ...layout, selinuxRelabel: relabel, disk: { ...disk, options, label } };
}

/** A volume of the node as its mount is known. */
export interface LabelledMount {
  /** Label with which it is mounted, or may be; undefined: not mounted, or not known. */
  readonly label: string | undefined;
  /** Volumes of pods that have, or may have, the mount with that label. */
  readonly labelled: ReadonlySet<string>;
}

const isOther = (label: string | undefined, wanted: string | undefined): boolean =>
  wanted !== undefined && label !== undefined && label !== wanted;

/** Returns whether the mount has another label than the wanted one, and no pod has it: one mount has one label. */
export const isLeftWithOther = ({ label, labelled }: LabelledMount, wanted: string | undefined): boolean =>
  isOther(label, wanted) && labelled.size === 0;

/**
 * Returns why a pod's volume waits for the unmount by pods with another label; undefined: it need not. A pod that has the volume
 * keeps it as it is; a mount that no pod has is no reason to wait. `volume` is its name on the node. Upstream: newSELinuxMountMismatchError.
 */
export function labelWait(
  { label, labelled }: LabelledMount,
  wanted: string | undefined,
  holder: string,
  volume: string,
): string | undefined {
  if (!isOther(label, wanted) || labelled.size === 0 || labelled.has(holder)) return undefined;
  return `waiting for unmount of volume "${volume}", because it is already mounted to a different pod with a different SELinux label`;
}
