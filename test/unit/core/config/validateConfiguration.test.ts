import { describe, expect, it } from "vitest";
import { formatFieldPath } from "../../../../src/core/config/configProblem.ts";
import { decodeConfiguration } from "../../../../src/core/config/decodeConfiguration.ts";
import { defaultConfiguration } from "../../../../src/core/config/defaultConfiguration.ts";
import { validateConfiguration } from "../../../../src/core/config/validateConfiguration.ts";

const ON = [
  "CustomCPUCFSQuotaPeriod",
  "GracefulNodeShutdown",
  "GracefulNodeShutdownBasedOnPodPriority",
  "KubeletCrashLoopBackOffMax",
  "KubeletEnsureSecretPulledImages",
  "LoggingBetaOptions",
  "RotateKubeletServerCertificate",
];

/** The faults of a document whose gates are those upstream has on, less `off`, plus `on`. */
function faults(fields: object, off: readonly string[] = [], on: readonly string[] = []): readonly string[] {
  const isOn = (name: string): boolean => (ON.includes(name) && !off.includes(name)) || on.includes(name);
  const header = { apiVersion: "kubelet.config.k8s.io/v1beta1", kind: "KubeletConfiguration" };
  const decoded = decodeConfiguration({ ...header, ...fields });
  expect(decoded.problems).toEqual([]);
  const config = defaultConfiguration(decoded.config, isOn);
  return validateConfiguration(config, isOn).map(({ path, reason }) => `${formatFieldPath(path)}: ${reason}`);
}

const cgroups = (systemReservedCgroup: string, kubeReservedCgroup: string) => ({
  systemReservedCgroup,
  kubeReservedCgroup,
});

describe("rules of single fields", () => {
  it.each<[object, string]>([
    [{ nodeLeaseDurationSeconds: -1 }, "nodeLeaseDurationSeconds: must be at least 1, got -1"],
    [{ eventBurst: -1 }, "eventBurst: must not be negative, got -1"],
    [{ eventRecordQPS: -1 }, "eventRecordQPS: must not be negative, got -1"],
    [{ healthzPort: 65536 }, "healthzPort: must be 0 (off) or a port between 1 and 65535, got 65536"],
    [{ port: -1 }, "port: must be a port between 1 and 65535, got -1"],
    [{ readOnlyPort: -1 }, "readOnlyPort: must be 0 (off) or a port between 1 and 65535, got -1"],
    [{ cpuCFSQuotaPeriod: "2s" }, "cpuCFSQuotaPeriod: must be between 1ms and 1s, got 2s"],
    [{ cpuCFSQuotaPeriod: "999us" }, "cpuCFSQuotaPeriod: must be between 1ms and 1s, got 999µs"],
    [{ imageGCHighThresholdPercent: 101 }, "imageGCHighThresholdPercent: must be between 0 and 100, got 101"],
    [{ imageGCLowThresholdPercent: -1 }, "imageGCLowThresholdPercent: must be between 0 and 100, got -1"],
    [{ imageMinimumGCAge: "-1s" }, "imageMinimumGCAge: must not be negative, got -1s"],
    [{ imageMaximumGCAge: "-1s" }, "imageMaximumGCAge: must not be negative, got -1s"],
    [{ iptablesDropBit: 32 }, "iptablesDropBit: must be between 0 and 31, got 32"],
    [{ iptablesMasqueradeBit: -1 }, "iptablesMasqueradeBit: must be between 0 and 31, got -1"],
    [{ kubeAPIBurst: -1 }, "kubeAPIBurst: must not be negative, got -1"],
    [{ kubeAPIQPS: -1 }, "kubeAPIQPS: must not be negative, got -1"],
    [{ nodeStatusMaxImages: -2 }, "nodeStatusMaxImages: must be at least -1, got -2"],
    [{ maxOpenFiles: -1 }, "maxOpenFiles: must not be negative, got -1"],
    [{ maxPods: -1 }, "maxPods: must not be negative, got -1"],
    [{ oomScoreAdj: 1001 }, "oomScoreAdj: must be between -1000 and 1000, got 1001"],
    [{ podsPerCore: -1 }, "podsPerCore: must not be negative, got -1"],
    [{ registryBurst: -1 }, "registryBurst: must not be negative, got -1"],
    [{ registryPullQPS: -1 }, "registryPullQPS: must not be negative, got -1"],
    [{ maxParallelImagePulls: 0 }, "maxParallelImagePulls: must be at least 1, got 0"],
    [{ containerLogMaxFiles: 1 }, "containerLogMaxFiles: must be at least 2, got 1"],
    [{ containerLogMaxWorkers: 0 }, "containerLogMaxWorkers: must be at least 1, got 0"],
    [{ containerLogMonitorInterval: "2.9s" }, "containerLogMonitorInterval: must be at least 3s, got 2.9s"],
    [{ containerLogMaxSize: "0" }, 'containerLogMaxSize: must be a quantity other than 0 such as "10Mi", got "0"'],
    [{ memoryThrottlingFactor: 0 }, "memoryThrottlingFactor: must be more than 0 and at most 1, got 0"],
    [{ memoryThrottlingFactor: 1.1 }, "memoryThrottlingFactor: must be more than 0 and at most 1, got 1.1"],
    [{ cgroupDriver: "runc" }, 'cgroupDriver: must be one of cgroupfs, systemd, got "runc"'],
    [{ cpuManagerPolicy: "Static" }, 'cpuManagerPolicy: must be one of none, static, got "Static"'],
    [{ memoryManagerPolicy: "none" }, 'memoryManagerPolicy: must be one of None, Static, got "none"'],
    [
      { topologyManagerPolicy: "x" },
      'topologyManagerPolicy: must be one of none, best-effort, restricted, single-numa-node, got "x"',
    ],
    [{ topologyManagerScope: "node" }, 'topologyManagerScope: must be one of container, pod, got "node"'],
    [{ hairpinMode: "foo" }, 'hairpinMode: must be one of none, hairpin-veth, promiscuous-bridge, got "foo"'],
    [{ authorization: { mode: "RBAC" } }, 'authorization.mode: must be one of AlwaysAllow, Webhook, got "RBAC"'],
    [{ address: "localhost" }, 'address: must be an IP address, got "localhost"'],
    [{ healthzBindAddress: "256.0.0.1" }, 'healthzBindAddress: must be an IP address, got "256.0.0.1"'],
    [
      { tlsMinVersion: "TLS1.2" },
      'tlsMinVersion: must be one of VersionTLS10, VersionTLS11, VersionTLS12, VersionTLS13, got "TLS1.2"',
    ],
    [
      { reservedSystemCPUs: "0-3,x" },
      'reservedSystemCPUs: must be a list of CPUs such as 0-3,8: "x" is not a CPU number or range such as 0-3',
    ],
    [
      { reservedSystemCPUs: "3-1" },
      'reservedSystemCPUs: must be a list of CPUs such as 0-3,8: the range "3-1" runs backwards',
    ],
    [
      { crashLoopBackOff: { maxContainerRestartPeriod: "0s" } },
      "crashLoopBackOff.maxContainerRestartPeriod: must be between 1s and 5m0s, got 0s",
    ],
    [
      { crashLoopBackOff: { maxContainerRestartPeriod: "301s" } },
      "crashLoopBackOff.maxContainerRestartPeriod: must be between 1s and 5m0s, got 5m1s",
    ],
    [
      { userNamespaces: { idsPerPod: 1000 } },
      "userNamespaces.idsPerPod: must be a multiple of 65536 above 0, got 1000",
    ],
    [
      { allowedUnsafeSysctls: ["net.*", "vm.swappiness"] },
      'allowedUnsafeSysctls[1]: must be a sysctl known to be namespaced, got "vm.swappiness"',
    ],
    [
      { tracing: { samplingRatePerMillion: 1_000_001 } },
      "tracing.samplingRatePerMillion: sampling rate per million must be less than or equal to one million, got 1000001",
    ],
    [
      { tracing: { samplingRatePerMillion: -1 } },
      "tracing.samplingRatePerMillion: sampling rate must be positive, got -1",
    ],
    [{ logging: { format: "xml" } }, 'logging.format: must be one of text, json, got "xml"'],
    [{ logging: { verbosity: 2 ** 31 } }, "logging.verbosity: must be between 0 and 2147483647, got 2147483648"],
    [
      { configMapAndSecretChangeDetectionStrategy: "Poll" },
      'configMapAndSecretChangeDetectionStrategy: must be one of Get, Cache, Watch, got "Poll"',
    ],
  ])("%j is rejected", (fields, expected) => {
    expect(faults(fields)).toEqual([expected]);
  });

  it("names the list element", () => {
    expect(faults({ tlsCipherSuites: ["TLS_AES_128_GCM_SHA256", "ROT13"] })).toHaveLength(1);
    expect(faults({ tlsCipherSuites: ["TLS_AES_128_GCM_SHA256", "ROT13"] })[0]).toMatch(
      /^tlsCipherSuites\[1\]: must be one of TLS_AES/,
    );
  });
});

describe("rules across fields", () => {
  it.each<[object, readonly string[]]>([
    [{ systemCgroups: "/x" }, ["systemCgroups: needs cgroupRoot to be set"]],
    [{ systemCgroups: "/x", cgroupRoot: "/" }, []],
    [
      { imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 80 },
      ["imageGCLowThresholdPercent: must be below imageGCHighThresholdPercent, which is 80, got 80"],
    ],
    [
      { imageMaximumGCAge: "1m", imageMinimumGCAge: "2m" },
      ["imageMaximumGCAge: must be 0s or above imageMinimumGCAge, which is 2m0s, got 1m0s"],
    ],
    [
      { serializeImagePulls: true, maxParallelImagePulls: 3 },
      ["maxParallelImagePulls: must not be above 1 while serializeImagePulls is true, got 3"],
    ],
    [{ serializeImagePulls: true, maxParallelImagePulls: 1 }, []],
    [{ runOnce: true }, ["runOnce: must not be true: this mode is no longer supported"]],
    [
      { enableSystemLogQuery: true, enableSystemLogHandler: false },
      ["enableSystemLogQuery: needs enableSystemLogHandler to be true"],
    ],
    [
      { showHiddenMetricsForVersion: "1.34" },
      [
        `showHiddenMetricsForVersion: must be omitted or have the value '1.35', got "1.34". Only the previous minor version is allowed`,
      ],
    ],
    [{ showHiddenMetricsForVersion: "1.35" }, []],
    [
      { memorySwap: { swapBehavior: "UnlimitedSwap" } },
      ['memorySwap.swapBehavior: must be empty, NoSwap or LimitedSwap, got "UnlimitedSwap"'],
    ],
    [{ memorySwap: { swapBehavior: "LimitedSwap" } }, []],
    [
      { memoryReservationPolicy: "TieredReservation" },
      ["memoryReservationPolicy: TieredReservation needs the feature gate MemoryQoS"],
    ],
    [{ podLogsDir: "logs" }, ['podLogsDir: must be an absolute path, got "logs"']],
    [
      { podLogsDir: "/a/../b" },
      ['podLogsDir: must be a path without empty, . and .. parts and without a final /, got "/a/../b"'],
    ],
    [{ podLogsDir: "/logs/é" }, ['podLogsDir: must be ASCII, got "/logs/é"']],
    [
      { tracing: { endpoint: "http://collector:4317" } },
      [
        'tracing.endpoint: unsupported scheme: http. Options are none, dns, unix, or unix-abstract, got "http://collector:4317"',
      ],
    ],
    [{ tracing: { endpoint: "collector:4317" } }, []],
  ])("%j gives %j", (fields, expected) => {
    expect(faults(fields)).toEqual(expected);
  });

  it.each<[object, readonly string[]]>([
    [
      { enforceNodeAllocatable: ["pods"], cgroupsPerQOS: false },
      ["enforceNodeAllocatable[0]: pods needs cgroupsPerQOS to be true"],
    ],
    [{ enforceNodeAllocatable: ["none"], cgroupsPerQOS: false }, []],
    [
      { enforceNodeAllocatable: ["none", "pods"] },
      ["enforceNodeAllocatable[0]: none cannot be combined with anything else"],
    ],
    [{ enforceNodeAllocatable: ["pods", "pods"] }, ["enforceNodeAllocatable[1]: pods is named twice"]],
    [
      { enforceNodeAllocatable: ["system-reserved"] },
      ["enforceNodeAllocatable[0]: system-reserved needs systemReservedCgroup to be set"],
    ],
    [
      { enforceNodeAllocatable: ["kube-reserved-compressible"] },
      ["enforceNodeAllocatable[0]: kube-reserved-compressible needs kubeReservedCgroup to be set"],
    ],
    [
      { enforceNodeAllocatable: ["kube-reserved", "kube-reserved-compressible"], kubeReservedCgroup: "/k" },
      ["enforceNodeAllocatable: cannot hold both kube-reserved and kube-reserved-compressible"],
    ],
    [
      { enforceNodeAllocatable: ["all"] },
      [
        'enforceNodeAllocatable[0]: must be one of pods, system-reserved, system-reserved-compressible, kube-reserved, kube-reserved-compressible, none, got "all"',
      ],
    ],
    [
      { reservedSystemCPUs: "0", systemReservedCgroup: "/s" },
      ["reservedSystemCPUs: cannot be used together with systemReservedCgroup or kubeReservedCgroup"],
    ],
    [
      { systemReserved: { gpu: "1" } },
      ["systemReserved.gpu: cannot be reserved; only cpu, memory, ephemeral-storage, pid can"],
    ],
    [{ kubeReserved: { memory: "-1Gi" } }, ['kubeReserved.memory: must be a quantity of 0 or more, got "-1Gi"']],
    [{ kubeReserved: { cpu: "200m", pid: "1000", "ephemeral-storage": "1Gi" } }, []],
    [{ qosReserved: { memory: "50%" } }, ["qosReserved: needs the feature gate QOSReserved"]],
    [
      {
        reservedMemory: [
          { numaNode: 0, limits: { memory: "1Gi", cpu: "1" } },
          { numaNode: 0, limits: { memory: "0", "hugepages-2Mi": "4Mi" } },
        ],
      },
      [
        "reservedMemory[0].limits.cpu: must be memory or hugepages-<size>",
        "reservedMemory[1].limits.memory: must not be 0",
        "reservedMemory[1].limits.memory: is set twice for NUMA node 0",
      ],
    ],
  ])("resources: %j gives %j", (fields, expected) => {
    expect(faults(fields)).toEqual(expected);
  });

  it.each<[object, readonly string[]]>([
    [{ evictionHard: { "memory.available": "100Mi", "nodefs.available": "10%", "pid.available": "0%" } }, []],
    [
      { evictionHard: { "memory.available": "0" } },
      ['evictionHard["memory.available"]: must be a percentage or a quantity above 0, got "0"'],
    ],
    [
      { evictionHard: { "memory.available": "101%" } },
      ['evictionHard["memory.available"]: must be between 0% and 100%, got "101%"'],
    ],
    [
      { evictionSoft: { "memory.available": "1Gi" } },
      ['evictionSoft["memory.available"]: needs a grace period in evictionSoftGracePeriod'],
    ],
    [
      { evictionSoft: { "memory.available": "1Gi" }, evictionSoftGracePeriod: { "memory.available": "-1s" } },
      ['evictionSoftGracePeriod["memory.available"]: must be a duration of 0s or more such as "1m30s", got "-1s"'],
    ],
    [
      { evictionMinimumReclaim: { "nodefs.available": "0%" } },
      ['evictionMinimumReclaim["nodefs.available"]: must be above 0%, got "0%"'],
    ],
    [{ evictionMinimumReclaim: { "nodefs.available": "500Mi", "memory.available": "0Mi" } }, []],
  ])("eviction: %j gives %j", (fields, expected) => {
    expect(faults(fields)).toEqual(expected);
  });

  it.each<[object, readonly string[], readonly string[]]>([
    [{ shutdownGracePeriod: "500ms" }, [], ["shutdownGracePeriod: must be 0s or at least 1s, got 500ms"]],
    [
      { shutdownGracePeriod: "10s", shutdownGracePeriodCriticalPods: "20s" },
      [],
      ["shutdownGracePeriodCriticalPods: must not be above shutdownGracePeriod, which is 10s, got 20s"],
    ],
    [
      { shutdownGracePeriod: "10s" },
      ["GracefulNodeShutdown"],
      ["shutdownGracePeriod: needs the feature gate GracefulNodeShutdown"],
    ],
    [
      {
        shutdownGracePeriod: "10s",
        shutdownGracePeriodByPodPriority: [{ priority: 1, shutdownGracePeriodSeconds: 1 }],
      },
      [],
      ["shutdownGracePeriodByPodPriority: cannot be used together with shutdownGracePeriod"],
    ],
    [
      { shutdownGracePeriodByPodPriority: [{ priority: 1, shutdownGracePeriodSeconds: 1 }] },
      ["GracefulNodeShutdownBasedOnPodPriority"],
      ["shutdownGracePeriodByPodPriority: needs the feature gate GracefulNodeShutdownBasedOnPodPriority"],
    ],
    [
      { serverTLSBootstrap: true },
      ["RotateKubeletServerCertificate"],
      ["serverTLSBootstrap: needs the feature gate RotateKubeletServerCertificate"],
    ],
    [
      { crashLoopBackOff: { maxContainerRestartPeriod: "10s" } },
      ["KubeletCrashLoopBackOffMax"],
      [
        "crashLoopBackOff.maxContainerRestartPeriod: must not be set while the feature gate KubeletCrashLoopBackOffMax is off",
      ],
    ],
    [
      { cpuCFSQuotaPeriod: "10ms" },
      ["CustomCPUCFSQuotaPeriod"],
      ["cpuCFSQuotaPeriod: must be 100ms while the feature gate CustomCPUCFSQuotaPeriod is off, got 10ms"],
    ],
    [{ cpuCFSQuotaPeriod: "100ms" }, ["CustomCPUCFSQuotaPeriod"], []],
    [
      { imagePullCredentialsVerificationPolicy: "AlwaysVerify" },
      ["KubeletEnsureSecretPulledImages"],
      [
        "imagePullCredentialsVerificationPolicy: must not be set while the feature gate KubeletEnsureSecretPulledImages is off",
      ],
    ],
  ])("gates: %j without %j gives %j", (fields, off, expected) => {
    expect(faults(fields, off)).toEqual(expected);
  });

  it("checks image verification patterns", () => {
    const policy = { imagePullCredentialsVerificationPolicy: "NeverVerifyAllowlistedImages" };
    expect(faults({ preloadedImagesVerificationAllowlist: ["a"] })).toEqual([
      "preloadedImagesVerificationAllowlist: needs imagePullCredentialsVerificationPolicy to be NeverVerifyAllowlistedImages",
    ]);
    expect(
      faults({ ...policy, preloadedImagesVerificationAllowlist: ["r.io/a", "r.io:5000/x/*", "a*b", "a:1", " a"] }),
    ).toEqual([
      'preloadedImagesVerificationAllowlist[2]: may have * only as its last part, got "a*b"',
      'preloadedImagesVerificationAllowlist[3]: must be a whole image name with its registry, without tag or digest, got "a:1"',
      "preloadedImagesVerificationAllowlist[4]: must be an image name without spaces around it",
    ]);
  });

  it("checks taints part by part", () => {
    const taints = [
      { key: "node.example.com/gpu", value: "a", effect: "NoSchedule" },
      { key: "-a", value: "b c", effect: "Never", timeAdded: "2026-01-01T00:00:00Z" },
    ];
    const syntax = "consists of letters, digits, - _ . and starts and ends with a letter or digit";
    expect(faults({ registerWithTaints: taints })).toEqual([
      `registerWithTaints[1].key: a label key ${syntax}`,
      `registerWithTaints[1].value: a label value ${syntax}`,
      'registerWithTaints[1].effect: must be one of NoSchedule, PreferNoSchedule, NoExecute, got "Never"',
      "registerWithTaints[1].timeAdded: must not be set",
    ]);
  });

  it("checks logging", () => {
    const vmodule = [
      { filePattern: "", verbosity: 1 },
      { filePattern: "a=b", verbosity: 1 },
    ];
    const options = { json: { splitStream: true, infoBufferSize: "1Mi" } };
    expect(faults({ logging: { format: "json", vmodule, options } })).toEqual([
      "logging.vmodule: works with the format text only",
      "logging.vmodule[0].filePattern: must not be empty",
      'logging.vmodule[1].filePattern: must not contain = or a comma, got "a=b"',
      "logging.options.json.splitStream: needs the feature gate LoggingAlphaOptions",
      "logging.options.json.infoBufferSize: needs the feature gate LoggingAlphaOptions",
    ]);
    expect(faults({ logging: { options } }, [], ["LoggingAlphaOptions"])).toEqual([]);
    expect(faults({ logging: { format: "json" } }, ["LoggingBetaOptions"])).toEqual([
      "logging.format: json needs the feature gate LoggingBetaOptions",
    ]);
  });

  it("reports all problems at once, single fields first", () => {
    expect(faults({ maxPods: -1, systemCgroups: "/x", eventBurst: -2 })).toEqual([
      "eventBurst: must not be negative, got -2",
      "maxPods: must not be negative, got -1",
      "systemCgroups: needs cgroupRoot to be set",
    ]);
  });
});

describe("values at the bounds that are valid", () => {
  it.each<object>([
    { nodeLeaseDurationSeconds: 1, eventBurst: 0, eventRecordQPS: 0, kubeAPIBurst: 0, kubeAPIQPS: 0 },
    { healthzPort: 0, readOnlyPort: 0, port: 1 },
    { healthzPort: 65_535, readOnlyPort: 65_534, port: 65_535 },
    { cpuCFSQuotaPeriod: "1s" },
    { cpuCFSQuotaPeriod: "1ms" },
    { imageGCHighThresholdPercent: 100, imageGCLowThresholdPercent: 0 },
    { imageGCHighThresholdPercent: 1, imageGCLowThresholdPercent: 0 },
    { imageMinimumGCAge: "0s", imageMaximumGCAge: "0s" },
    { imageMinimumGCAge: "1m", imageMaximumGCAge: "1m1s" },
    { iptablesDropBit: 0, iptablesMasqueradeBit: 31 },
    { iptablesDropBit: 31, iptablesMasqueradeBit: 0 },
    { nodeStatusMaxImages: -1, maxOpenFiles: 0, maxPods: 0, podsPerCore: 0 },
    { oomScoreAdj: 1000 },
    { oomScoreAdj: -1000 },
    { registryBurst: 0, registryPullQPS: 0 },
    { maxParallelImagePulls: 1 },
    { serializeImagePulls: false, maxParallelImagePulls: 2 },
    { containerLogMaxFiles: 2, containerLogMaxWorkers: 1, containerLogMonitorInterval: "3s", containerLogMaxSize: "1" },
    { memoryThrottlingFactor: 0.01 },
    { memoryThrottlingFactor: 1 },
    { cgroupDriver: "cgroupfs" },
    { cgroupDriver: "systemd" },
    { shutdownGracePeriod: "0s" },
    { shutdownGracePeriod: "30s", shutdownGracePeriodCriticalPods: "30s" },
    { crashLoopBackOff: { maxContainerRestartPeriod: "1s" } },
    { crashLoopBackOff: { maxContainerRestartPeriod: "5m" } },
    { podLogsDir: "/" },
    { podLogsDir: "/var/log/~pods" },
    { podLogsDir: "/a\u007f" },
    { imagePullCredentialsVerificationPolicy: "NeverVerify" },
    { imagePullCredentialsVerificationPolicy: "NeverVerifyPreloadedImages" },
    { imagePullCredentialsVerificationPolicy: "NeverVerifyAllowlistedImages" },
    { imagePullCredentialsVerificationPolicy: "AlwaysVerify" },
    {
      imagePullCredentialsVerificationPolicy: "NeverVerifyAllowlistedImages",
      preloadedImagesVerificationAllowlist: ["registry.example/app", "registry.example/*"],
    },
    { systemCgroups: "/x", cgroupRoot: "/" },
    { systemReserved: { cpu: "0", memory: "1Gi", "ephemeral-storage": "1", pid: "100" } },
    { kubeReserved: { cpu: "0", memory: "1Gi", "ephemeral-storage": "1", pid: "100" } },
    { enforceNodeAllocatable: ["none"] },
    { enforceNodeAllocatable: ["none"], cgroupsPerQOS: false },
    { enforceNodeAllocatable: [] },
    { enforceNodeAllocatable: ["pods", "system-reserved", "kube-reserved"], ...cgroups("/s", "/k") },
    { enforceNodeAllocatable: ["system-reserved-compressible", "kube-reserved-compressible"], ...cgroups("/s", "/k") },
    { enforceNodeAllocatable: ["system-reserved", "kube-reserved-compressible"], ...cgroups("/s", "/k") },
    { reservedSystemCPUs: "0-1" },
    { memorySwap: { swapBehavior: "" } },
    { memorySwap: { swapBehavior: "NoSwap" } },
    { memorySwap: { swapBehavior: "LimitedSwap" } },
    {
      reservedMemory: [
        { numaNode: 0, limits: { memory: "1Gi", "hugepages-2Mi": "2Mi" } },
        { numaNode: 1, limits: { memory: "1Gi" } },
      ],
    },
    { evictionHard: { "memory.available": "0%" } },
    { evictionHard: { "memory.available": "100%" } },
    { evictionHard: { "memory.available": "1" } },
    { evictionSoft: { "memory.available": "1Gi" }, evictionSoftGracePeriod: { "memory.available": "0s" } },
    { evictionMinimumReclaim: { "memory.available": "0" } },
    { evictionMinimumReclaim: { "memory.available": "1%" } },
    { showHiddenMetricsForVersion: "1.35" },
    { enableSystemLogQuery: true, enableSystemLogHandler: true },
    { serverTLSBootstrap: true },
    { tracing: {} },
    { tracing: { samplingRatePerMillion: 0 } },
    { tracing: { samplingRatePerMillion: 1_000_000 } },
    { tracing: { endpoint: "localhost:4317" } },
    { tracing: { endpoint: "dns://localhost:4317" } },
    { tracing: { endpoint: "unix:///run/o.sock" } },
    { tracing: { endpoint: "unix-abstract://o" } },
    { logging: { format: "text", vmodule: [{ filePattern: "a*", verbosity: 1 }] } },
    { logging: { format: "json" } },
  ])("%j", (fields) => {
    expect(faults(fields)).toEqual([]);
  });

  it.each<[object, gate: string]>([
    [{ qosReserved: { memory: "0%" } }, "QOSReserved"],
    [{ qosReserved: { memory: "100%" } }, "QOSReserved"],
    [{ memoryReservationPolicy: "TieredReservation" }, "MemoryQoS"],
  ])("%j with the feature gate %s", (fields, gate) => {
    expect([faults(fields, [], [gate]), faults(fields).length]).toEqual([[], 1]);
  });
});

describe("bounds between fields", () => {
  const taken = (fields: object, off: readonly string[] = [], on: readonly string[] = []) =>
    faults(fields, off, on).map((fault) => fault.slice(0, fault.indexOf(":")));
  const byPriority = [{ priority: 1, shutdownGracePeriodSeconds: 1 }];
  it.each<[object, readonly string[], readonly string[]]>([
    [{ shutdownGracePeriod: "0s", shutdownGracePeriodCriticalPods: "0s" }, ["GracefulNodeShutdown"], []],
    [{ shutdownGracePeriod: "1s" }, ["GracefulNodeShutdown"], ["shutdownGracePeriod"]],
    [
      { shutdownGracePeriod: "2s", shutdownGracePeriodCriticalPods: "1s" },
      ["GracefulNodeShutdown"],
      ["shutdownGracePeriod", "shutdownGracePeriodCriticalPods"],
    ],
    [{ shutdownGracePeriod: "2s", shutdownGracePeriodCriticalPods: "2s" }, [], []],
    [{ shutdownGracePeriod: "2s", shutdownGracePeriodCriticalPods: "3s" }, [], ["shutdownGracePeriodCriticalPods"]],
    [{ shutdownGracePeriodByPodPriority: byPriority }, [], []],
    [
      { shutdownGracePeriodByPodPriority: byPriority, shutdownGracePeriod: "2s" },
      [],
      ["shutdownGracePeriodByPodPriority"],
    ],
    [
      { shutdownGracePeriodByPodPriority: byPriority },
      ["GracefulNodeShutdownBasedOnPodPriority"],
      ["shutdownGracePeriodByPodPriority"],
    ],
    [{ serializeImagePulls: true, maxParallelImagePulls: 1 }, [], []],
    [{ serializeImagePulls: true, maxParallelImagePulls: 2 }, [], ["maxParallelImagePulls"]],
    [{ serializeImagePulls: false, maxParallelImagePulls: 2 }, [], []],
    [{ imageMinimumGCAge: "2m", imageMaximumGCAge: "2m" }, [], ["imageMaximumGCAge"]],
    [{ imageMinimumGCAge: "2m", imageMaximumGCAge: "2m1s" }, [], []],
    [{ imageMinimumGCAge: "2m", imageMaximumGCAge: "0s" }, [], []],
    [{ imageGCLowThresholdPercent: 80, imageGCHighThresholdPercent: 80 }, [], ["imageGCLowThresholdPercent"]],
    [{ imageGCLowThresholdPercent: 79, imageGCHighThresholdPercent: 80 }, [], []],
    [{ podLogsDir: "/var/./log" }, [], ["podLogsDir"]],
    [{ podLogsDir: "/var/../log" }, [], ["podLogsDir"]],
    [{ podLogsDir: "/var/log/" }, [], ["podLogsDir"]],
    [{ podLogsDir: "/var/.log" }, [], []],
    [{ systemCgroups: "/system", cgroupRoot: "/" }, [], []],
    [{ systemCgroups: "/", cgroupRoot: "/" }, [], ["systemCgroups"]],
    [{ systemCgroups: "/system" }, [], ["systemCgroups"]],
  ])("of %j without %j refuse %j", (fields, off, expected) => {
    expect(taken(fields, off)).toEqual(expected);
  });

  it.each<[object, readonly string[]]>([
    [{ memory: "100%" }, []],
    [{ memory: "0%" }, []],
    [{ memory: "101%" }, ["qosReserved.memory"]],
    [{ memory: "50" }, ["qosReserved.memory"]],
    [{ cpu: "50%" }, ["qosReserved.cpu"]],
  ])("of qosReserved %j refuse %j", (qosReserved, expected) => {
    expect(taken({ qosReserved }, [], ["QOSReserved"])).toEqual(expected);
    expect(taken({ qosReserved })).toEqual(["qosReserved"]);
  });
});
