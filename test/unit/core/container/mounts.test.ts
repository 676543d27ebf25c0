import { describe, expect, it } from "vitest";
import type { Container, PodSpec } from "../../../../src/core/api.ts";
import { containerMounts, needsHostsFile } from "../../../../src/core/container/mounts.ts";
import { Mount, MountPropagation } from "../../../../src/gen/cri.ts";
import { nodeContextOf } from "../../../support/nodeContext.ts";
import { containerOf, podOf } from "../../../support/pods.ts";
import { mountedVolumesOf } from "../../../support/podVolumes.ts";

type Volumes = NonNullable<PodSpec["volumes"]>;
type VolumeMounts = NonNullable<Container["volumeMounts"]>;

const POD_DIR = "/var/lib/kubelet/pods/uid-1";
const LOG = `${POD_DIR}/containers/main/0a1b2c3d`;
const volumes: Volumes = [
  { name: "data", emptyDir: {} },
  { name: "host", hostPath: { path: "/srv/x", type: "DirectoryOrCreate" } },
];

interface MountCase {
  readonly spec?: Partial<PodSpec>;
  readonly container?: Partial<Container>;
  readonly podIps?: readonly string[];
  readonly selinuxEnabled?: boolean;
  readonly recursiveReadOnlyMounts?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumeImages?: Readonly<Record<string, string>>;
}

function mounts(volumeMounts: VolumeMounts, more: MountCase = {}) {
  const {
    spec = {},
    container = {},
    podIps = ["10.1.0.5"],
    selinuxEnabled = false,
    recursiveReadOnlyMounts = true,
  } = more;
  const main = containerOf({ volumeMounts, ...container });
  const pod = podOf({ spec: { volumes, containers: [main], ...spec } });
  return containerMounts({
    pod,
    volumes: mountedVolumesOf(pod),
    environment: new Map(Object.entries(more.environment ?? {})),
    volumeImages: new Map(Object.entries(more.volumeImages ?? {})),
    runtimeHandler: "kata",
    container: main,
    podIps,
    terminationLogPath: LOG,
    recursiveReadOnlyMounts,
    node: nodeContextOf({ selinuxEnabled }),
  });
}

const HOSTS = { containerPath: "/etc/hosts", hostPath: `${POD_DIR}/etc-hosts` };
const TERMINATION = { containerPath: "/dev/termination-log", hostPath: LOG };
const DATA = `${POD_DIR}/volumes/kubernetes.io~empty-dir/data`;
const ok = (list: readonly Parameters<typeof Mount.fromPartial>[0][]) => ({
  ok: true,
  value: list.map(Mount.fromPartial),
});
describe("containerMounts", () => {
  it("returns the volumes, the hosts file, the termination message file", () => {
    const list = [
      { name: "data", mountPath: "/data" },
      { name: "host", mountPath: "x", readOnly: true, mountPropagation: "HostToContainer" },
    ];
    expect(mounts(list)).toEqual(
      ok([
        { containerPath: "/data", hostPath: DATA },
        {
          containerPath: "/x",
          hostPath: "/srv/x",
          readonly: true,
          propagation: MountPropagation.PROPAGATION_HOST_TO_CONTAINER,
        },
        HOSTS,
        TERMINATION,
      ]),
    );
  });

  it("omits /etc/hosts for a container that mounts it, and for pods without an IP", () => {
    expect(mounts([{ name: "host", mountPath: "/etc/hosts" }])).toEqual(
      ok([{ containerPath: "/etc/hosts", hostPath: "/srv/x" }, TERMINATION]),
    );
    expect(mounts([], { podIps: [] })).toEqual(ok([TERMINATION]));
    expect(needsHostsFile(podOf({ spec: { hostNetwork: true } }), [])).toBe(true);
  });

  it("omits the termination message file when the container has none", () => {
    expect(mounts([], { container: { terminationMessagePath: "" } })).toEqual(ok([HOSTS]));
  });

  it("relabels mounts for SELinux unless they are the host's", () => {
    const list = [
      { name: "data", mountPath: "/data" },
      { name: "host", mountPath: "/x" },
    ];
    expect(mounts(list, { selinuxEnabled: true })).toEqual(
      ok([
        { containerPath: "/data", hostPath: DATA, selinuxRelabel: true },
        { containerPath: "/x", hostPath: "/srv/x" },
        { ...HOSTS, selinuxRelabel: true },
        { ...TERMINATION, selinuxRelabel: true },
      ]),
    );
  });

  it.each<[VolumeMounts[number], string]>([
    [{ name: "none", mountPath: "/m" }, 'cannot find volume "none" to mount into container "main"'],
    [{ name: "data", mountPath: "/m", mountPropagation: "Up" }, 'invalid MountPropagation mode: "Up"'],
  ])("rejects %j with upstream's text", (mount, message) => {
    const reason = "CreateContainerConfigError";
    expect(mounts([mount])).toEqual({
      ok: false,
      error: { code: "InvalidArgument", reason, message, retryable: false },
    });
  });

  const rro = (mode: string, more: Partial<VolumeMounts[number]> = {}) => ({
    name: "data",
    mountPath: "/m",
    readOnly: true,
    recursiveReadOnly: mode,
    ...more,
  });
  it.each<[VolumeMounts[number], boolean, boolean]>([
    [rro("Enabled"), true, true],
    [rro("Enabled", { mountPropagation: "None" }), true, true],
    [rro("IfPossible"), true, true],
    [rro("IfPossible"), false, false],
    [rro("Disabled"), true, false],
    [rro("Disabled", { readOnly: false, mountPropagation: "Bidirectional" }), false, false],
  ])(
    "mounts %j recursively read-only as far as the runtime supports it (%s): %s",
    (mount, recursiveReadOnlyMounts, expected) => {
      const result = mounts([mount], { recursiveReadOnlyMounts });
      expect(result.ok && result.value[0]?.recursiveReadOnly).toBe(expected);
    },
  );

  it.each<[VolumeMounts[number], boolean, string]>([
    [rro("Enabled"), false, "but it is not supported by the runtime"],
    [rro("Enabled", { readOnly: false }), true, "but it is not read-only"],
    [
      rro("IfPossible", { mountPropagation: "HostToContainer" }),
      true,
      'but it is not compatible with propagation "HostToContainer"',
    ],
  ])("rejects %j when the runtime support is (%s)", (mount, recursiveReadOnlyMounts, why) => {
    expect(mounts([mount], { recursiveReadOnlyMounts })).toMatchObject({
      ok: false,
      error: {
        reason: "CreateContainerConfigError",
        message:
          "failed to resolve recursive read-only mode: " + `volume "data" requested recursive read-only mode, ${why}`,
      },
    });
  });

  it("leaves block volumes to the container's devices", () => {
    const device = { volumeDevices: [{ name: "d", devicePath: "/dev/x" }] };
    expect(mounts([], { container: device })).toEqual(mounts([]));
  });
});
