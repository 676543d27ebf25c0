/**
 * Decides whether a pod may use a volume with the label that it wants: one mount has one label for all pods of the node.
 * Upstream: AddPodToVolume of desired_state_of_world.go.
 *
 *     the volume has        no pod         the same label     another label
 *     mountable             admit          admit              refuse
 *     else                  admit          admit              admit, count a warning
 */
import { goQuote } from "../container/goJson.ts";
import { type KubeletError, kubeletError } from "../errors.ts";
import { NO_LABEL } from "./fileLabel.ts";
import { faulted, type VolumeLabel } from "./volumeLabel.ts";

/** Gauges that count decisions. */
export type LabelCount =
  | "volume_manager_selinux_container_errors_total"
  | "volume_manager_selinux_container_warnings_total"
  | "volume_manager_selinux_pod_context_mismatch_errors_total"
  | "volume_manager_selinux_pod_context_mismatch_warnings_total"
  | "volume_manager_selinux_volume_context_mismatch_errors_total"
  | "volume_manager_selinux_volume_context_mismatch_warnings_total"
  | "volume_manager_selinux_volumes_admitted_total";

/** The decision about a pod's wish. */
export type LabelDecision =
  | { readonly kind: "admitted"; readonly label: string; readonly counts: readonly LabelCount[] }
  | { readonly kind: "refused"; readonly error: KubeletError; readonly counts: readonly LabelCount[] };

/** The gauges of a fault: an error for a volume that is mounted with labels, else a warning. */
const FAULTS = {
  container: {
    error: "volume_manager_selinux_container_errors_total",
    warning: "volume_manager_selinux_container_warnings_total",
  },
  pod: {
    error: "volume_manager_selinux_pod_context_mismatch_errors_total",
    warning: "volume_manager_selinux_pod_context_mismatch_warnings_total",
  },
} as const;

/** Returns the decision; `label` is that of the pods which have the volume, undefined when none has. */
export function labelDecision(
  { name, label: wanted, fault, isMountable }: VolumeLabel,
  label: string | undefined,
): LabelDecision {
  if (fault !== undefined && isMountable) {
    return { kind: "refused", error: fault.error, counts: [FAULTS[fault.kind].error] };
  }
  const warnings: readonly LabelCount[] = fault === undefined ? [] : [FAULTS[fault.kind].warning];
  // Containers that contradict each other contradict no other pod, as upstream.
  if (label !== undefined && label !== wanted && fault?.kind !== "pod") {
    if (!isMountable) {
      return {
        kind: "admitted",
        label,
        counts: [...warnings, "volume_manager_selinux_volume_context_mismatch_warnings_total"],
      };
    }
    const why = `conflicting SELinux labels of volume ${name}: ${goQuote(label)} and ${goQuote(wanted)}`;
    const error = faulted(kubeletError("Rejected", why));
    return { kind: "refused", error, counts: ["volume_manager_selinux_volume_context_mismatch_errors_total"] };
  }
  const admitted: readonly LabelCount[] =
    label === undefined && wanted !== NO_LABEL ? ["volume_manager_selinux_volumes_admitted_total"] : [];
  return { kind: "admitted", label: label ?? wanted, counts: [...warnings, ...admitted] };
}
