import { describe, expect, it } from "vitest";
import type { PodSpec } from "../../../../src/core/api.ts";
import {
  layoutOf,
  layoutOfOrigin,
  usedVolumes,
  type Volume,
  type VolumeOrigin,
} from "../../../../src/core/volume/volumeLayout.ts";
import { containerOf, podOf } from "../../../support/pods.ts";
import { volumeNodeOf } from "../../../support/podVolumes.ts";
import { layoutOfFound } from "../../../../src/core/volume/foundVolume.ts";

const VOLUMES = "/var/lib/kubelet/pods/uid-1/volumes";
const NODE_MEMORY = 24_581_696 * 1024;
const layout = (volume: Omit<Volume, "name">, spec: Partial<PodSpec> = {}) =>
  layoutOf(podOf({ spec }), { name: "v", ...volume }, volumeNodeOf());
const tmpfs = (bytes: number) => ({ source: "tmpfs", fsType: "tmpfs", options: [`size=${bytes}`] });
const own = (plugin: string) => ({
  name: "v",
  plugin: `kubernetes.io/${plugin}`,
  path: `${VOLUMES}/kubernetes.io~${plugin}/v`,
  isOwnDirectory: true,
});
const limited = [containerOf({ resources: { limits: { memory: "64Mi" }, requests: { memory: "64Mi" } } })];
const GROUP = { fsGroup: 5, fsGroupChangePolicy: "OnRootMismatch" };
const huge = (...sizes: readonly string[]) => [
  containerOf({ resources: { requests: Object.fromEntries(sizes.map((size) => [`hugepages-${size}`, "4Mi"])) } }),
];

describe("layoutOf", () => {
  it.each<[string, Omit<Volume, "name">, Partial<PodSpec>, object]>([
    ["an emptyDir is a directory", { emptyDir: {} }, {}, { ...own("empty-dir"), hasContent: false, isReadOnly: false }],
    [
      "one in memory is as large as all pods",
      { emptyDir: { medium: "Memory" } },
      {},
      { fileSystem: tmpfs(NODE_MEMORY) },
    ],
    [
      "an emptyDir in memory is no larger than its limit",
      { emptyDir: { medium: "Memory", sizeLimit: "1Mi" } },
      { containers: limited },
      { fileSystem: tmpfs(2 ** 20) },
    ],
    [
      "an emptyDir in memory is no larger than the pod's limit",
      { emptyDir: { medium: "Memory", sizeLimit: "1Gi" } },
      { containers: limited },
      { fileSystem: tmpfs(2 ** 26) },
    ],
    [
      "one of huge pages has the size the pod asks for",
      { emptyDir: { medium: "HugePages" } },
      { containers: huge("2Mi") },
      { fileSystem: { source: "nodev", fsType: "hugetlbfs", options: ["pagesize=2Mi"] } },
    ],
    [
      "one of named huge pages has that size",
      { emptyDir: { medium: "HugePages-1Gi" } },
      { containers: huge("2Mi", "1Gi") },
      { fileSystem: { source: "nodev", fsType: "hugetlbfs", options: ["pagesize=1Gi"] } },
    ],
    [
      "a ConfigMap is on disk",
      { configMap: { name: "c" } },
      {},
      { ...own("configmap"), hasContent: true, isReadOnly: true },
    ],
    [
      "a Secret is in memory",
      { secret: { secretName: "s" } },
      {},
      { ...own("secret"), fileSystem: tmpfs(NODE_MEMORY) },
    ],
    ["so are fields", { downwardAPI: {} }, {}, { ...own("downward-api"), fileSystem: tmpfs(NODE_MEMORY) }],
    ["so is a projection", { projected: {} }, {}, { ...own("projected"), fileSystem: tmpfs(NODE_MEMORY) }],
    [
      "fsGroup owns it whatever the policy, which is for volumes that outlive pods, and once",
      { emptyDir: { medium: "Memory" } },
      { securityContext: GROUP },
      { ownership: { fsGroup: 5 }, readyDir: "/var/lib/kubelet/pods/uid-1/plugins/kubernetes.io~empty-dir/v" },
    ],
    [
      "fsGroup may read what the kubelet writes, each time it is written",
      { secret: { secretName: "s" } },
      { securityContext: GROUP },
      { ownership: { fsGroup: 5, readOnly: true } },
    ],
    [
      "what is mounted below it has its directory there",
      { configMap: { name: "c" } },
      { containers: [containerOf({ volumeMounts: ["/a", "/a/b"].map((mountPath) => ({ name: "v", mountPath })) })] },
      { nested: ["b"] },
    ],
    [
      "a hostPath keeps its path and its owner",
      { hostPath: { path: "/srv", type: "Directory" } },
      { securityContext: { fsGroup: 5 } },
      { path: "/srv", wanted: "Directory", isOwnDirectory: false },
    ],
    [
      "NFS is mounted",
      { nfs: { server: "fd00::1", path: "/x", readOnly: true } },
      {},
      { ...own("nfs"), fileSystem: { source: "[fd00::1]:/x", fsType: "nfs", options: ["ro"] }, isReadOnly: true },
    ],
    [
      "an image is the runtime's",
      { image: { reference: "r", pullPolicy: "Never" } },
      {},
      { image: { reference: "r", pullPolicy: "Never" } },
    ],
  ])("%s", (_rule, volume, spec, expected) => {
    expect(layout(volume, spec)).toMatchObject({ ok: true, value: expected });
  });

  it.each<[string, Omit<Volume, "name">, Partial<PodSpec>, object]>([
    [
      "an emptyDir",
      { emptyDir: {} },
      { hostUsers: true },
      { ...own("empty-dir"), hasContent: false, isReadOnly: false, selinuxRelabel: true },
    ],
    [
      "an emptyDir of a pod with its own users",
      { emptyDir: {} },
      { hostUsers: false },
      { ...own("empty-dir"), hasContent: false, isReadOnly: false, selinuxRelabel: true, hasQuota: true },
    ],
    [
      "a Secret",
      { secret: { secretName: "s" } },
      {},
      {
        ...own("secret"),
        ...{ fileSystem: tmpfs(NODE_MEMORY), hasContent: true, isReadOnly: true, selinuxRelabel: true },
      },
    ],
    [
      "a hostPath",
      { hostPath: { path: "/srv" } },
      {},
      {
        ...{ name: "v", plugin: "kubernetes.io/host-path", path: "/srv", isOwnDirectory: false, wanted: "" },
        ...{ hasContent: false, isReadOnly: false, selinuxRelabel: false },
      },
    ],
    [
      "NFS",
      { nfs: { server: "s", path: "/x" } },
      { securityContext: GROUP },
      {
        ...own("nfs"),
        ...{ fileSystem: { source: "s:/x", fsType: "nfs", options: [] }, hasContent: false, isReadOnly: false },
        selinuxRelabel: false,
      },
    ],
    [
      "an image",
      { image: {} },
      {},
      {
        ...{ name: "v", plugin: "kubernetes.io/image", path: "", isOwnDirectory: false, hasContent: false },
        ...{ isReadOnly: true, selinuxRelabel: true, image: { reference: "", pullPolicy: "" } },
      },
    ],
  ])("has these fields, and no others: %s", (_what, volume, spec, expected) => {
    expect(layout(volume, spec)).toEqual({ ok: true, value: expected });
  });

  it.each([
    ["the node's memory", {}, undefined, `size=${NODE_MEMORY}`],
    ["the limit of the volume", {}, "1Mi", `size=${2 ** 20}`],
    ["the node's memory again for a limit of zero", {}, "0", `size=${NODE_MEMORY}`],
    ["nothing on a node without known memory", { allocatable: {} }, undefined, undefined],
    ["nothing on a node without known memory, whatever the limit", { allocatable: {} }, "1Mi", undefined],
  ])("limits memory to %s", (_, node, sizeLimit, option) => {
    const emptyDir = { medium: "Memory", ...(sizeLimit === undefined ? {} : { sizeLimit }) };
    const made = layoutOf(podOf({}), { name: "v", emptyDir }, volumeNodeOf(node));
    const options = option === undefined ? [] : [option];
    expect(made).toMatchObject({ value: { fileSystem: { options } } });
    expect(made.ok && made.value.fileSystem?.options).toHaveLength(options.length);
  });

  it("excludes memory from swap when the kernel supports it", () => {
    const made = layoutOf(podOf({}), { name: "v", secret: { secretName: "s" } }, volumeNodeOf({ hasNoSwap: true }));
    expect(made).toMatchObject({ value: { fileSystem: { options: [`size=${NODE_MEMORY}`, "noswap"] } } });
  });

  it.each<[Omit<Volume, "name">, Partial<PodSpec>, string]>([
    [{ emptyDir: { medium: "Disk" } }, {}, 'unknown storage medium "Disk"'],
    [
      { emptyDir: { medium: "HugePages" } },
      { containers: huge("2Mi", "1Gi") },
      "medium: HugePages can't be used if container requests multiple huge page sizes",
    ],
    [
      { emptyDir: { medium: "HugePages-2Mi" } },
      {},
      "medium HugePages-2Mi: hugePages storage requested, but there is no resource request for huge pages",
    ],
    [
      { gitRepo: { repository: "r" } },
      {},
      "git-repo volume plugin has been disabled: the feature gate GitRepoVolumeDriver is locked to false",
    ],
  ])("has an error to report on each attempt: %j", (volume, spec, message) => {
    expect(layout(volume, spec)).toMatchObject({ ok: true, value: { fault: { message } } });
  });

  it.each<[Omit<Volume, "name">, Partial<PodSpec>, string]>([
    [
      { glusterfs: { endpoints: "e", path: "p" } },
      {},
      'failed to get Plugin from volumeSpec for volume "v" err=no volume plugin matched (glusterfs is not served)',
    ],
    [
      {},
      {},
      'failed to get Plugin from volumeSpec for volume "v" err=no volume plugin matched (no source is not served)',
    ],
  ])("rejects %j", (volume, spec, message) => {
    expect(layout(volume, spec)).toMatchObject({ ok: false, error: { reason: "FailedMount", message } });
  });
});

describe("layoutOfOrigin", () => {
  it("binds a local volume, and keeps its ownership when it is read-only", () => {
    const pod = podOf({ spec: { securityContext: { fsGroup: 5 } } });
    const origin = { name: "v", local: { path: "/mnt/d" }, mountOptions: ["noexec", "noatime"], readOnly: true };
    expect(layoutOfOrigin(pod, origin, volumeNodeOf())).toEqual({
      ...own("local-volume"),
      bound: {
        source: "/mnt/d",
        readOnly: true,
        options: ["noexec", "noatime"],
        podsDir: "/var/lib/kubelet/pods",
        device: {
          source: "/mnt/d",
          fsType: "ext4",
          options: ["noatime", "noexec", "ro", "defaults"],
          mountPoint: "/var/lib/kubelet/plugins/kubernetes.io/local-volume/mounts/v",
        },
      },
      hasContent: false,
      isReadOnly: true,
      selinuxRelabel: false,
    });
  });

  it.each([
    ["hostPath", { hostPath: { path: "/x" } }, { hasVainMountOptions: true }],
    ["nfs", { nfs: { server: "[fd00::1]", path: "/x" } }, { source: "[fd00::1]:/x", options: ["ro", "soft"] }],
    ["local", { local: { path: "/x" } }, { bound: ["soft"] }],
  ])("a claim makes %s read-only, with the options of its volume", (_kind, source, expected) => {
    const origin = { name: "v", ...source, readOnly: true, mountOptions: ["soft"] };
    const { isReadOnly, fileSystem, bound, hasVainMountOptions } =
      layoutOfOrigin(podOf(), origin, volumeNodeOf()) ?? {};
    expect({
      ...{ isReadOnly, hasVainMountOptions, source: fileSystem?.source },
      ...{ options: fileSystem?.options, bound: bound?.options },
    }).toEqual({ isReadOnly: true, ...expected });
  });

  it("does not set the group of a local volume on mismatch only, unless the policy says so", () => {
    const pod = podOf({ spec: { securityContext: { fsGroup: 5, fsGroupChangePolicy: "Always" } } });
    expect(layoutOfOrigin(pod, { name: "v", local: { path: "/mnt/d" } }, volumeNodeOf())?.ownership).toEqual({
      fsGroup: 5,
    });
  });

  it("serves no CSI driver and no unknown source", () => {
    const messageOf = (origin: VolumeOrigin) => {
      const found = layoutOfFound(podOf(), "v", origin, volumeNodeOf());
      return found.ok ? "" : found.error.message;
    };
    const why = (text: string) =>
      `failed to get Plugin from volumeSpec for volume "v" err=no volume plugin matched (${text})`;
    expect([messageOf({ name: "v", csi: { driver: "d", mode: "Persistent" } }), messageOf({ name: "v" })]).toEqual([
      why("CSI driver d is not served"),
      why("its kind is not served"),
    ]);
  });

  it("sets the group of a local volume by its policy, once", () => {
    const pod = podOf({ spec: { securityContext: GROUP } });
    expect(layoutOfOrigin(pod, { name: "v", local: { path: "/mnt/d" } }, volumeNodeOf())).toMatchObject({
      ownership: { fsGroup: 5, changePolicy: "OnRootMismatch" },
      readyDir: "/var/lib/kubelet/pods/uid-1/plugins/kubernetes.io~local-volume/v",
    });
  });

  it("mounts a block device with the volume's file system type", () => {
    const origin = { name: "v", local: { path: "/dev/sdb", fsType: "xfs" } };
    expect(layoutOfOrigin(podOf(), origin, volumeNodeOf())?.bound?.device).toMatchObject({
      fsType: "xfs",
      options: ["defaults"],
    });
  });

  it("sets the group of huge pages each time, since nothing records it", () => {
    const made = layout({ emptyDir: { medium: "HugePages" } }, { securityContext: GROUP, containers: huge("2Mi") });
    expect(made).toMatchObject({ value: { ownership: { fsGroup: 5 } } });
    expect(made).not.toHaveProperty("value.readyDir");
  });

  // Upstream's GetAttributes: managed by the kubelet, and labels that can be changed.
  it.each([
    ["local", { local: { path: "/mnt/d" } }, true],
    ["hostPath", { hostPath: { path: "/data" } }, false],
    ["nfs", { nfs: { server: "s", path: "/" } }, false],
  ])("relabels the files of %s for SELinux: %j %s", (_, origin, isRelabelled) => {
    expect(layoutOfOrigin(podOf(), { name: "v", ...origin }, volumeNodeOf())?.selinuxRelabel).toBe(isRelabelled);
  });
});

describe("usedVolumes", () => {
  it("returns the volumes that a container mounts, in spec order", () => {
    const volumes = ["a", "b", "c", "d"].map((name) => ({ name, emptyDir: {} }));
    const mounting = (name: string, volume: string) =>
      containerOf({ name, volumeMounts: [{ name: volume, mountPath: "/x" }] });
    const raw = containerOf({ name: "raw", volumeDevices: [{ name: "d", devicePath: "/dev/x" }] });
    const spec = { volumes, containers: [mounting("main", "c"), raw], initContainers: [mounting("init", "a")] };
    expect(usedVolumes(podOf({ spec })).map(({ name }) => name)).toEqual(["a", "c", "d"]);
  });
});
