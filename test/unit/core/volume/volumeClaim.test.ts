import { describe, expect, it } from "vitest";
import { boundVolumeName, claimOf, isLookedUp, originOf } from "../../../../src/core/volume/volumeClaim.ts";
import { podOf } from "../../../support/pods.ts";

const pod = podOf({ name: "web" });
const owner = (uid: string, controller: boolean) => ({ apiVersion: "v1", kind: "Pod", name: "web", uid, controller });
const reference = { claimName: "data", readOnly: false, isEphemeral: false };
const bound = { metadata: { name: "data", uid: "c1" }, spec: { volumeName: "pv1" }, status: { phase: "Bound" } };
const volume = {
  metadata: { name: "pv1" },
  spec: { claimRef: { uid: "c1" }, nfs: { server: "s", path: "/p" }, mountOptions: ["soft"] },
};

describe("claimOf", () => {
  it.each([
    ["a claim", { persistentVolumeClaim: { claimName: "data", readOnly: true } }, { ...reference, readOnly: true }],
    ["a claim that may be written", { persistentVolumeClaim: { claimName: "data" } }, reference],
    ["a template", { ephemeral: {} }, { claimName: "web-v", readOnly: false, isEphemeral: true }],
    ["its own source", { emptyDir: {} }, undefined],
  ])("finds the claim of a volume with %s", (_what, source, expected) => {
    expect(claimOf(pod, { name: "v", ...source })).toEqual(expected);
  });
});

describe("boundVolumeName", () => {
  it("returns the volume the claim is bound to", () => {
    expect(boundVolumeName(pod, reference, bound)).toEqual({ ok: true, value: "pv1" });
  });

  it("returns the volume of a claim created for the pod", () => {
    const ownerReferences = [owner("other", false), owner(pod.metadata.uid, true)];
    const claim = { ...bound, metadata: { ...bound.metadata, ownerReferences } };
    expect(boundVolumeName(pod, { ...reference, isEphemeral: true }, claim)).toEqual({ ok: true, value: "pv1" });
  });

  it.each([
    ["a claim", { persistentVolumeClaim: { claimName: "data" } }, true],
    ["a template", { ephemeral: {} }, true],
    ["a CSI driver", { csi: { driver: "d" } }, true],
    ["its own source", { emptyDir: {} }, false],
  ])("needs look-ups for %s: %s", (_what, source, expected) => {
    expect(isLookedUp(pod, { name: "v", ...source })).toBe(expected);
  });

  it("still returns the volume of a deleted claim that pods use", () => {
    const finalizers = ["kubernetes.io/pvc-protection"];
    const metadata = { ...bound.metadata, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers };
    expect(boundVolumeName(pod, reference, { ...bound, metadata })).toEqual({ ok: true, value: "pv1" });
  });

  it.each([
    ["PVC is not bound", { ...bound, status: { phase: "Pending" } }, reference],
    [
      "PVC is being deleted",
      { ...bound, metadata: { ...bound.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } },
      reference,
    ],
    ["PVC has empty pvc.Spec.VolumeName", { ...bound, spec: {} }, reference],
    [
      "PVC demo/data was not created for pod demo/web (pod is not owner)",
      {
        ...bound,
        metadata: { ...bound.metadata, ownerReferences: [owner(pod.metadata.uid, false), owner("other", true)] },
      },
      { ...reference, isEphemeral: true },
    ],
    ["PVC demo/data was not created for pod demo/web (pod is not owner)", bound, { ...reference, isEphemeral: true }],
  ])("rejects: %s", (message, claim, asked) => {
    expect(boundVolumeName(pod, asked, claim)).toMatchObject({
      ok: false,
      error: { message, reason: "FailedMount", retryable: true },
    });
  });
});

describe("originOf", () => {
  it("returns the source of the volume", () => {
    expect(originOf(volume, bound, true)).toEqual({
      ok: true,
      value: { name: "pv1", nfs: { server: "s", path: "/p" }, mountOptions: ["soft"], readOnly: true },
    });
  });

  it.each([
    ["hostPath", { path: "/x", type: "Directory" }],
    ["nfs", { server: "s", path: "/p" }],
    ["local", { path: "/disk", fsType: "xfs" }],
    ["fc", { targetWWNs: ["5006"], lun: 0 }],
    ["iscsi", { targetPortal: "10.0.0.1", iqn: "iqn.2003-01.org:a", lun: 0 }],
  ])("returns the source %s", (kind, source) => {
    expect(
      originOf(
        { ...volume, spec: { claimRef: { uid: "c1" }, accessModes: ["ReadWriteOnce"], [kind]: source } },
        bound,
        false,
      ),
    ).toEqual({
      ok: true,
      value: { name: "pv1", [kind]: source, accessModes: ["ReadWriteOnce"], mountOptions: [], readOnly: false },
    });
  });

  it("names the CSI driver", () => {
    const csi = { driver: "d.example", volumeHandle: "h" };
    expect(originOf({ ...volume, spec: { claimRef: { uid: "c1" }, csi } }, bound, false)).toEqual({
      ok: true,
      value: {
        name: "pv1",
        csi: { driver: "d.example", mode: "Persistent", source: { volumeHandle: "h" } },
        mountOptions: [],
        readOnly: false,
      },
    });
  });

  it("is the CSI volume that replaces a kind of a cloud", () => {
    const spec = { claimRef: { uid: "c1" }, cinder: { volumeID: "h" }, accessModes: ["ReadWriteOnce"] };
    expect(
      originOf({ metadata: { name: "pv1", labels: { "topology.kubernetes.io/zone": "a" } }, spec }, bound, true),
    ).toEqual({
      ok: true,
      value: {
        name: "pv1",
        csi: {
          driver: "cinder.csi.openstack.org",
          mode: "Persistent",
          source: { volumeHandle: "h", volumeAttributes: {}, accessModes: ["ReadWriteOnce"] },
          isMigrated: true,
        },
        nodeTerms: [
          { matchExpressions: [{ key: "topology.cinder.csi.openstack.org/zone", operator: "In", values: ["a"] }] },
        ],
        mountOptions: [],
        readOnly: true,
      },
    });
  });

  it("prefers the mount options of the deprecated annotation", () => {
    const annotations = { "volume.beta.kubernetes.io/mount-options": "hard,,nolock" };
    const annotated = { ...volume, metadata: { ...volume.metadata, annotations } };
    expect(originOf(annotated, bound, true)).toMatchObject({ value: { mountOptions: ["hard", "nolock"] } });
  });

  it.each([
    ["Block", true],
    ["Filesystem", undefined],
  ])("keeps the mode %s", (volumeMode, isBlock) => {
    const origin = originOf({ ...volume, spec: { ...volume.spec, volumeMode } }, bound, false);
    expect(origin.ok && origin.value.isBlock).toBe(isBlock);
  });

  it("keeps the node affinity", () => {
    const nodeSelectorTerms = [{ matchExpressions: [{ key: "disk", operator: "Exists" }] }];
    const spec = { ...volume.spec, nodeAffinity: { required: { nodeSelectorTerms } } };
    expect(originOf({ ...volume, spec }, bound, false)).toMatchObject({ value: { nodeTerms: nodeSelectorTerms } });
  });

  it.each([
    [
      "found PV object pv1 but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim",
      { ...volume, spec: {} },
    ],
    [
      "found PV object pv1 but its pv.Spec.ClaimRef.UID c2 does not point to claim.UID c1",
      { ...volume, spec: { ...volume.spec, claimRef: { uid: "c2" } } },
    ],
  ])("rejects: %s", (message, other) => {
    expect(originOf(other, bound, false)).toMatchObject({ ok: false, error: { message } });
  });
});
