import { describe, expect, it } from "vitest";
import type { Container, PodSpec } from "../../../../src/core/api.ts";
import { configObjectsOf, NO_CONFIG_OBJECTS } from "../../../../src/core/configObjects.ts";
import { type ContainerConfigInput, buildContainerConfig } from "../../../../src/core/container/containerConfig.ts";
import { NODE_USER_NAMESPACE, podUserNamespace } from "../../../../src/core/container/namespaces.ts";
import type { NodeContext } from "../../../../src/core/container/nodeContext.ts";
import { stopSignal, stopSignalName } from "../../../../src/core/container/stopSignal.ts";
import { ContainerConfig, NamespaceMode, SecurityProfile_ProfileType, Signal } from "../../../../src/gen/cri.ts";
import { nodeContextOf } from "../../../support/nodeContext.ts";
import { containerOf, podOf } from "../../../support/pods.ts";
import { mountedVolumesOf } from "../../../support/podVolumes.ts";

const BUSYBOX = "registry.k8s.io/e2e-test-images/busybox:1.37.0-1";
const IMAGE_REF = "sha256:0000000000000000000000000000000000000000000000000000000000000002";
const POD_DIR = "/var/lib/kubelet/pods/uid-1";
const ROOT = { uid: 0n, username: "" };

interface Case {
  readonly spec?: Partial<PodSpec>;
  readonly input?: Partial<ContainerConfigInput>;
  readonly node?: Partial<NodeContext>;
}

function build(container: Container, { spec = {}, input = {}, node = {} }: Case = {}) {
  const pod = podOf({ spec: { containers: [container], ...spec } });
  return buildContainerConfig({
    pod,
    container,
    restartCount: 0,
    imageRef: IMAGE_REF,
    imageUser: ROOT,
    userNamespace: NODE_USER_NAMESPACE,
    recursiveReadOnlyMounts: false,
    volumes: mountedVolumesOf(pod),
    podIps: ["10.1.0.192"],
    terminationLogPath: `${POD_DIR}/containers/${container.name}/0a1b2c3d`,
    objects: NO_CONFIG_OBJECTS,
    node: nodeContextOf(node),
    ...input,
  });
}

type Partially = Parameters<typeof ContainerConfig.fromPartial>[0];
const ok = (config: Partially) => ({ ok: true, value: ContainerConfig.fromPartial(config) });
const env = (pairs: Readonly<Record<string, string>>) =>
  Object.entries(pairs).map(([key, value]) => ({ key, value: new TextEncoder().encode(value) }));

const HUGEPAGES = [{ pageSize: "2MB" }, { pageSize: "1GB" }];
const SECURITY = {
  namespaceOptions: { pid: NamespaceMode.CONTAINER, usernsOptions: { mode: NamespaceMode.NODE } },
  runAsUser: { value: 0n },
  maskedPaths: [
    "/proc/asound",
    "/proc/acpi",
    "/proc/interrupts",
    "/proc/kcore",
    "/proc/keys",
    "/proc/latency_stats",
    "/proc/timer_list",
    "/proc/timer_stats",
    "/proc/sched_debug",
    "/proc/scsi",
    "/sys/firmware",
    "/sys/devices/virtual/powercap",
  ],
  readonlyPaths: ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"],
  seccomp: { profileType: SecurityProfile_ProfileType.Unconfined },
};
const ANNOTATIONS = {
  "io.kubernetes.container.hash": "a785d335",
  "io.kubernetes.container.restartCount": "0",
  "io.kubernetes.container.terminationMessagePath": "/dev/termination-log",
  "io.kubernetes.container.terminationMessagePolicy": "File",
  "io.kubernetes.pod.terminationGracePeriod": "30",
};
const BEST_EFFORT = { cpuPeriod: 100_000n, cpuShares: 2n, oomScoreAdj: 1000n, hugepageLimits: HUGEPAGES };

/** The config of container main of a pod without requests, with `more` over it. */
const mainConfig = (more: Partially = {}): Partially => ({
  metadata: { name: "main" },
  image: { image: IMAGE_REF, userSpecifiedImage: BUSYBOX },
  mounts: [
    { containerPath: "/etc/hosts", hostPath: `${POD_DIR}/etc-hosts` },
    { containerPath: "/dev/termination-log", hostPath: `${POD_DIR}/containers/main/0a1b2c3d` },
  ],
  labels: {
    "io.kubernetes.container.name": "main",
    "io.kubernetes.pod.name": "plain",
    "io.kubernetes.pod.namespace": "demo",
    "io.kubernetes.pod.uid": "uid-1",
  },
  annotations: ANNOTATIONS,
  logPath: "main/0.log",
  linux: { resources: BEST_EFFORT, securityContext: SECURITY },
  ...more,
});
const main = (more: Partial<Container> = {}) => containerOf({ image: BUSYBOX, ...more });

describe("buildContainerConfig", () => {
  it("builds upstream's config of a plain container", () => {
    const command = ["sh", "-c", "trap exit TERM; while :; do sleep 1; done"];
    expect(build(main({ command }))).toEqual(ok(mainConfig({ command })));
  });

  it("builds upstream's config of a guaranteed container", () => {
    const amounts = { cpu: "100m", memory: "64Mi" };
    expect(build(main({ resources: { limits: amounts, requests: amounts } }))).toEqual(
      ok(
        mainConfig({
          linux: {
            resources: {
              cpuPeriod: 100_000n,
              cpuQuota: 10_000n,
              cpuShares: 102n,
              memoryLimitInBytes: 67_108_864n,
              oomScoreAdj: -997n,
              hugepageLimits: HUGEPAGES,
              memorySwapLimitInBytes: 67_108_864n,
            },
            securityContext: SECURITY,
          },
        }),
      ),
    );
  });

  it("builds upstream's config of a container with limits, ports, volumes and a security context", () => {
    const web = containerOf({
      name: "web",
      image: "registry.k8s.io/e2e-test-images/agnhost:2.63.0",
      args: ["netexec", "--http-port=8080"],
      ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
      env: [
        { name: "A", value: "b" },
        { name: "IP", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "status.podIP" } } },
      ],
      resources: {
        limits: { cpu: "200m", "ephemeral-storage": "1Gi", memory: "128Mi" },
        requests: { cpu: "50m", "ephemeral-storage": "1Gi", memory: "32Mi" },
      },
      volumeMounts: [{ name: "data", mountPath: "/data" }],
      securityContext: {
        capabilities: { add: ["NET_BIND_SERVICE"], drop: ["ALL"] },
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        seccompProfile: { type: "RuntimeDefault" },
      },
    });
    const spec: Partial<PodSpec> = {
      volumes: [{ name: "data", emptyDir: { sizeLimit: "10Mi" } }],
      securityContext: { runAsUser: 1000, fsGroup: 2000 },
    };
    const data = { containerPath: "/data", hostPath: `${POD_DIR}/volumes/kubernetes.io~empty-dir/data` };
    expect(build(web, { spec })).toEqual(
      ok({
        metadata: { name: "web" },
        image: { image: IMAGE_REF, userSpecifiedImage: "registry.k8s.io/e2e-test-images/agnhost:2.63.0" },
        args: ["netexec", "--http-port=8080"],
        envs: env({ A: "b", IP: "10.1.0.192" }),
        mounts: [
          data,
          { containerPath: "/etc/hosts", hostPath: `${POD_DIR}/etc-hosts` },
          { containerPath: "/dev/termination-log", hostPath: `${POD_DIR}/containers/web/0a1b2c3d` },
        ],
        labels: { ...mainConfig().labels, "io.kubernetes.container.name": "web" },
        annotations: {
          ...ANNOTATIONS,
          "io.kubernetes.container.hash": "c57b0f17",
          "io.kubernetes.container.ports": '[{"name":"http","containerPort":8080,"protocol":"TCP"}]',
        },
        logPath: "web/0.log",
        linux: {
          resources: {
            cpuPeriod: 100_000n,
            cpuQuota: 20_000n,
            cpuShares: 51n,
            memoryLimitInBytes: 134_217_728n,
            oomScoreAdj: 999n,
            hugepageLimits: HUGEPAGES,
            memorySwapLimitInBytes: 134_217_728n,
          },
          securityContext: {
            ...SECURITY,
            capabilities: { addCapabilities: ["NET_BIND_SERVICE"], dropCapabilities: ["ALL"] },
            runAsUser: { value: 1000n },
            readonlyRootfs: true,
            supplementalGroups: [2000n],
            noNewPrivs: true,
            seccomp: { profileType: SecurityProfile_ProfileType.RuntimeDefault },
          },
        },
      }),
    );
  });

  it("writes the attempt to metadata, annotation and log file name", () => {
    const annotations = { ...ANNOTATIONS, "io.kubernetes.container.restartCount": "3" };
    expect(build(main(), { input: { restartCount: 3 } })).toEqual(
      ok(mainConfig({ metadata: { name: "main", attempt: 3 }, annotations, logPath: "main/3.log" })),
    );
  });

  it("expands command and arguments, and copies directory, terminal, input and stop signal", () => {
    const container = main({
      command: ["$(BIN)", "$$(BIN)"],
      args: ["$(NONE)"],
      env: [{ name: "BIN", value: "/bin/x" }],
      workingDir: "/work",
      stdin: true,
      stdinOnce: true,
      tty: true,
      lifecycle: { stopSignal: "SIGUSR1" },
    });
    expect(build(container)).toEqual(
      ok(
        mainConfig({
          command: ["/bin/x", "$(BIN)"],
          args: ["$(NONE)"],
          envs: env({ BIN: "/bin/x" }),
          workingDir: "/work",
          stdin: true,
          stdinOnce: true,
          tty: true,
          stopSignal: Signal.SIGUSR1,
        }),
      ),
    );
  });

  it.each<[Partial<Container>, Partially]>([
    [{}, { stdin: false, stdinOnce: false, tty: false, workingDir: "" }],
    [{ stdin: true }, { stdin: true }],
    [
      { stdin: true, stdinOnce: true },
      { stdin: true, stdinOnce: true },
    ],
    [{ tty: true }, { tty: true }],
    [{ workingDir: "/srv/$(HOME)" }, { workingDir: "/srv/$(HOME)" }],
  ])("copies %j unchanged", (more, expected) => {
    expect(build(main(more))).toEqual(ok(mainConfig(expected)));
  });

  it("writes values of variables as UTF-8, and other bytes unchanged", () => {
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "demo" } } as const;
    const objects = configObjectsOf([{ ...secret, data: { RAW: "/wA=", TEXT: "w6k=" } }]);
    const built = build(main({ envFrom: [{ secretRef: { name: "s" } }] }), { input: { objects } });
    expect(built.ok && built.value.envs).toEqual([
      { key: "RAW", value: Uint8Array.of(0xff, 0) },
      { key: "TEXT", value: Uint8Array.of(0xc3, 0xa9) },
    ]);
  });

  const resources = (container: Container, more: Case = {}) => {
    const built = build(container, more);
    return built.ok ? built.value.linux?.resources : built;
  };

  it("limits swap and kills whole containers on cgroup v2", () => {
    const node = { cgroupVersion: 2, singleProcessOomKill: false } as const;
    const unified = { "memory.oom.group": "1", "memory.swap.max": "0" };
    const limits = { memory: "64Mi" };
    expect(resources(main({ resources: { limits } }), { node })).toEqual(
      ContainerConfig.fromPartial({
        linux: {
          resources: { ...BEST_EFFORT, oomScoreAdj: 999n, memoryLimitInBytes: 67_108_864n, unified },
        },
      }).linux?.resources,
    );
  });

  it("omits swap limits that the node does not support, and limits huge pages of every size of the node", () => {
    const limits = { cpu: "2", "hugepages-2Mi": "4Mi", "hugepages-64Ki": "1Mi" };
    expect(resources(main({ resources: { limits } }), { node: { swapControllerAvailable: false } })).toEqual(
      ContainerConfig.fromPartial({
        linux: {
          resources: {
            ...BEST_EFFORT,
            cpuShares: 2048n,
            cpuQuota: 200_000n,
            oomScoreAdj: 999n,
            hugepageLimits: [{ pageSize: "2MB", limit: 4_194_304n }, { pageSize: "1GB" }],
          },
        },
      }).linux?.resources,
    );
  });

  it("sets quota and period only when CPU limits are enforced", () => {
    const limits = { cpu: "500m" };
    const cpu = (node: Case["node"]) => {
      const made = resources(main({ resources: { limits } }), node === undefined ? {} : { node });
      return made !== undefined && "cpuQuota" in made ? [made.cpuShares, made.cpuQuota, made.cpuPeriod] : made;
    };
    expect(cpu({ cpuCfsQuota: false })).toEqual([512n, 0n, 0n]);
    expect(cpu({ cpuCfsPeriodUs: 20_000 })).toEqual([512n, 10_000n, 20_000n]);
  });

  it("limits a container without limits to the pod-level limits", () => {
    const spec = { resources: { limits: { cpu: "1", memory: "1Gi" } } };
    expect(resources(main({ resources: { limits: { cpu: "500m" } } }), { spec })).toEqual(
      ContainerConfig.fromPartial({
        linux: {
          resources: {
            ...BEST_EFFORT,
            cpuShares: 512n,
            cpuQuota: 50_000n,
            oomScoreAdj: 999n,
            memoryLimitInBytes: 1_073_741_824n,
            memorySwapLimitInBytes: 1_073_741_824n,
          },
        },
      }).linux?.resources,
    );
  });

  it.each<[Partial<Container>, Case, string, string]>([
    [
      { lifecycle: { stopSignal: "TERM" } },
      {},
      "CreateContainerConfigError",
      'lifecycle.stopSignal: unknown signal "TERM"',
    ],
    [
      { env: [{ name: "X", valueFrom: { fieldRef: { fieldPath: "no" } } }] },
      {},
      "CreateContainerConfigError",
      "field label not supported: no",
    ],
    [
      { volumeMounts: [{ name: "none", mountPath: "/m" }] },
      {},
      "CreateContainerConfigError",
      'cannot find volume "none" to mount into container "main"',
    ],
    [
      { securityContext: { runAsNonRoot: true } },
      {},
      "CreateContainerConfigError",
      'container has runAsNonRoot and image will run as root (pod: "plain_demo(uid-1)", container: main)',
    ],
  ])("rejects %j", (container, more, reason, message) => {
    expect(build(main(container), more)).toEqual({
      ok: false,
      error: {
        code: "InvalidArgument",
        reason,
        message,
        retryable: false,
      },
    });
  });
});

describe("stopSignal", () => {
  it.each([
    [undefined, Signal.RUNTIME_DEFAULT],
    ["SIGTERM", Signal.SIGTERM],
    ["SIGRTMIN+15", Signal.SIGRTMINPLUS15],
    ["SIGRTMAX-2", Signal.SIGRTMAXMINUS2],
    ["SIGRTMAX", Signal.SIGRTMAX],
    ["RUNTIME_DEFAULT", undefined],
    ["SIGNONE", undefined],
  ])("%s", (name, expected) => {
    expect(stopSignal(name)).toBe(expected);
    if (expected !== undefined) expect(stopSignalName(expected)).toBe(name);
  });
});

describe("mounts of a pod with its own user namespace", () => {
  const mappingsOf = (input: Case["input"]) => {
    const built = build(main(), { input: { ...input } });
    return built.ok ? built.value.mounts.map(({ uidMappings, gidMappings }) => [uidMappings, gidMappings]) : built;
  };

  it("are ID-mapped, so that files on disk belong to the IDs the pod uses", () => {
    const userNamespace = podUserNamespace({ firstId: 65_536, length: 65_536 });
    const mapped = [
      [{ hostId: 65_536, containerId: 0, length: 65_536 }],
      [{ hostId: 65_536, containerId: 0, length: 65_536 }],
    ];
    expect(mappingsOf({ userNamespace })).toEqual([mapped, mapped]);
    expect(mappingsOf({})).toEqual([
      [[], []],
      [[], []],
    ]);
  });

  it("rejects command and arguments that exceed the limit together with the environment", () => {
    const env = [{ name: "X", value: "x".repeat(1024 * 1024) }];
    expect(build(main({ env, command: ["$(X)$(X)$(X)"], args: ["$(X)", "$(X)"] }))).toMatchObject({ ok: true });
    expect(build(main({ env, command: ["$(X)$(X)$(X)"], args: ["$(X)", "$(X)", "$"] }))).toMatchObject({
      error: {
        reason: "CreateContainerConfigError",
        message: 'container "main": args[2]: environment, command and arguments must be at most 6291456 bytes in all',
      },
    });
  });
});
