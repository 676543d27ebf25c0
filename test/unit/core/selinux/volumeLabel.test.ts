import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../src/core/api.ts";
import { labelledLayout, labelWait } from "../../../../src/core/selinux/labelledLayout.ts";
import { volumeLabel } from "../../../../src/core/selinux/volumeLabel.ts";
import type { CsiOrigin } from "../../../../src/core/volume/csiVolume.ts";
import { layoutOfFound } from "../../../../src/core/volume/foundVolume.ts";
import type { VolumeOrigin } from "../../../../src/core/volume/volumeLayout.ts";
import { containerOf, podOf } from "../../../support/pods.ts";
import { volumeNodeOf } from "../../../support/podVolumes.ts";

const ONE_POD = ["ReadWriteOncePod"];
const A = { level: "s0:c1,c2" };
const B = { level: "s0:c3,c4" };
const node = (allModes = false) => ({ fileLabel: "system_u:object_r:container_file_t:s0", allModes });
const labelled = (level: string) => `system_u:object_r:container_file_t:${level}`;

const csiOrigin = (more: Partial<CsiOrigin> = {}, accessModes: readonly string[] = ONE_POD): VolumeOrigin => ({
  name: "pv1",
  csi: {
    ...{ driver: "d", mode: "Persistent", source: { volumeHandle: "h", accessModes } },
    known: { metadata: { name: "d" }, spec: { seLinuxMount: true } },
    ...more,
  },
});
const FC: VolumeOrigin = { name: "pv2", accessModes: ONE_POD, fc: { targetWWNs: ["5006"], lun: 0 } };

const container = (
  name: string,
  seLinuxOptions?: object,
  use: object = { volumeMounts: [{ name: "v", mountPath: "/v" }] },
) => containerOf({ name, ...use, ...(seLinuxOptions && { securityContext: { seLinuxOptions } }) });
const podWith = (spec: Partial<Pod["spec"]>): Pod => podOf({ uid: "u", spec: { volumes: [{ name: "v" }], ...spec } });

function labelOf(origin: VolumeOrigin, spec: Partial<Pod["spec"]>, allModes = false) {
  const pod = podWith(spec);
  const layout = layoutOfFound(pod, "v", origin, volumeNodeOf({ csi: { nodeName: "n" } }));
  if (!layout.ok) throw new Error(layout.error.message);
  return volumeLabel(pod, "v", origin, layout.value, node(allModes));
}

describe("the label of a volume", () => {
  it.each<[string, Partial<Pod["spec"]>, string]>([
    ["its pod", { securityContext: { seLinuxOptions: A }, containers: [container("a")] }, labelled("s0:c1,c2")],
    [
      "a container, before the pod",
      { securityContext: { seLinuxOptions: B }, containers: [container("a", A)] },
      labelled("s0:c1,c2"),
    ],
    [
      "containers that agree",
      { initContainers: [container("i", A)], containers: [container("a", A)] },
      labelled("s0:c1,c2"),
    ],
    [
      "a container beside one without options",
      { containers: [container("a", A), container("b")] },
      labelled("s0:c1,c2"),
    ],
    ["no container with a level", { containers: [container("a", { type: "spc_t" })] }, ""],
    ["no container with options", { containers: [container("a")] }, ""],
    ["only containers that do not use it", { containers: [container("a"), container("b", A, {})] }, ""],
  ])("is that of %s", (_, spec, label) => {
    const found = labelOf(csiOrigin(), spec);
    expect(found).toEqual({
      ...{ volume: "kubernetes.io/csi/d^h", name: "pv1", label, isMountable: true },
      ...{ plugin: "kubernetes.io/csi/d", accessMode: "RWOP" },
    });
  });

  it("is none where the pod wants its files relabelled", () => {
    const securityContext = { seLinuxOptions: A, seLinuxChangePolicy: "Recursive" };
    expect(labelOf(csiOrigin(), { securityContext, containers: [container("a")] })?.label).toBe("");
    expect(
      labelOf(csiOrigin(), {
        securityContext: { ...securityContext, seLinuxChangePolicy: "MountOption" },
        containers: [container("a")],
      })?.label,
    ).toBe(labelled("s0:c1,c2"));
  });

  it("has a fault where containers contradict each other or are no label", () => {
    expect(labelOf(csiOrigin(), { containers: [container("a", B), container("b", A)] })).toMatchObject({
      label: "",
      fault: {
        kind: "pod",
        error: {
          reason: "FailedMount",
          message: `multiple SELinux labels found: ${labelled("s0:c1,c2")},${labelled("s0:c3,c4")}`,
        },
      },
    });
    expect(labelOf(csiOrigin(), { containers: [container("a", { level: '"' })] })).toMatchObject({
      label: "",
      fault: { kind: "container" },
    });
  });

  it.each<[string, VolumeOrigin]>([
    ["a driver that does not support it", csiOrigin({ known: { metadata: { name: "d" }, spec: {} } })],
    ["a driver without a CSIDriver", csiOrigin({ known: "absent" })],
    ["NFS", { name: "pv3", accessModes: ONE_POD, nfs: { server: "s", path: "/" } }],
    ["a local disk", { name: "pv3", accessModes: ONE_POD, local: { path: "/disk" } }],
    ["a disk that cannot be named", { ...FC, fc: {} }],
  ])("is not a matter of %s", (_, origin) => {
    expect(labelOf(origin, { containers: [container("a", A)] })).toBeUndefined();
  });

  it("is not a matter of a block device", () => {
    const use = { volumeDevices: [{ name: "v", devicePath: "/dev/v" }] };
    expect(labelOf({ ...csiOrigin(), isBlock: true }, { containers: [container("a", A, use)] })).toBeUndefined();
  });

  it("of a disk of the network is shared by its name in the status of the Node", () => {
    expect(labelOf(FC, { containers: [container("a", A)] })).toMatchObject({
      ...{ volume: "kubernetes.io/fc/[5006]:0", plugin: "kubernetes.io/fc", isMountable: true },
    });
  });

  it.each([
    [["ReadWriteOncePod"], "RWOP", true, true],
    [["ReadWriteOnce"], "RWO", false, true],
    [["ReadWriteOncePod", "ReadWriteOnce"], "RWO", false, true],
    [["ReadOnlyMany", "ReadWriteOnce"], "ROX", false, true],
    [["ReadWriteOnce", "ReadWriteMany"], "RWX", false, true],
    [["Unknown"], "", false, true],
  ])("of access modes %s is mounted as the gate says", (modes, accessMode, byDefault, withGate) => {
    const spec = { containers: [container("a", A)] };
    const origin = csiOrigin({}, modes);
    expect(labelOf(origin, spec)).toMatchObject({ accessMode, isMountable: byDefault });
    expect(labelOf(origin, spec, true)).toMatchObject({ accessMode, isMountable: withGate });
  });

  it("of a volume in the pod itself is never mounted, and is no other pod's", () => {
    const spec = { seLinuxMount: true, volumeLifecycleModes: ["Ephemeral"] };
    const origin = csiOrigin({ mode: "Ephemeral", source: {}, known: { metadata: { name: "d" }, spec } });
    expect(labelOf(origin, { containers: [container("a", A)] }, true)).toMatchObject({
      ...{ volume: "kubernetes.io/csi/u-pv1", accessMode: "inline", isMountable: false },
    });
  });
});

describe("a volume that is mounted with a label", () => {
  const layoutOf = (origin: VolumeOrigin) => {
    const pod = podWith({ containers: [container("a", A)] });
    const layout = layoutOfFound(pod, "v", origin, volumeNodeOf({ csi: { nodeName: "n" } }));
    if (!layout.ok) throw new Error(layout.error.message);
    return layout.value;
  };

  it("is not relabelled by the runtime", () => {
    expect(labelledLayout(layoutOf(csiOrigin()), "u:r:t:s0")).toMatchObject({
      selinuxRelabel: false,
      csi: { label: "u:r:t:s0", mountOptions: [] },
    });
    expect(labelledLayout(layoutOf(csiOrigin()), "")).toMatchObject({ selinuxRelabel: true, csi: { label: "" } });
  });

  it("has the option once for the node, where the disk is mounted", () => {
    const mountOptions = ["noatime", "discard"];
    const { disk, bound, selinuxRelabel } = labelledLayout(layoutOf({ ...FC, mountOptions }), "u:r:t:s0:c1,c2");
    expect([disk?.options, bound?.options, selinuxRelabel]).toEqual([
      ['context="u:r:t:s0:c1,c2"', "discard", "noatime"],
      mountOptions,
      false,
    ]);
    expect(labelledLayout(layoutOf({ ...FC, mountOptions }), "").disk?.options).toEqual(["discard", "noatime"]);
  });

  it.each<[string, string | undefined, string | undefined, boolean]>([
    ["mounted with the same label", "x", "x", false],
    ["mounted with another label", "x", "y", true],
    ["mounted without a label", "", "y", true],
    ["not mounted", undefined, "y", false],
    ["of a driver that does not support labels", "x", undefined, false],
  ])("%s lets pods wait: %s wanted %s", (_, label, wanted, waits) => {
    const text = labelWait({ label, labelled: new Set(["a/pv1"]) }, wanted, "b/pv1", "kubernetes.io/csi/d^h");
    expect(text).toBe(
      waits
        ? 'waiting for unmount of volume "kubernetes.io/csi/d^h", because it is already mounted to a different pod with a different SELinux label'
        : undefined,
    );
  });

  it("stays as it is for a pod that has it", () => {
    expect(labelWait({ label: "x", labelled: new Set(["a/pv1"]) }, "y", "a/pv1", "v")).toBeUndefined();
  });

  it("keeps nobody waiting when no pod has it", () => {
    expect(labelWait({ label: "x", labelled: new Set() }, "y", "a/pv1", "v")).toBeUndefined();
  });
});
