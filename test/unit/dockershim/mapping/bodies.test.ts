/** CRI's configs as Docker is asked for them. */
import { describe, expect, it } from "vitest";
import { containerBody } from "../../../../src/dockershim/mapping/containerBody.ts";
import { sandboxBody } from "../../../../src/dockershim/mapping/sandboxBody.ts";
import * as cri from "../../../../src/gen/cri.ts";

const metadata = { name: "web", namespace: "shop", uid: "u-1", attempt: 2 };
const sandboxPlace = {
  image: "pause:1",
  runtime: "",
  cgroupDriver: "cgroupfs",
  hasPodNetwork: false,
  remapsUsers: false,
  lowestOomScore: -1000,
} as const;
type SandboxConfig = Parameters<typeof cri.PodSandboxConfig.create>[0];
type ContainerOptions = Parameters<typeof cri.ContainerConfig.create>[0];

const sandbox = (
  config: SandboxConfig = {},
  place: Partial<Parameters<typeof sandboxBody>[1]> = {},
  seccomp?: string,
) => sandboxBody(cri.PodSandboxConfig.create({ metadata, ...config }), { ...sandboxPlace, ...place }, seccomp);

const versionAt = (minor: number) => ({
  text: `1.${minor}`,
  engine: "x",
  atLeast: (wanted: number) => minor >= wanted,
});
const containerPlace = {
  sandboxId: "5ab",
  runtime: "",
  cgroupDriver: "cgroupfs",
  version: versionAt(41),
  remapsUsers: false,
  lowestOomScore: -1000,
  logOptions: {},
} as const;
const container = (
  config: ContainerOptions = {},
  place: Partial<Parameters<typeof containerBody>[2]> = {},
  pod: SandboxConfig = {},
  seccomp?: string,
) =>
  containerBody(
    cri.ContainerConfig.create({ metadata: { name: "main", attempt: 0 }, image: { image: "i:1" }, ...config }),
    cri.PodSandboxConfig.create({ metadata, ...pod }),
    { ...containerPlace, ...place },
    seccomp,
  );
const hostOf = (body: Record<string, unknown>) => body["HostConfig"] as Record<string, unknown>;
const secured = (context: Parameters<typeof cri.LinuxContainerSecurityContext.create>[0], seccomp?: string) =>
  hostOf(container({ linux: { securityContext: context ?? {} } }, {}, {}, seccomp));

describe("a sandbox", () => {
  it("is a pause container with the labels of cri-dockerd", () => {
    expect(sandbox({ hostname: "web", labels: { app: "a" }, annotations: { note: "n" } })).toEqual({
      Hostname: "web",
      Image: "pause:1",
      Labels: {
        app: "a",
        "annotation.note": "n",
        "io.kubernetes.docker.type": "podsandbox",
        "io.kubernetes.container.name": "POD",
      },
      ExposedPorts: {},
      HostConfig: {
        NetworkMode: "default",
        IpcMode: "shareable",
        Sysctls: {},
        PortBindings: {},
        OomScoreAdj: -998,
        CpuShares: 2,
        CgroupParent: "",
      },
    });
  });

  it("has the host's namespaces, host ports and servers that the pod names", () => {
    const portMappings = [
      { protocol: cri.Protocol.TCP, containerPort: 80, hostPort: 8080, hostIp: "" },
      { protocol: cri.Protocol.TCP, containerPort: 80, hostPort: 8081, hostIp: "192.0.2.1" },
      { protocol: cri.Protocol.UDP, containerPort: 53, hostPort: 0, hostIp: "" },
    ];
    const dnsConfig = { servers: ["192.0.2.53"], searches: ["a.example"], options: ["ndots:5"] };
    const bridged = sandbox({ portMappings, dnsConfig });
    expect([bridged["ExposedPorts"], hostOf(bridged)]).toMatchObject([
      { "80/tcp": {} },
      {
        PortBindings: {
          "80/tcp": [
            { HostIp: "", HostPort: "8080" },
            { HostIp: "192.0.2.1", HostPort: "8081" },
          ],
        },
        Dns: ["192.0.2.53"],
        DnsSearch: ["a.example"],
        DnsOptions: ["ndots:5"],
      },
    ]);
    const NODE = cri.NamespaceMode.NODE;
    const namespaceOptions = { network: NODE, pid: NODE, ipc: NODE };
    const onHost = sandbox({ portMappings, linux: { securityContext: { namespaceOptions } } });
    expect(hostOf(onHost)).toMatchObject({ NetworkMode: "host", PidMode: "host", IpcMode: "host", PortBindings: {} });
    const ofOurs = hostOf(sandbox({ portMappings }, { hasPodNetwork: true }));
    expect(ofOurs).toMatchObject({ NetworkMode: "none", PortBindings: {} });
    const networkLabel = (config: SandboxConfig) =>
      (sandbox(config, { hasPodNetwork: true })["Labels"] as Record<string, string>)["dev.rxlet.docker.network"];
    expect([networkLabel({}), networkLabel({ linux: { securityContext: { namespaceOptions } } })]).toEqual([
      "pod",
      undefined,
    ]);
  });

  it.each([
    ["cgroupfs", "/kubepods/burstable/pod1", "/kubepods/burstable/pod1"],
    ["systemd", "/kubepods.slice/kubepods-pod1.slice", "kubepods-pod1.slice"],
  ] as const)("names its cgroup to the driver %s", (cgroupDriver, cgroupParent, expected) => {
    expect(hostOf(sandbox({ linux: { cgroupParent } }, { cgroupDriver }))["CgroupParent"]).toBe(expected);
  });

  it("keeps the user ids of the machine, its runtime, and a score that can be had", () => {
    const place = { remapsUsers: true, runtime: "kata", lowestOomScore: -7 };
    expect(hostOf(sandbox({}, place))).toMatchObject({ UsernsMode: "host", Runtime: "kata", OomScoreAdj: -7 });
  });

  it("refuses a user namespace of its own", () => {
    const usernsOptions = { mode: cri.NamespaceMode.POD, uids: [{ hostId: 65_536, containerId: 0, length: 65_536 }] };
    expect(() => sandbox({ linux: { securityContext: { namespaceOptions: { usernsOptions } } } })).toThrow(
      "Docker cannot do this: a user namespace per pod",
    );
  });
});

describe("a container", () => {
  it("joins its sandbox, with its command, variables, labels and log", () => {
    const body = container(
      {
        command: ["sh"],
        args: ["-c", "x"],
        envs: [{ key: "A", value: Buffer.from("ä=b") }],
        workingDir: "/w",
        labels: { l: "1" },
        annotations: { a: "2" },
        logPath: "main/0.log",
        stdin: true,
        tty: true,
        stopSignal: cri.Signal.SIGRTMINPLUS1,
      },
      { logOptions: { "max-size": "10" }, runtime: "runc" },
      { logDirectory: "/var/log/pods/p" },
    );
    expect(body).toEqual({
      Image: "i:1",
      Entrypoint: ["sh"],
      Cmd: ["-c", "x"],
      Env: ["A=ä=b"],
      WorkingDir: "/w",
      Labels: {
        l: "1",
        "annotation.a": "2",
        "io.kubernetes.docker.type": "container",
        "io.kubernetes.sandbox.id": "5ab",
        "io.kubernetes.container.logpath": "/var/log/pods/p/main/0.log",
      },
      OpenStdin: true,
      StdinOnce: false,
      Tty: true,
      StopSignal: "SIGRTMIN+1",
      Healthcheck: { Test: ["NONE"] },
      HostConfig: {
        NetworkMode: "container:5ab",
        IpcMode: "container:5ab",
        Binds: [],
        Mounts: [],
        OomScoreAdj: 0,
        CgroupParent: "",
        Devices: [],
        RestartPolicy: { Name: "no" },
        LogConfig: { Type: "json-file", Config: { "max-size": "10" } },
        Runtime: "runc",
      },
    });
  });

  it("leaves command and arguments to its image", () => {
    expect(container()).toMatchObject({ Entrypoint: null, Cmd: null });
  });

  it.each([
    ["its own", cri.NamespaceMode.CONTAINER, undefined],
    ["the pod's", cri.NamespaceMode.POD, "container:5ab"],
    ["the host's", cri.NamespaceMode.NODE, "host"],
    ["another container's", cri.NamespaceMode.TARGET, "container:7a6"],
  ])("has %s process ids", (_what, pid, expected) => {
    expect(secured({ namespaceOptions: { pid, targetId: "7a6" } })["PidMode"]).toBe(expected);
  });

  it("maps limits, and has no swap unless it is named", () => {
    const resources = {
      cpuShares: 512n,
      cpuQuota: 50_000n,
      cpuPeriod: 100_000n,
      memoryLimitInBytes: 1024n,
      cpusetCpus: "0-1",
      oomScoreAdj: -997n,
    };
    const limited = hostOf(container({ linux: { resources } }, { lowestOomScore: 0 }));
    expect(limited).toMatchObject({
      CpuShares: 512,
      CpuQuota: 50_000,
      CpuPeriod: 100_000,
      Memory: 1024,
      MemorySwap: 1024,
      CpusetCpus: "0-1",
      OomScoreAdj: 0,
    });
    const swapping = hostOf(container({ linux: { resources: { ...resources, memorySwapLimitInBytes: 4096n } } }));
    expect(swapping["MemorySwap"]).toBe(4096);
  });

  it("keeps limits that Docker has no words for in a label, files of its cgroup alone", () => {
    const unified = { "memory.high": "9", "../x": "1", "cgroup.kill": "1" };
    const resources = { unified, hugepageLimits: [{ pageSize: "2MB", limit: 4n }] };
    const labels = container({ linux: { resources } })["Labels"] as Record<string, string>;
    expect(JSON.parse(labels["dev.rxlet.docker.cgroup"] ?? "")).toEqual({
      "hugetlb.2MB.max": "4",
      "hugetlb.2MB.limit_in_bytes": "4",
      "memory.high": "9",
      "cgroup.kill": "1",
    });
  });

  it("maps a security context", () => {
    const context = {
      runAsUser: { value: 5n },
      runAsGroup: { value: 6n },
      supplementalGroups: [7n],
      readonlyRootfs: true,
      noNewPrivs: true,
      capabilities: { addCapabilities: ["NET_ADMIN"], dropCapabilities: ["ALL"] },
      maskedPaths: ["/proc/kcore"],
      readonlyPaths: ["/proc/sys"],
      selinuxOptions: { user: "", role: "", type: "spc_t", level: "s0" },
      apparmor: { profileType: cri.SecurityProfile_ProfileType.Localhost, localhostRef: "localhost/mine" },
      seccomp: { profileType: cri.SecurityProfile_ProfileType.RuntimeDefault },
    };
    expect(container({ linux: { securityContext: context } })["User"]).toBe("5:6");
    expect(secured(context)).toMatchObject({
      Privileged: false,
      ReadonlyRootfs: true,
      GroupAdd: ["7"],
      CapAdd: ["NET_ADMIN"],
      CapDrop: ["ALL"],
      MaskedPaths: ["/proc/kcore"],
      ReadonlyPaths: ["/proc/sys"],
      SecurityOpt: ["label=type:spc_t", "label=level:s0", "apparmor=mine", "no-new-privileges"],
    });
  });

  it.each([
    ["none", {}, "seccomp=unconfined"],
    ["a profile of a file", { seccomp: { profileType: cri.SecurityProfile_ProfileType.Localhost } }, 'seccomp={"a":1}'],
  ])("filters system calls with %s", (_what, context, expected) => {
    expect(secured(context, '{"a":1}')["SecurityOpt"]).toEqual([expected]);
  });

  it("masks nothing when privileged", () => {
    const { Privileged, MaskedPaths } = secured({ privileged: true, maskedPaths: ["/x"] });
    expect([Privileged, MaskedPaths]).toEqual([true, undefined]);
  });

  it("maps mounts as the version of Docker has them", () => {
    const mounts = [
      { hostPath: "/a", containerPath: "/b" },
      {
        hostPath: "/c",
        containerPath: "/d",
        readonly: true,
        propagation: cri.MountPropagation.PROPAGATION_HOST_TO_CONTAINER,
      },
      { hostPath: "/e:f", containerPath: "/g", propagation: cri.MountPropagation.PROPAGATION_BIDIRECTIONAL },
      { hostPath: "/h", containerPath: "/i", selinuxRelabel: true },
    ];
    expect(hostOf(container({ mounts }))).toMatchObject({
      Binds: ["/a:/b", "/c:/d:ro,rslave", "/h:/i:Z"],
      Mounts: [
        { Type: "bind", Source: "/e:f", Target: "/g", ReadOnly: false, BindOptions: { Propagation: "rshared" } },
      ],
    });
    const newer = hostOf(container({ mounts: mounts.slice(0, 2) }, { version: versionAt(44) }));
    expect(newer).toMatchObject({
      Binds: [],
      Mounts: [
        { Source: "/a", ReadOnly: false, BindOptions: { CreateMountpoint: true } },
        { Source: "/c", ReadOnly: true, BindOptions: { Propagation: "rslave", ReadOnlyNonRecursive: true } },
      ],
    });
  });

  it("maps devices, and those with names where Docker knows names", () => {
    const devices = [{ hostPath: "/dev/a", containerPath: "/dev/b", permissions: "rw" }];
    const CDIDevices = [{ name: "vendor.com/gpu=0" }];
    expect(hostOf(container({ devices, CDIDevices }, { version: versionAt(44) }))).toMatchObject({
      Devices: [{ PathOnHost: "/dev/a", PathInContainer: "/dev/b", CgroupPermissions: "rw" }],
      DeviceRequests: [{ Driver: "cdi", DeviceIDs: ["vendor.com/gpu=0"] }],
    });
  });

  const mount = { hostPath: "/a", containerPath: "/b" };
  const strict = { supplementalGroupsPolicy: cri.SupplementalGroupsPolicy.Strict };
  it.each<[string, ContainerOptions]>([
    ["devices by their CDI name: Docker 25 can", { CDIDevices: [{ name: "x" }] }],
    ["an image as the volume at /b", { mounts: [{ ...mount, image: { image: "i" } }] }],
    ["other user ids in the mount at /b", { mounts: [{ ...mount, uidMappings: [{ hostId: 1 }] }] }],
    ["mounts below /a read-only: Docker 25 can", { mounts: [{ ...mount, recursiveReadOnly: true }] }],
    ["the environment variable X, whose value is no UTF-8", { envs: [{ key: "X", value: Buffer.from([0xff]) }] }],
    ["ambient capabilities", { linux: { securityContext: { capabilities: { addAmbientCapabilities: ["CHOWN"] } } } }],
    [
      "supplemental groups alone (supplementalGroupsPolicy Strict): it adds those of the image",
      { linux: { securityContext: strict } },
    ],
  ])("is refused by name for %s", (what, config) => {
    expect(() => container(config)).toThrow(`Docker cannot do this: ${what}`);
  });

  it.each<[string, ContainerOptions]>([
    ["run_as_group: is specified without a run_as_user", { linux: { securityContext: { runAsGroup: { value: 1n } } } }],
    ["config.log_path: must not contain ..", { logPath: "../../etc/cron.d/x" }],
    ["mount.host_path: is required for /b", { mounts: [{ containerPath: "/b" }] }],
  ])("is refused where it is wrong: %s", (message, config) => expect(() => container(config)).toThrow(message));
});
