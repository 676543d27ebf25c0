import { describe, expect, it } from "vitest";
import type { PodSpec } from "../../../../src/core/api.ts";
import { type FlexSource, flexLayout, flexMountOptions, isFlexPlugin } from "../../../../src/core/flex/flexLayout.ts";
import { layoutOf, type VolumeLayout } from "../../../../src/core/volume/volumeLayout.ts";
import { podOf } from "../../../support/pods.ts";
import { volumeNodeOf } from "../../../support/podVolumes.ts";

const node = { directories: { rootDir: "/k" } };
const made = (source: FlexSource, readOnly?: boolean, spec: Partial<PodSpec> = {}): VolumeLayout =>
  flexLayout(podOf({ uid: "u", namespace: "ns", spec }), "v", source, readOnly, node);

describe("the layout of a flexVolume", () => {
  it("has upstream's paths and names", () => {
    expect(made({ driver: "acme/disk", fsType: "ext4", options: { size: "1" } })).toEqual({
      name: "v",
      plugin: "acme/disk",
      path: "/k/pods/u/volumes/acme~disk/v",
      isOwnDirectory: true,
      hasContent: false,
      isReadOnly: false,
      selinuxRelabel: true,
      flex: {
        driver: "acme/disk",
        volumeName: "acme/disk/v",
        mountPoint: "/k/plugins/kubernetes.io/flexvolume/acme/disk/mounts/v",
        fsType: "ext4",
        secret: undefined,
        options: {
          "kubernetes.io/fsType": "ext4",
          "kubernetes.io/readwrite": "rw",
          "kubernetes.io/pvOrVolumeName": "v",
        },
        ownOptions: { size: "1" },
      },
    });
  });

  it("is that of a pod's volume", () => {
    const layout = layoutOf(
      podOf(),
      { name: "v", flexVolume: { driver: "acme/disk", readOnly: true } },
      volumeNodeOf(),
    );
    expect(layout).toMatchObject({ ok: true, value: { plugin: "acme/disk", isReadOnly: true } });
  });

  it.each([
    [{ readOnly: true }, undefined, true],
    [{ readOnly: true }, false, false],
    [{}, true, true],
    [{}, undefined, false],
  ])("of %j in a claim that is read-only: %s", (source, readOnly, expected) => {
    const layout = made({ driver: "d", ...source }, readOnly);
    expect([layout.isReadOnly, layout.flex?.options["kubernetes.io/readwrite"]]).toEqual([
      expected,
      expected ? "ro" : "rw",
    ]);
  });

  it.each([
    ["the pod", { name: "s" }, "ns"],
    ["the volume", { name: "s", namespace: "other" }, "other"],
  ])("takes its secret from the namespace of %s", (_whose, secretRef, namespace) => {
    expect(made({ driver: "d", secretRef }).flex?.secret).toEqual({ name: "s", namespace });
  });

  it("has the group of the pod, unless it is read-only", () => {
    const securityContext = { fsGroup: 5, fsGroupChangePolicy: "OnRootMismatch" };
    expect(made({ driver: "d" }, false, { securityContext }).ownership).toEqual({
      fsGroup: 5,
      changePolicy: "OnRootMismatch",
    });
    expect(made({ driver: "d" }, true, { securityContext }).ownership).toBeUndefined();
  });

  it.each(["", "..", "a/../b", "/a", "a//b", "kubernetes.io/csi", "kubernetes.io/empty-dir", "x".repeat(256), "a\0b"])(
    "refuses the driver %j, and stays in the pod's directory",
    (driver) => {
      const { fault, path, plugin, flex } = made({ driver });
      expect([fault?.message, path, plugin]).toEqual([
        expect.stringMatching(/^no volume has the flexVolume driver /),
        "/k/pods/u/volumes/kubernetes.io~flexvolume/v",
        "kubernetes.io/flexvolume",
      ]);
      expect(flex?.mountPoint).toBe("/k/plugins/kubernetes.io/flexvolume/kubernetes.io/flexvolume/mounts/v");
    },
  );

  it("knows the plugins of drivers on disk", () => {
    expect(["acme/disk", "kubernetes.io/lvm", "disk"].filter(isFlexPlugin)).toHaveLength(3);
    expect(["kubernetes.io/nfs", "kubernetes.io/csi", ""].filter(isFlexPlugin)).toEqual([]);
  });
});

describe("the options of a driver's mount", () => {
  it("are sorted, name the pod, and yield to those of the volume", () => {
    const spec = { serviceAccountName: "sa", securityContext: { fsGroup: 5 } };
    const pod = podOf({ uid: "u", name: "p", namespace: "ns", spec });
    const options = { share: "<a>", "kubernetes.io/pod.name": "mine" };
    const { flex } = flexLayout(pod, "v", { driver: "d", options }, undefined, node);
    expect(flex && flexMountOptions(flex, pod, { key: "c2VjcmV0" })).toBe(
      '{"kubernetes.io/fsType":"","kubernetes.io/mounterArgs.FsGroup":"5","kubernetes.io/pod.name":"mine",' +
        '"kubernetes.io/pod.namespace":"ns","kubernetes.io/pod.uid":"u","kubernetes.io/pvOrVolumeName":"v",' +
        '"kubernetes.io/readwrite":"rw","kubernetes.io/secret/key":"c2VjcmV0",' +
        '"kubernetes.io/serviceAccount.name":"sa","share":"\\u003ca\\u003e"}',
    );
  });
});
