import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { labelDecision } from "../../../../src/core/selinux/labelAdmission.ts";
import type { VolumeLabel } from "../../../../src/core/selinux/volumeLabel.ts";

const wishOf = (more: Partial<VolumeLabel> = {}): VolumeLabel => ({
  ...{ volume: "kubernetes.io/csi/d^h", name: "pv1", label: "x", isMountable: true },
  ...{ plugin: "kubernetes.io/csi/d", accessMode: "RWOP", ...more },
});
const error = kubeletError("InvalidArgument", "multiple SELinux labels found: x,y");

describe("labelDecision", () => {
  it.each<[string, Partial<VolumeLabel>, string | undefined, string, readonly string[]]>([
    ["the first pod", {}, undefined, "x", ["volume_manager_selinux_volumes_admitted_total"]],
    ["the first pod without a label", { label: "" }, undefined, "", []],
    ["a pod with the same label", {}, "x", "x", []],
    [
      "another label of other access modes",
      { isMountable: false },
      "y",
      "y",
      ["volume_manager_selinux_volume_context_mismatch_warnings_total"],
    ],
    [
      "the first pod, of other access modes",
      { isMountable: false },
      undefined,
      "x",
      ["volume_manager_selinux_volumes_admitted_total"],
    ],
    [
      "containers that contradict each other, of other access modes",
      { isMountable: false, label: "", fault: { kind: "pod", error } },
      "y",
      "y",
      ["volume_manager_selinux_pod_context_mismatch_warnings_total"],
    ],
    [
      "options that are no label, of other access modes",
      { isMountable: false, label: "", fault: { kind: "container", error } },
      "y",
      "y",
      [
        "volume_manager_selinux_container_warnings_total",
        "volume_manager_selinux_volume_context_mismatch_warnings_total",
      ],
    ],
  ])("admits %s", (_, more, label, expected, counts) => {
    expect(labelDecision(wishOf(more), label)).toEqual({ kind: "admitted", label: expected, counts });
  });

  it.each([
    ["y", "x", 'conflicting SELinux labels of volume pv1: "y" and "x"'],
    ["", "x", 'conflicting SELinux labels of volume pv1: "" and "x"'],
    ["y", "", 'conflicting SELinux labels of volume pv1: "y" and ""'],
  ])("refuses a pod beside pods with %o that wants %o", (label, wanted, message) => {
    expect(labelDecision(wishOf({ label: wanted }), label)).toMatchObject({
      ...{ kind: "refused", error: { message, reason: "FailedMount" } },
      counts: ["volume_manager_selinux_volume_context_mismatch_errors_total"],
    });
  });

  it.each([
    ["pod", "volume_manager_selinux_pod_context_mismatch_errors_total"],
    ["container", "volume_manager_selinux_container_errors_total"],
  ] as const)("refuses a fault of a %s", (kind, count) => {
    expect(labelDecision(wishOf({ fault: { kind, error } }), undefined)).toEqual({
      kind: "refused",
      error,
      counts: [count],
    });
  });
});
