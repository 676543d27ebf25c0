import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../src/core/api.ts";
import { attachmentId, csiLayout, globalMount, stageDirOf } from "../../../../src/core/csi/csiLayout.ts";
import { sha256 } from "../../../../src/core/sha256.ts";
import type { CsiDriver, CsiOrigin } from "../../../../src/core/volume/csiVolume.ts";
import { podOf } from "../../../support/pods.ts";

const directories = { rootDir: "/k" };
const node = { directories, csi: { nodeName: "n1" } };
type Spec = CsiDriver["spec"];

function layoutWith(origin: Partial<CsiOrigin>, spec: Spec | "absent" = {}, podSpec: Partial<Pod["spec"]> = {}) {
  const pod = podOf({ uid: "u", namespace: "ns", spec: podSpec });
  const known: CsiOrigin["known"] = spec === "absent" ? spec : { metadata: { name: "d" }, spec };
  const csi: CsiOrigin = { driver: "d", mode: "Persistent", source: { volumeHandle: "h" }, known, ...origin };
  return csiLayout(pod, { name: "pv1", csi }, node);
}
function csiOf(...args: Parameters<typeof layoutWith>) {
  const layout = layoutWith(...args);
  if (!layout.ok || layout.value.csi === undefined) throw new Error(JSON.stringify(layout));
  return { ...layout.value.csi, ownership: layout.value.ownership, isReadOnly: layout.value.isReadOnly };
}
const faultOf = (...args: Parameters<typeof layoutWith>): string | undefined => {
  const layout = layoutWith(...args);
  return layout.ok ? undefined : layout.error.message;
};

describe("the layout of a persistent CSI volume", () => {
  it("has upstream's paths", () => {
    expect(csiOf({})).toMatchObject({
      directory: "/k/pods/u/volumes/kubernetes.io~csi/pv1",
      target: "/k/pods/u/volumes/kubernetes.io~csi/pv1/mount",
      stageDir: `/k/plugins/kubernetes.io/csi/d/${sha256("h")}`,
    });
    expect(globalMount(stageDirOf(directories, "d", "h"))).toBe(
      `/k/plugins/kubernetes.io/csi/d/${sha256("h")}/globalmount`,
    );
  });
  it("has a directory whose name has no slash, as upstream", () => {
    const known: CsiOrigin["known"] = { metadata: { name: "d" }, spec: {} };
    const csi: CsiOrigin = { driver: "d", mode: "Persistent", source: { volumeHandle: "h" }, known };
    const layoutOf = (name: string) => csiLayout(podOf({ uid: "u" }), { name, csi }, node);
    expect(layoutOf("/disks/d")).toMatchObject({
      value: { name: "~disks~d", path: "/k/pods/u/volumes/kubernetes.io~csi/~disks~d/mount" },
    });
    expect(layoutOf("..")).toMatchObject({ error: { message: 'CSI volume ".." has no usable name' } });
  });
  it("as a device has neither group, mount options, pod info nor tokens", () => {
    const pod = podOf({ uid: "u", namespace: "ns", spec: { securityContext: { fsGroup: 7 } } });
    const known = { metadata: { name: "d" }, spec: { podInfoOnMount: true, tokenRequests: [{ audience: "" }] } };
    const csi: CsiOrigin = { driver: "d", mode: "Persistent", known, source: { volumeHandle: "h", fsType: "ext4" } };
    const layout = csiLayout(pod, { name: "pv1", csi, isBlock: true, mountOptions: ["x"] }, node);
    const link = "/k/pods/u/volumeDevices/kubernetes.io~csi/pv1";
    const publish = "/k/plugins/kubernetes.io/csi/volumeDevices/publish/pv1/u";
    expect(layout).toMatchObject({
      value: {
        ...{ path: link, block: { link, device: publish } },
        csi: {
          directory: link,
          target: publish,
          mountOptions: [],
          fsGroup: undefined,
          wantsPodInfo: false,
          tokens: [],
        },
      },
    });
    expect(layout.ok && layout.value.ownership).toBeUndefined();
  });
  it("has upstream's names of the attachment", () => {
    expect(csiOf({}).attachment).toEqual({
      volumeName: "kubernetes.io/csi/d^h",
      id: attachmentId("d", "h", "n1"),
    });
  });
  it("has no attachment where the driver needs none", () => {
    expect(csiOf({}, { attachRequired: false }).attachment).toBeUndefined();
  });
  it("takes secrets of the namespaces that it names", () => {
    const secret = { name: "s", namespace: "other" };
    const { stageSecret, publishSecret } = csiOf({
      source: { volumeHandle: "h", nodeStageSecretRef: secret, nodePublishSecretRef: secret },
    });
    expect([stageSecret, publishSecret]).toEqual([secret, secret]);
  });
});

describe("the layout of a CSI volume of the pod itself", () => {
  const ephemeral: Partial<CsiOrigin> = { mode: "Ephemeral", source: { nodePublishSecretRef: { name: "s" } } };
  const spec: Spec = { volumeLifecycleModes: ["Ephemeral"] };

  it("has a handle of its own, and is neither staged nor attached", () => {
    const { handle, stageDir, attachment } = csiOf(ephemeral, spec);
    expect([handle, stageDir, attachment]).toEqual([`csi-${sha256("upv1")}`, undefined, undefined]);
  });
  it("takes its secret from the namespace of the pod", () => {
    expect(csiOf(ephemeral, spec).publishSecret).toEqual({ name: "s", namespace: "ns" });
  });
});

describe("the group of a CSI volume", () => {
  const group: Partial<Pod["spec"]> = { securityContext: { fsGroup: 7 } };
  const source = { volumeHandle: "h", fsType: "ext4", accessModes: ["ReadWriteOnce"] };

  it.each([
    ["policy None", { fsGroupPolicy: "None" }, source, undefined],
    ["policy File", { fsGroupPolicy: "File" }, { volumeHandle: "h" }, { fsGroup: 7 }],
    ["a file system and one writer", {}, source, { fsGroup: 7 }],
    ["a file system and one pod", {}, { ...source, accessModes: ["ReadWriteOncePod"] }, { fsGroup: 7 }],
    ["no file system", {}, { ...source, fsType: "" }, undefined],
    ["many writers", {}, { ...source, accessModes: ["ReadWriteMany"] }, undefined],
  ])("with %s", (_title, spec, given, expected) => {
    expect(csiOf({ source: given }, spec, group).ownership).toEqual(expected);
  });
  it("changes only a root that differs, where the pod says so", () => {
    const onMismatch = { securityContext: { fsGroup: 7, fsGroupChangePolicy: "OnRootMismatch" as const } };
    expect(csiOf({ source }, {}, onMismatch).ownership).toEqual({ fsGroup: 7, changePolicy: "OnRootMismatch" });
  });
});

describe("a CSI volume is refused", () => {
  it.each<[string, Parameters<typeof layoutWith>, string]>([
    ["without a handle", [{ source: {} }], "volume handle is empty"],
    ["with a driver that is no name of a directory", [{ driver: "../d" }], "no usable driver name"],
    [
      "in the pod, without a CSIDriver",
      [{ mode: "Ephemeral" }, "absent"],
      'volume mode "Ephemeral" not supported by driver d (no CSIDriver object)',
    ],
    [
      "in a mode that its driver lacks",
      [{ mode: "Ephemeral" }, {}],
      'volume mode "Ephemeral" not supported by driver d (only supports ["Persistent"])',
    ],
  ])("%s", (_title, args, expected) => {
    expect(faultOf(...args)).toContain(expected);
  });
});
