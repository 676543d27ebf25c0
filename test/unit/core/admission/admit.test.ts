import { describe, expect, it } from "vitest";
import type { Container, Pod, PodSpec } from "../../../../src/core/api.ts";
import {
  type AdmissionInput,
  type NodeInfoForAdmission,
  admitPod,
  effectiveMaxPods,
} from "../../../../src/core/admission/admit.ts";
import { NO_PRESSURE } from "../../../../src/core/node/nodeFacts.ts";
import { sysctlAllowlist } from "../../../../src/core/pod/sysctls.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const NODE: NodeInfoForAdmission = {
  name: "node-1",
  labels: { "kubernetes.io/hostname": "node-1", disk: "ssd", cores: "8" },
  taints: [],
  os: "linux",
  supplementalGroupsPolicy: true,
  sysctls: sysctlAllowlist(["kernel.shm_rmid_forced", "net.ipv4.*"]),
  appArmor: false,
  pressures: NO_PRESSURE,
  shuttingDown: false,
  declaredFeatures: undefined,
  podLevelResources: true,
};

const admit = (pod: Pod, more: Partial<AdmissionInput> = {}) =>
  admitPod({
    pod,
    node: NODE,
    activePods: [],
    allocatable: { cpu: "2", memory: "1Gi", "ephemeral-storage": "10Gi", pods: "3" },
    maxPods: 3,
    ...more,
  });
const withSpec = (spec: Partial<PodSpec>, more: Partial<AdmissionInput> = {}) => admit(podOf({ spec }), more);
const asking = (requests: Record<string, string>, uid = "uid-1", more: Partial<PodSpec> = {}) =>
  podOf({ uid, spec: { containers: [containerOf({ resources: { requests } })], ...more } });
const ADMITTED = { admitted: true, preempt: [] };
const refused = (reason: string, message: string) => ({ admitted: false, reason, message });
const AFFINITY = refused(
  "NodeAffinity",
  "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
);

describe("admitPod: the node's system", () => {
  it.each<[string, Pod, object]>([
    ["same OS", podOf({ spec: { os: { name: "linux" } } }), ADMITTED],
    [
      "another OS",
      podOf({ spec: { os: { name: "windows" } } }),
      refused("PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS"),
    ],
    [
      "an OS label that does not match the node",
      podOf({ labels: { "kubernetes.io/os": "windows" } }),
      refused(
        "PodOSSelectorNodeLabelDoesNotMatch",
        "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
      ),
    ],
    ["groups it can keep out", podOf({ spec: { securityContext: { supplementalGroupsPolicy: "Strict" } } }), ADMITTED],
  ])("%s", (_, pod, expected) => {
    expect(admit(pod)).toEqual(expected);
  });

  it("rejects a supplementalGroupsPolicy that the runtime does not support", () => {
    const node = { ...NODE, supplementalGroupsPolicy: false };
    expect(withSpec({ securityContext: { supplementalGroupsPolicy: "Strict" } }, { node })).toEqual(
      refused("SupplementalGroupsPolicyNotSupported", "SupplementalGroupsPolicy=Strict is not supported in this node"),
    );
  });
});

describe("admitPod: profiles that the kernel would not enforce", () => {
  const sysctl = (name: string, more: Partial<PodSpec> = {}): Partial<PodSpec> => ({
    securityContext: { sysctls: [{ name, value: "1" }] },
    ...more,
  });
  const profile: Partial<PodSpec> = { securityContext: { appArmorProfile: { type: "RuntimeDefault" } } };
  const UNENFORCED = refused("AppArmor", "Cannot enforce AppArmor: AppArmor is not enabled on the host");

  it.each<[string, Partial<PodSpec>, Partial<NodeInfoForAdmission>, object]>([
    ["a setting it allows", sysctl("net.ipv4.tcp_rmem"), {}, ADMITTED],
    [
      "a setting it does not allow",
      sysctl("kernel.msgmax"),
      {},
      refused("SysctlForbidden", 'forbidden sysctl: "kernel.msgmax" not allowlisted'),
    ],
    [
      "a forbidden setting before any other reason",
      sysctl("kernel.msgmax", { os: { name: "windows" }, nodeName: "node-2" }),
      {},
      refused("SysctlForbidden", 'forbidden sysctl: "kernel.msgmax" not allowlisted'),
    ],
    ["a profile without AppArmor", profile, { appArmor: false }, UNENFORCED],
    ["a profile with AppArmor", profile, { appArmor: true }, ADMITTED],
    ["a profile on a system that knows none", profile, { appArmor: undefined }, ADMITTED],
    [
      "another reason before the profile",
      { ...profile, nodeName: "node-2" },
      { appArmor: false },
      refused("NodeName", "Predicate NodeName failed: node(s) didn't match the requested node name"),
    ],
  ])("%s", (_, spec, more, expected) => {
    expect(withSpec(spec, { node: { ...NODE, ...more } })).toEqual(expected);
  });

  it("preempts no pod for a critical pod whose profile cannot be enforced", () => {
    const filler = asking({ cpu: "2" }, "filler");
    const critical = asking({ cpu: "1" }, "critical", { ...profile, priority: 2_000_000_000 });
    expect(admit(critical, { activePods: [filler] })).toEqual(UNENFORCED);
  });
});

describe("admitPod: node selection", () => {
  it.each<[string, Partial<PodSpec>, object]>([
    ["its name", { nodeName: "node-1" }, ADMITTED],
    [
      "another's name",
      { nodeName: "node-2" },
      refused("NodeName", "Predicate NodeName failed: node(s) didn't match the requested node name"),
    ],
    ["its labels", { nodeSelector: { disk: "ssd", "kubernetes.io/os": "linux" } }, ADMITTED],
    ["labels it lacks", { nodeSelector: { disk: "ssd", gpu: "yes" } }, AFFINITY],
  ])("%s", (_, spec, expected) => {
    expect(withSpec(spec)).toEqual(expected);
  });

  const affinity = (...nodeSelectorTerms: object[]): Partial<PodSpec> => ({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  });
  const expression = (key: string, operator: string, ...values: string[]) => ({
    matchExpressions: [{ key, operator, values }],
  });
  const field = (key: string, operator: string, ...values: string[]) => ({ matchFields: [{ key, operator, values }] });

  it.each<[object, boolean]>([
    [expression("disk", "In", "hdd", "ssd"), true],
    [expression("disk", "In", "hdd"), false],
    [expression("disk", "NotIn", "hdd"), true],
    [expression("disk", "NotIn", "ssd"), false],
    [expression("none", "NotIn", "x"), true],
    [expression("disk", "Exists"), true],
    [expression("none", "Exists"), false],
    [expression("none", "DoesNotExist"), true],
    [expression("disk", "DoesNotExist"), false],
    [expression("cores", "Gt", "7"), true],
    [expression("cores", "Gt", "8"), false],
    [expression("cores", "Lt", "9"), true],
    [expression("cores", "Lt", "8"), false],
    [expression("disk", "Gt", "1"), false],
    [expression("cores", "Gt", "1", "2"), false],
    [expression("disk", "Exists", "ssd"), false],
    [expression("disk", "Like", "ssd"), false],
    [field("metadata.name", "In", "node-1"), true],
    [field("metadata.name", "In", "node-2"), false],
    [field("metadata.name", "NotIn", "node-2"), true],
    [field("metadata.name", "In", "node-1", "node-2"), false],
    [field("metadata.uid", "In", "x"), false],
    [{ ...expression("disk", "Exists"), ...field("metadata.name", "In", "node-2") }, false],
    [{}, false],
  ])("affinity term %j matches: %s", (term, matches) => {
    expect(withSpec(affinity(term))).toEqual(matches ? ADMITTED : AFFINITY);
  });

  it("requires one matching term and all of nodeSelector", () => {
    const terms = affinity(expression("disk", "In", "hdd"), expression("disk", "In", "ssd"));
    expect(withSpec(terms)).toEqual(ADMITTED);
    expect(withSpec({ ...terms, nodeSelector: { gpu: "yes" } })).toEqual(AFFINITY);
    expect(withSpec(affinity())).toEqual(AFFINITY);
  });
});

describe("admitPod: taints", () => {
  const taints = [
    { key: "broken", value: "yes", effect: "NoExecute" },
    { key: "full", effect: "NoSchedule" },
  ];
  const TAINTED = refused(
    "TaintToleration",
    "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
  );
  it.each<[string, NonNullable<PodSpec["tolerations"]>, object]>([
    ["none tolerated", [], TAINTED],
    ["by key and value", [{ key: "broken", value: "yes", effect: "NoExecute" }], ADMITTED],
    ["by key alone", [{ key: "broken", operator: "Exists" }], ADMITTED],
    ["everything", [{ operator: "Exists" }], ADMITTED],
    ["for a while", [{ key: "broken", operator: "Exists", tolerationSeconds: 5 }], ADMITTED],
    ["another value", [{ key: "broken", value: "no" }], TAINTED],
    ["another effect", [{ key: "broken", operator: "Exists", effect: "NoSchedule" }], TAINTED],
    ["an operator there is not", [{ key: "broken", operator: "Like", value: "yes" }], TAINTED],
  ])("%s", (_, tolerations, expected) => {
    expect(withSpec({ tolerations }, { node: { ...NODE, taints } })).toEqual(expected);
  });

  it("ignores taints for static pods", () => {
    const pod = podOf({ annotations: { "kubernetes.io/config.source": "file" } });
    expect(admit(pod, { node: { ...NODE, taints } })).toEqual(ADMITTED);
  });
});

describe("admitPod: host ports", () => {
  type Port = NonNullable<Container["ports"]>[number];
  const onPort = (port: Partial<Port>, spec: Partial<PodSpec> = {}) =>
    podOf({ uid: "other", spec: { containers: [containerOf({ ports: [{ containerPort: 80, ...port }] })], ...spec } });
  const TAKEN = refused(
    "NodePorts",
    "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
  );

  it.each<[string, Pod, Pod, object]>([
    ["container ports are free", onPort({}), onPort({}), ADMITTED],
    ["the same port", onPort({ hostPort: 80 }), onPort({ hostPort: 80 }), TAKEN],
    ["another protocol", onPort({ hostPort: 80 }), onPort({ hostPort: 80, protocol: "UDP" }), ADMITTED],
    [
      "another address",
      onPort({ hostPort: 80, hostIP: "192.0.2.1" }),
      onPort({ hostPort: 80, hostIP: "192.0.2.2" }),
      ADMITTED,
    ],
    ["one address of all", onPort({ hostPort: 80, hostIP: "192.0.2.1" }), onPort({ hostPort: 80 }), TAKEN],
    ["a container port on the node's network", onPort({}, { hostNetwork: true }), onPort({ hostPort: 80 }), TAKEN],
    [
      "a sidecar's port",
      onPort(
        { hostPort: 90 },
        {
          initContainers: [
            containerOf({ name: "s", restartPolicy: "Always", ports: [{ containerPort: 1, hostPort: 80 }] }),
          ],
        },
      ),
      onPort({ hostPort: 80 }),
      TAKEN,
    ],
    [
      "an init container's port is not kept",
      onPort(
        { hostPort: 90 },
        { initContainers: [containerOf({ name: "i", ports: [{ containerPort: 1, hostPort: 80 }] })] },
      ),
      onPort({ hostPort: 80 }),
      ADMITTED,
    ],
  ])("%s", (_, pod, other, expected) => {
    expect(admit(pod, { activePods: [other] })).toEqual(expected);
  });
});

describe("admitPod: resources", () => {
  const used = [asking({ cpu: "1500m", memory: "512Mi" }, "other")];
  const lacks = (name: string, requested: number, taken: number, capacity: number) =>
    refused(
      `OutOf${name}`,
      `Node didn't have enough resource: ${name}, requested: ${requested}, used: ${taken}, capacity: ${capacity}`,
    );

  it.each<[Record<string, string>, object]>([
    [{ cpu: "500m", memory: "512Mi" }, ADMITTED],
    [{ cpu: "501m" }, lacks("cpu", 501, 1500, 2000)],
    [{ cpu: "1", memory: "1Gi" }, lacks("cpu", 1000, 1500, 2000)],
    [{ memory: "513Mi" }, lacks("memory", 537_919_488, 536_870_912, 1_073_741_824)],
    [{ "ephemeral-storage": "11Gi" }, lacks("ephemeral-storage", 11_811_160_064, 0, 10_737_418_240)],
    [{ "hugepages-2Mi": "2Mi" }, lacks("hugepages-2Mi", 2_097_152, 0, 0)],
    [{ "example.com/gpu": "1" }, ADMITTED],
  ])("%j beside 1500m and 512Mi", (requests, expected) => {
    expect(admit(asking(requests), { activePods: used })).toEqual(expected);
  });

  it("counts the node's extended resources", () => {
    const allocatable = { cpu: "1", "example.com/gpu": "2" };
    expect(admit(asking({ "example.com/gpu": "3" }), { allocatable })).toEqual(lacks("example.com/gpu", 3, 0, 2));
  });

  it("counts the overhead of the pod and of the others", () => {
    const overhead = { cpu: "250m" };
    expect(admit(asking({ cpu: "400m" }, "u", { overhead }), { activePods: used })).toEqual(
      lacks("cpu", 650, 1500, 2000),
    );
    const activePods = [asking({ cpu: "1500m" }, "other", { overhead })];
    expect(admit(asking({ cpu: "400m" }), { activePods })).toEqual(lacks("cpu", 400, 1750, 2000));
  });

  it("counts pods against the maximum", () => {
    const activePods = ["a", "b", "c"].map((uid) => podOf({ uid }));
    expect(admit(podOf(), { activePods })).toEqual(lacks("pods", 1, 3, 3));
  });

  it("reports a shortage before a wrong node", () => {
    expect(admit(asking({ cpu: "3" }, "u", { nodeSelector: { gpu: "yes" } }))).toEqual(lacks("cpu", 3000, 0, 2000));
  });
});

describe("admitPod: critical pods", () => {
  const critical = (requests: Record<string, string>, spec: Partial<PodSpec> = {}) =>
    asking(requests, "critical", { priority: 2_000_000_000, ...spec });
  const burstable = (cpu: string, uid: string) => asking({ cpu }, uid);
  const both = { cpu: "1", memory: "100Mi" };
  const guaranteed = podOf({
    uid: "guaranteed",
    spec: { containers: [containerOf({ resources: { requests: both, limits: both } })] },
  });
  const insufficient = (missing: string) =>
    refused(
      "UnexpectedAdmissionError",
      "Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods " +
        `to preempt: no set of running pods found to reclaim resources: [${missing}]`,
    );

  it.each<[string, Record<string, string>, readonly Pod[], readonly string[]]>([
    ["no pod when the resources suffice", { cpu: "1" }, [burstable("1", "a")], []],
    ["the pod that fits closest", { cpu: "500m" }, [burstable("1500m", "a"), burstable("500m", "b")], ["b"]],
    ["as many as it takes", { cpu: "2" }, [burstable("1500m", "a"), burstable("500m", "b")], ["a", "b"]],
    ["Burstable before Guaranteed", { cpu: "1" }, [guaranteed, burstable("1", "b")], ["b"]],
    ["Guaranteed when the others do not do", { cpu: "2" }, [guaranteed, burstable("1", "b")], ["b", "guaranteed"]],
    ["BestEffort for their places", {}, [podOf({ uid: "a" }), burstable("1", "b"), guaranteed], ["a"]],
  ])("preempts %s", (_, requests, activePods, preempt) => {
    const shortOf = preempt.length === 0 ? {} : { shortOf: "cpu" in requests ? "cpu" : "pods" };
    expect(admit(critical(requests), { activePods })).toEqual({ admitted: true, preempt, ...shortOf });
  });

  it("preempts critical pods of lower priority", () => {
    const lower = asking({ cpu: "2" }, "lower", { priority: 2_000_000_000 });
    expect(admit(critical({ cpu: "1" }, { priority: 2_000_001_000 }), { activePods: [lower] })).toEqual({
      admitted: true,
      preempt: ["lower"],
      shortOf: "cpu",
    });
  });

  it("rejects a critical pod when preempting all others does not suffice", () => {
    expect(admit(critical({ cpu: "3" }), { activePods: [burstable("1500m", "a")] })).toEqual(
      insufficient("(res: cpu, q: 1000), "),
    );
  });

  it("never preempts pods that are as critical, such as static pods", () => {
    const fromFile = { annotations: { "kubernetes.io/config.source": "file" } };
    const statics = ["a", "b", "c"].map((uid) => podOf({ uid, ...fromFile }));
    expect(admit(podOf(fromFile), { activePods: statics })).toEqual(insufficient("(res: pods, q: 1), "));
  });

  it("rejects a critical pod for the wrong node first, since preemption would not help", () => {
    expect(admit(critical({ cpu: "3" }, { nodeSelector: { gpu: "yes" } }))).toEqual(AFFINITY);
  });
});

describe("effectiveMaxPods", () => {
  it.each([
    [110, 0, 4, 110],
    [110, 10, 4, 40],
    [30, 10, 4, 30],
  ])("maxPods %d, %d per core, %d cores: %d", (maxPods, perCore, cores, expected) => {
    expect(effectiveMaxPods(maxPods, perCore, cores)).toBe(expected);
  });
});

describe("admitPod: a node under pressure", () => {
  const bestEffort = podOf({});
  const burstable = asking({ memory: "1Mi" });
  const critical = podOf({ spec: { priority: 2_000_000_000 } });
  const tolerating = (toleration: object) => podOf({ spec: { tolerations: [toleration] } });
  const key = "node.kubernetes.io/memory-pressure";
  const evicted = (conditions: string) => refused("Evicted", `The node had condition: [${conditions}]. `);
  const memory = { ...NO_PRESSURE, memory: true };
  const disk = { ...NO_PRESSURE, disk: true };
  it.each<[string, Pod, NodeInfoForAdmission["pressures"], object]>([
    ["memory, a pod that requests none", bestEffort, memory, evicted("MemoryPressure")],
    ["memory, with a memory request", burstable, memory, ADMITTED],
    [
      "memory, with a toleration for it",
      tolerating({ key, operator: "Exists", effect: "NoSchedule" }),
      memory,
      ADMITTED,
    ],
    ["memory, with a toleration for everything", tolerating({ operator: "Exists" }), memory, ADMITTED],
    [
      "memory, with a toleration for another effect",
      tolerating({ key, operator: "Exists", effect: "NoExecute" }),
      memory,
      evicted("MemoryPressure"),
    ],
    ["disk, with a memory request", burstable, disk, evicted("DiskPressure")],
    ["disk, with a toleration for everything", tolerating({ operator: "Exists" }), disk, evicted("DiskPressure")],
    ["process ids", burstable, { ...NO_PRESSURE, pid: true }, evicted("PIDPressure")],
    ["memory and disk", burstable, { ...memory, disk: true }, evicted("MemoryPressure DiskPressure")],
    ["everything, a critical one", critical, { memory: true, disk: true, pid: true }, ADMITTED],
  ])("%s", (_, pod, pressures, result) => {
    expect(admit(pod, { node: { ...NODE, pressures } })).toEqual(result);
  });

  it("checks pressure before anything else", () => {
    const pod = podOf({ spec: { os: { name: "windows" } } });
    expect(admit(pod, { node: { ...NODE, pressures: disk } })).toEqual(evicted("DiskPressure"));
  });
});

describe("admitPod: features of the kubelet", () => {
  const rule = { action: "RestartAllContainers", exitCodes: { operator: "In", values: [1] } };
  const restarting = containerOf({ restartPolicy: "Never", restartPolicyRules: [rule] });
  const restartAll = "RestartAllContainersOnContainerExits";
  const hostUsers = { hostNetwork: true, hostUsers: false };
  const unsupported = (names: string) =>
    refused("PodFeatureUnsupported", `Pod requires node features that are not available: ${names}`);
  it.each<[string, Partial<PodSpec>, readonly string[] | undefined, object]>([
    ["none needed", {}, [], ADMITTED],
    ["one it declares", { containers: [restarting] }, [restartAll], ADMITTED],
    ["one it does not", { containers: [restarting] }, [], unsupported(restartAll)],
    ["one of an init container", { initContainers: [restarting] }, ["Another"], unsupported(restartAll)],
    [
      "users of their own on the host's network",
      hostUsers,
      [restartAll],
      unsupported("UserNamespacesHostNetworkSupport"),
    ],
    [
      "two",
      { ...hostUsers, containers: [restarting] },
      [],
      unsupported(`${restartAll}, UserNamespacesHostNetworkSupport`),
    ],
    ["a node that declares nothing", { containers: [restarting] }, undefined, ADMITTED],
  ])("%s", (_, spec, declaredFeatures, result) => {
    expect(withSpec(spec, { node: { ...NODE, declaredFeatures } })).toEqual(result);
  });
});

it.each([
  ["rejected without the gate PodLevelResources", { requests: { cpu: "1m" } }, false],
  ["rejected for a limit, too", { limits: { memory: "1Mi" } }, false],
  ["admitted when they state none", {}, true],
])("pods with pod-level resources are %s", (_, resources, isAdmitted) => {
  const node = { ...NODE, podLevelResources: false };
  const refusal = refused("PodLevelResourcesNotSupported", "PodLevelResources feature gate is disabled");
  expect(withSpec({ resources }, { node })).toEqual(isAdmitted ? ADMITTED : refusal);
  expect(withSpec({ resources })).toEqual(ADMITTED);
});

describe("admission while the machine shuts down", () => {
  it("rejects every pod, critical ones too, and preempts none for it", () => {
    const critical = podOf({ spec: { priority: 2_000_000_000 } });
    for (const pod of [podOf(), critical]) {
      expect(admit(pod, { node: { ...NODE, shuttingDown: true } })).toEqual({
        admitted: false,
        reason: "NodeShutdown",
        message: "Pod was rejected as the node is shutting down.",
      });
    }
  });
});
