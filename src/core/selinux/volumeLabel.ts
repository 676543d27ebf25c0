/**
 * The SELinux label with which a pod wants a volume mounted, by its containers, its policy and the volume. Upstream:
 * GetMountSELinuxLabel and VolumeSupportsSELinuxMount of pkg/volume/util/selinux.go, getSELinuxLabel of
 * desired_state_of_world.go.
 */
import type { Pod } from "../api.ts";
import { csiVolumeName, nodeVolumeName } from "../csi/csiLayout.ts";
import { type KubeletError, kubeletError } from "../errors.ts";
import { allContainers } from "../pod/containers.ts";
import { perObject } from "../perObject.ts";
import type { VolumeLayout, VolumeOrigin } from "../volume/volumeLayout.ts";
import { fileLabel, NO_LABEL, type SelinuxOptions } from "./fileLabel.ts";
import type { SelinuxNode } from "./selinuxNode.ts";

/** Why a volume has no label: `container` for options of a container, `pod` for containers that contradict each other. */
export interface LabelFault {
  readonly kind: "container" | "pod";
  readonly error: KubeletError;
}

/** A pod's wish for the label of a volume. */
export interface VolumeLabel {
  /** Name of the volume on the node: equal for all pods that share its mount. */
  readonly volume: string;
  /** Name of the volume in events. */
  readonly name: string;
  /** `NO_LABEL`: the runtime labels the files. */
  readonly label: string;
  readonly fault?: LabelFault;
  /** Whether the gates let a volume of these access modes be mounted with a label; else the label counts in metrics only. */
  readonly isMountable: boolean;
  /** The plugin as metrics name it; a CSI plugin has its driver added. */
  readonly plugin: string;
  /** The widest access mode of the volume, as metrics name it. */
  readonly accessMode: string;
}

/** The parts of an origin that the label depends on. */
type Labelled = Pick<VolumeOrigin, "name" | "csi" | "accessModes">;

/**
 * Returns the wish of the pod for its volume `name`; undefined for a volume that cannot be mounted with a label: of another kind,
 * of a driver that does not support it, or a block device.
 */
export function volumeLabel(
  pod: Pod,
  name: string,
  origin: Labelled,
  layout: VolumeLayout,
  node: SelinuxNode,
): VolumeLabel | undefined {
  const { csi, disk, block, plugin } = layout;
  if (block !== undefined || !supportsLabels(origin, layout)) return undefined;
  const accessModes = csi === undefined ? origin.accessModes : modesOf(origin);
  const shared =
    csi === undefined ? disk?.volumeName : csi.stageDir && nodeVolumeName(csiVolumeName(csi.driver, csi.handle));
  return {
    volume: shared ?? `${plugin}/${pod.metadata.uid}-${layout.name}`,
    name: origin.name,
    ...labelOf(pod, name, node),
    isMountable: isMountable(accessModes, node),
    plugin: csi === undefined ? plugin : `${plugin}/${csi.driver}`,
    accessMode: shownMode(accessModes),
  };
}

/** Upstream: SupportsSELinuxContextMount of the volume plugins. */
function supportsLabels({ csi }: Labelled, { disk }: VolumeLayout): boolean {
  if (csi === undefined) return disk !== undefined;
  return typeof csi.known === "object" && csi.known.spec.seLinuxMount === true;
}

const modesOf = ({ csi }: Labelled): readonly string[] | undefined =>
  csi?.mode === "Persistent" ? (csi.source?.accessModes ?? []) : undefined;

/** `modes` is undefined for a volume of a pod itself. */
function isMountable(modes: readonly string[] | undefined, { allModes }: SelinuxNode): boolean {
  if (modes === undefined) return false;
  return allModes || (modes.length === 1 && modes[0] === "ReadWriteOncePod");
}

const WIDEST: readonly (readonly [mode: string, shown: string])[] = [
  ["ReadWriteMany", "RWX"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteOnce", "RWO"],
  ["ReadWriteOncePod", "RWOP"],
];

/** Upstream: getVolumeAccessMode. */
function shownMode(modes: readonly string[] | undefined): string {
  if (modes === undefined) return "inline";
  return WIDEST.find(([mode]) => modes.includes(mode))?.[1] ?? "";
}

function labelOf(pod: Pod, name: string, node: SelinuxNode): Pick<VolumeLabel, "label" | "fault"> {
  const labels = new Set<string>();
  for (const options of optionsOf(pod).get(name) ?? []) {
    const found = fileLabel(options, node.fileLabel);
    if (!found.ok) return { label: NO_LABEL, fault: { kind: "container", error: faulted(found.error) } };
    labels.add(found.value);
  }
  if (labels.size > 1) {
    const error = kubeletError("InvalidArgument", `multiple SELinux labels found: ${[...labels].sort().join(",")}`);
    return { label: NO_LABEL, fault: { kind: "pod", error: faulted(error) } };
  }
  const isRecursive = pod.spec.securityContext?.seLinuxChangePolicy === "Recursive";
  const [label = NO_LABEL] = labels;
  return { label: isRecursive ? NO_LABEL : label };
}

/** Returns the error with the reason of the pod's event. */
export const faulted = (error: KubeletError): KubeletError => ({ ...error, reason: "FailedMount" });

const optionsOf = (pod: Pod): ReadonlyMap<string, readonly SelinuxOptions[]> => optionsInSpec(pod.spec);

/** The options of the containers that mount each volume. Containers without options say nothing, as upstream. */
const optionsInSpec = perObject((spec: Pod["spec"]): ReadonlyMap<string, readonly SelinuxOptions[]> => {
  const byVolume = new Map<string, Map<string, SelinuxOptions>>();
  for (const { securityContext, volumeMounts = [] } of allContainers(spec)) {
    const options = securityContext?.seLinuxOptions ?? spec.securityContext?.seLinuxOptions;
    if (options === undefined) continue;
    // Containers with equal options count once, so a volume has few however many containers mount it.
    const key = `${options.user ?? ""} ${options.level ?? ""}`;
    for (const { name } of volumeMounts) {
      const known = byVolume.get(name) ?? new Map<string, SelinuxOptions>();
      byVolume.set(name, known.set(key, options));
    }
  }
  return new Map([...byVolume].map(([name, options]) => [name, [...options.values()]]));
});
