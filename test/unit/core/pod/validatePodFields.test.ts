import { describe, expect, it } from "vitest";
import type { Container, ObjectMeta } from "../../../../src/core/api.ts";
import { defaultPod } from "../../../../src/core/pod/defaults.ts";
import { configKey, dnsSubdomain, ipAddress, portName, sysctlName } from "../../../../src/core/pod/validateFormats.ts";
import { validateClusterMetadata, validateMetadata } from "../../../../src/core/pod/validateMetadata.ts";
import { validatePod } from "../../../../src/core/pod/validatePod.ts";

const META: ObjectMeta = { name: "web", namespace: "default", uid: "u-1" };
const MAIN: Container = { name: "main", image: "app:1" };

/** Returns the fields with problems, each with the first words of its reason. */
const wrong = (spec: object): readonly string[] =>
  validatePod(defaultPod({ metadata: META, spec: { containers: [MAIN], ...spec } })).map(
    ({ field, reason }) => `${field}: ${reason.slice(0, reason.indexOf(":") === -1 ? undefined : reason.indexOf(":"))}`,
  );
const wrongIn = (container: object, spec: object = {}): readonly string[] =>
  wrong({ containers: [{ ...MAIN, ...container }], ...spec }).map((line) => line.replace("spec.containers[0].", ""));

describe("metadata", () => {
  const owner = { apiVersion: "v1", kind: "Node", name: "n", uid: "u" };
  it.each<[string, object, readonly string[]]>([
    ["nothing optional", {}, []],
    ["a generation", { generation: 0 }, []],
    ["a negative generation", { generation: -1 }, ["m.generation"]],
    ["finalizers", { finalizers: ["example.com/a", "a b"] }, ["m.finalizers[1]"]],
    ["a complete owner", { ownerReferences: [owner] }, []],
    [
      "an owner without anything",
      { ownerReferences: [owner, {}] },
      [1, 1, 1, 1].map((index, at) => `m.ownerReferences[${index}].${["apiVersion", "kind", "name", "uid"][at]}`),
    ],
    ["an owner whose UID is empty", { ownerReferences: [{ ...owner, uid: "" }] }, ["m.ownerReferences[0].uid"]],
    [
      "one owner that controls it",
      { ownerReferences: [{ ...owner, controller: true }, { ...owner, controller: false }, owner] },
      [],
    ],
    [
      "two owners that control it",
      {
        ownerReferences: [
          { ...owner, controller: true },
          { ...owner, controller: true },
        ],
      },
      ["m.ownerReferences"],
    ],
    ["annotations of 256 KiB", { annotations: { a: "x".repeat(131_071), b: "x".repeat(131_071) } }, []],
    [
      "annotations of a byte more",
      { annotations: { a: "x".repeat(131_072), b: "x".repeat(131_071) } },
      ["m.annotations"],
    ],
  ])("with %s", (_, more, fields) => {
    const problems = [...validateMetadata({ ...META, ...more }, "m")];
    expect(problems.map(({ field }) => field)).toEqual(fields);
  });

  it.each<[ObjectMeta, readonly string[]]>([
    [{ name: "a" }, []],
    [{ name: "a", namespace: "" }, []],
    [{ name: "a", namespace: "default" }, ["m.namespace"]],
    [{ name: "A" }, ["m.name"]],
    [{ name: "a", labels: { "a b": "c" } }, ["m.labels[a b]"]],
  ])("of a cluster-scoped object may be %j", (metadata, fields) => {
    expect([...validateClusterMetadata(metadata, "m")].map(({ field }) => field)).toEqual(fields);
  });
});

describe("formats", () => {
  it.each<[string, (text: string) => readonly string[], string, number]>([
    ["name of 253 characters", dnsSubdomain, "a".repeat(253), 0],
    ["name of 254 characters", dnsSubdomain, "a".repeat(254), 1],
    ["key of 253 characters", configKey, "a".repeat(253), 0],
    ["key of 254 characters", configKey, "a".repeat(254), 1],
    ["key .", configKey, ".", 1],
    ["key ..", configKey, "..", 1],
    ["key ..a", configKey, "..a", 1],
    ["key .a", configKey, ".a", 0],
    ["key a..", configKey, "a..", 0],
    ["sysctl of 253 characters", sysctlName, "a".repeat(253), 0],
    ["sysctl of 254 characters", sysctlName, "a".repeat(254), 1],
    ["port -a", portName, "-a", 1],
    ["port a-", portName, "a-", 1],
    ["port a-b", portName, "a-b", 0],
    ["port of 15 characters", portName, "a".repeat(15), 0],
    ["port of 16 characters", portName, "a".repeat(16), 1],
    ["address ::", ipAddress, "::", 0],
    ["address 1::2::3", ipAddress, "1::2::3", 1],
    ["address of eight groups", ipAddress, "1:2:3:4:5:6:7:8", 0],
    ["address of seven groups", ipAddress, "1:2:3:4:5:6:7", 1],
    ["address of seven groups and a gap", ipAddress, "1:2:3:4:5:6:7::", 0],
    ["address of eight groups and a gap", ipAddress, "1:2:3:4::5:6:7:8", 1],
    ["address without a colon", ipAddress, "abcd", 1],
    ["address with an IPv4 tail", ipAddress, "::ffff:10.0.0.1", 0],
    ["address with a bad IPv4 tail", ipAddress, "::ffff:10.0.0.256", 1],
  ])("find the problems of the %s", (_, format, text, count) => {
    expect(format(text)).toHaveLength(count);
  });
});

describe("mounts and devices", () => {
  const volumes = [
    { name: "data", emptyDir: {} },
    { name: "claim", persistentVolumeClaim: { claimName: "c" } },
    { name: "late", ephemeral: { volumeClaimTemplate: { spec: {} } } },
  ];
  const mount = (more: object = {}) => ({ name: "data", mountPath: "/d", ...more });
  const device = (more: object = {}) => ({ name: "claim", devicePath: "/dev/x", ...more });
  it.each<[string, object, readonly string[]]>([
    [
      "a mount and devices of claims",
      { volumeMounts: [mount()], volumeDevices: [device(), device({ name: "late", devicePath: "/dev/y" })] },
      [],
    ],
    [
      "a device that is no claim",
      { volumeDevices: [device({ name: "data" })] },
      ["volumeDevices[0].name: Invalid value"],
    ],
    ["a device without volume", { volumeDevices: [device({ name: "none" })] }, ["volumeDevices[0].name: Not found"]],
    [
      "devices without names and paths",
      { volumeDevices: [{}, {}] },
      [0, 1].flatMap((at) => [
        `volumeDevices[${at}].name: Required value`,
        `volumeDevices[${at}].devicePath: Required value`,
      ]),
    ],
    [
      "a device twice",
      { volumeDevices: [device(), device()] },
      ["volumeDevices[1].name: Invalid value", "volumeDevices[1].devicePath: Invalid value"],
    ],
    [
      "a device path that climbs",
      { volumeDevices: [device({ devicePath: "/dev/../x" })] },
      ["volumeDevices[0].devicePath: Invalid value"],
    ],
    [
      "a volume as mount and device",
      { volumeMounts: [mount({ name: "claim" })], volumeDevices: [device()] },
      ["volumeMounts[0].name: Invalid value"],
    ],
    [
      "a path as mount and device",
      { volumeMounts: [mount({ mountPath: "/dev/x" })], volumeDevices: [device()] },
      ["volumeMounts[0].mountPath: Invalid value"],
    ],
    [
      "a mount without name and path beside such a device",
      { volumeMounts: [{}], volumeDevices: [{}] },
      [
        "volumeMounts[0].name: Required value",
        "volumeMounts[0].mountPath: Required value",
        "volumeDevices[0].name: Required value",
        "volumeDevices[0].devicePath: Required value",
      ],
    ],
    ["two mounts of one path", { volumeMounts: [mount(), mount()] }, ["volumeMounts[1].mountPath: Invalid value"]],
    [
      "both sub-paths",
      { volumeMounts: [mount({ subPath: "a", subPathExpr: "b" })] },
      ["volumeMounts[0].subPathExpr: Invalid value"],
    ],
    [
      "bidirectional propagation of a privileged container",
      { volumeMounts: [mount({ mountPropagation: "Bidirectional" })], securityContext: { privileged: true } },
      [],
    ],
    ["recursive read-only mode disabled", { volumeMounts: [mount({ recursiveReadOnly: "Disabled" })] }, []],
    [
      "recursive read-only mode of a read-only mount",
      { volumeMounts: [mount({ recursiveReadOnly: "Enabled", readOnly: true, mountPropagation: "None" })] },
      [],
    ],
    [
      "recursive read-only mode of a mount that is not read-only",
      { volumeMounts: [mount({ recursiveReadOnly: "IfPossible" })] },
      ["volumeMounts[0].recursiveReadOnly: Forbidden"],
    ],
    [
      "recursive read-only mode with propagation",
      { volumeMounts: [mount({ recursiveReadOnly: "Enabled", readOnly: true, mountPropagation: "HostToContainer" })] },
      ["volumeMounts[0].recursiveReadOnly: Forbidden"],
    ],
    [
      "an unknown recursive read-only mode",
      { volumeMounts: [mount({ recursiveReadOnly: "Maybe" })] },
      ["volumeMounts[0].recursiveReadOnly: Unsupported value"],
    ],
  ])("may be %s, or not", (_, container, problems) => {
    expect(wrongIn(container, { volumes })).toEqual(problems);
  });
});

describe("resources", () => {
  const huge = { "hugepages-2Mi": "2Mi" };
  it.each<[string, object, object, readonly string[]]>([
    ["huge pages alone", { resources: { limits: huge } }, {}, ["resources: Forbidden"]],
    ["huge pages and cpu", { resources: { limits: { ...huge, cpu: "1" } } }, {}, []],
    ["huge pages and memory", { resources: { limits: { ...huge, memory: "1Gi" } } }, {}, []],
    [
      "claims",
      { resources: { claims: [{ name: "a" }, { name: "a", request: "r" }] } },
      { resourceClaims: [{ name: "a", resourceClaimName: "x" }] },
      [],
    ],
    [
      "claims that repeat, miss or have no name",
      { resources: { claims: [{ name: "a" }, { name: "a" }, { name: "b" }, {}] } },
      { resourceClaims: [{ name: "a", resourceClaimName: "x" }] },
      ["resources.claims[1]: Duplicate value", "resources.claims[2]: Not found", "resources.claims[3]: Required value"],
    ],
    [
      "resize policies",
      {
        resizePolicy: [
          { resourceName: "cpu", restartPolicy: "NotRequired" },
          { resourceName: "memory", restartPolicy: "RestartContainer" },
        ],
      },
      {},
      [],
    ],
    [
      "resize policies that nothing follows",
      {
        resizePolicy: [
          { resourceName: "disk", restartPolicy: "NotRequired" },
          { resourceName: "cpu", restartPolicy: "Sometimes" },
          { resourceName: "cpu", restartPolicy: "NotRequired" },
        ],
      },
      {},
      [
        "resizePolicy[0].resourceName: Unsupported value",
        "resizePolicy[1].restartPolicy: Unsupported value",
        "resizePolicy[2]: Duplicate value",
      ],
    ],
    [
      "a resize that restarts a container that never restarts",
      { resizePolicy: [{ resourceName: "cpu", restartPolicy: "RestartContainer" }] },
      { restartPolicy: "Never" },
      ["resizePolicy[0].restartPolicy: Invalid value"],
    ],
    [
      "a resize without restart of a container that never restarts",
      { resizePolicy: [{ resourceName: "cpu", restartPolicy: "NotRequired" }] },
      { restartPolicy: "Never" },
      [],
    ],
  ])("of a container may be %s, or not", (_, container, spec, problems) => {
    expect(wrongIn(container, spec)).toEqual(problems);
  });

  it.each<[string, object, readonly string[]]>([
    ["a request as large as its containers'", { requests: { cpu: "1" } }, []],
    [
      "a smaller request than its containers'",
      { requests: { cpu: "999m" } },
      ["spec.resources.requests[cpu]: Invalid value"],
    ],
    ["a limit as large as a container's", { limits: { cpu: "2" } }, []],
    [
      "a smaller limit than a container's",
      { limits: { cpu: "1" } },
      ["spec.containers[0].resources.limits[cpu]: Invalid value"],
    ],
    [
      "resources that no pod has",
      { limits: { "example.com/a": "1" }, requests: { "example.com/a": "1" } },
      [
        "spec.resources.limits[example.com/a]: Unsupported value",
        "spec.resources.requests[example.com/a]: Unsupported value",
      ],
    ],
    ["claims", { claims: [] }, ["spec.resources.claims: Forbidden"]],
  ])("of a pod may be %s, or not", (_, resources, problems) => {
    const sized = { ...MAIN, resources: { limits: { cpu: "2" }, requests: { cpu: "1" } } };
    expect(wrong({ resources, containers: [sized] })).toEqual(problems);
  });

  it("of a pod's overhead are amounts", () => {
    expect(wrong({ overhead: { cpu: "-1" } })).toEqual(["spec.overhead[cpu]: Invalid value"]);
  });
});

describe("volumes", () => {
  const file = (more: object) => ({ downwardAPI: { items: [{ path: "p", ...more }] } });
  const fieldRef = { apiVersion: "v1", fieldPath: "metadata.name" };
  const resourceFieldRef = { containerName: "main", resource: "limits.cpu" };
  const at = "spec.volumes[0]";
  it.each<[string, object, readonly string[]]>([
    ["a file of a field", file({ fieldRef }), []],
    ["a file of both", file({ fieldRef, resourceFieldRef }), [`${at}.downwardAPI.items[0]: Invalid value`]],
    ["a file of nothing", file({}), [`${at}.downwardAPI.items[0]: Required value`]],
    ["a file without path", file({ path: "", fieldRef }), [`${at}.downwardAPI.items[0].path: Required value`]],
    ["a file that climbs", file({ path: "../a", fieldRef }), [`${at}.downwardAPI.items[0].path: Invalid value`]],
    [
      "a file of another API version",
      file({ fieldRef: { ...fieldRef, apiVersion: "v2" } }),
      [`${at}.downwardAPI.items[0].fieldRef.apiVersion: Unsupported value`],
    ],
    [
      "a file of memory in units of 1Mi",
      file({ resourceFieldRef: { ...resourceFieldRef, resource: "limits.memory", divisor: "1Mi" } }),
      [],
    ],
    [
      "a file of memory in odd units",
      file({ resourceFieldRef: { ...resourceFieldRef, resource: "limits.memory", divisor: "3" } }),
      [`${at}.downwardAPI.items[0].resourceFieldRef.divisor: Invalid value`],
    ],
    ["NFS", { nfs: { server: "s", path: "/" } }, []],
    ["NFS of a relative path", { nfs: { server: "s", path: "a" } }, [`${at}.nfs.path: Invalid value`]],
    ["NFS without path", { nfs: { server: "s" } }, [`${at}.nfs.path: Required value`, `${at}.nfs.path: Invalid value`]],
    ["a repository", { gitRepo: { repository: "r", directory: "a" } }, []],
    [
      "a repository outside of the volume",
      { gitRepo: { repository: "r", directory: "../a" } },
      [`${at}.gitRepo.directory: Invalid value`],
    ],
    ["a size", { emptyDir: { sizeLimit: "0" } }, []],
    ["a negative size", { emptyDir: { sizeLimit: "-1" } }, [`${at}.emptyDir.sizeLimit: Forbidden`]],
    [
      "projected files that conflict",
      {
        projected: {
          sources: [
            { serviceAccountToken: { path: "t" } },
            { secret: { name: "s", items: [{ key: "k", path: "t" }] } },
            { configMap: { name: "c", items: [{ key: "k", path: "" }] } },
            { configMap: { name: "c", items: [{ key: "k", path: "" }] } },
          ],
        },
      },
      [
        `${at}.projected.sources[1]: Invalid value`,
        `${at}.projected.sources[2].configMap.items[0].path: Required value`,
        `${at}.projected.sources[3].configMap.items[0].path: Required value`,
      ],
    ],
  ])("may be %s, or not", (_, source, problems) => {
    expect(wrong({ volumes: [{ name: "v", ...source }] })).toEqual(problems);
  });
});

describe("security", () => {
  const raised = (capability: string) => ({
    securityContext: { allowPrivilegeEscalation: false, capabilities: { add: ["NET_ADMIN", capability] } },
  });
  it.each<[string, object, readonly string[]]>([
    ["no escalation with another capability", raised("CHOWN"), []],
    ["no escalation with SYS_ADMIN", raised("SYS_ADMIN"), ["securityContext: Invalid value"]],
    ["no escalation with CAP_SYS_ADMIN", raised("CAP_SYS_ADMIN"), ["securityContext: Invalid value"]],
    [
      "a seccomp profile by absolute path",
      { securityContext: { seccompProfile: { type: "Localhost", localhostProfile: "/a" } } },
      ["securityContext.seccompProfile.localhostProfile: Invalid value"],
    ],
    [
      "a seccomp profile that climbs",
      { securityContext: { seccompProfile: { type: "Localhost", localhostProfile: "../a" } } },
      ["securityContext.seccompProfile.localhostProfile: Invalid value"],
    ],
    [
      "a Localhost profile without name",
      { securityContext: { seccompProfile: { type: "Localhost" } } },
      ["securityContext.seccompProfile.localhostProfile: Required value"],
    ],
    [
      "an AppArmor profile by absolute path",
      { securityContext: { appArmorProfile: { type: "Localhost", localhostProfile: "/a" } } },
      [],
    ],
    [
      "an AppArmor profile that climbs",
      { securityContext: { appArmorProfile: { type: "Localhost", localhostProfile: "a/../b" } } },
      ["securityContext.appArmorProfile.localhostProfile: Invalid value"],
    ],
    [
      "unmasked /proc in the host's user namespace",
      { securityContext: { procMount: "Unmasked" } },
      ["securityContext.procMount: Invalid value"],
    ],
  ])("of a container may be %s, or not", (_, container, problems) => {
    expect(wrongIn(container)).toEqual(problems);
  });

  const sysctl = (name: string) => ({ securityContext: { sysctls: [{ name, value: "1" }] } });
  it.each<[string, object, readonly string[]]>([
    [
      "unmasked /proc in a user namespace",
      { hostUsers: false, containers: [{ ...MAIN, securityContext: { procMount: "Unmasked" } }] },
      [],
    ],
    ["a shared process namespace", { shareProcessNamespace: true, hostPID: false }, []],
    ["the host's process namespace", { hostPID: true, shareProcessNamespace: false }, []],
    ["both", { hostPID: true, shareProcessNamespace: true }, ["spec.shareProcessNamespace: Invalid value"]],
    ["an IPC sysctl", sysctl("kernel.shm_rmid_forced"), []],
    [
      "an IPC sysctl with hostIPC",
      { ...sysctl("kernel.shm_rmid_forced"), hostIPC: true },
      ["spec.securityContext.sysctls[0].name: Invalid value"],
    ],
    ["another sysctl with hostIPC", { ...sysctl("net.core.somaxconn"), hostIPC: true }, []],
    [
      "a network sysctl with hostNetwork",
      { ...sysctl("net.core.somaxconn"), hostNetwork: true },
      ["spec.securityContext.sysctls[0].name: Invalid value"],
    ],
  ])("of a pod may be %s, or not", (_, spec, problems) => {
    expect(wrong(spec)).toEqual(problems);
  });
});

describe("containers", () => {
  it.each<[string, object, readonly string[]]>([
    [
      "init containers of one name",
      {
        initContainers: [
          { ...MAIN, name: "i" },
          { ...MAIN, name: "i" },
        ],
      },
      ["spec.initContainers[1].name: Duplicate value"],
    ],
    [
      "an init container called as a container",
      { initContainers: [MAIN] },
      ["spec.initContainers[0].name: Duplicate value"],
    ],
    [
      "ephemeral containers, which come later",
      { ephemeralContainers: [{ ...MAIN, name: "d", targetContainerName: "main" }] },
      ["spec.ephemeralContainers: Forbidden"],
    ],
    [
      "ephemeral containers of one name, and one for nobody",
      {
        ephemeralContainers: [
          { ...MAIN, name: "d" },
          { ...MAIN, name: "d", targetContainerName: "d" },
        ],
      },
      [
        "spec.ephemeralContainers[1].name: Duplicate value",
        "spec.ephemeralContainers[1].targetContainerName: Not found",
        "spec.ephemeralContainers: Forbidden",
      ],
    ],
    ["Windows", { os: { name: "windows" } }, []],
    ["another system", { os: { name: "beos" } }, ["spec.os.name: Unsupported value"]],
    ["a system without name", { os: { name: "" } }, ["spec.os.name: Required value"]],
    ["names that are empty", { hostname: "", serviceAccountName: "", nodeName: "", subdomain: "" }, []],
    ["a runtime class that is empty", { runtimeClassName: "" }, ["spec.runtimeClassName: Invalid value"]],
    ["the root as search domain", { dnsConfig: { searches: [".", "a.b."] } }, []],
    ["an override of its name", { hostnameOverride: "a.b", setHostnameAsFQDN: false }, []],
    [
      "an override of its full name",
      { hostnameOverride: "a.b", setHostnameAsFQDN: true },
      ["spec.hostnameOverride: Forbidden"],
    ],
    [
      "a toleration of a value",
      {
        tolerations: [
          { key: "a", operator: "Equal", value: "b" },
          { key: "a", value: "b" },
          { key: "a", operator: "Exists" },
        ],
      },
      [],
    ],
    [
      "tolerations that nothing has",
      {
        tolerations: [
          { key: "a", operator: "Equal", value: "a b" },
          { key: "a", operator: "Exists", value: "b" },
          { key: "a", operator: "Like" },
        ],
      },
      [
        "spec.tolerations[0].value: Invalid value",
        "spec.tolerations[1].value: Invalid value",
        "spec.tolerations[2].operator: Unsupported value",
      ],
    ],
  ])("may be %s, or not", (_, spec, problems) => {
    expect(wrong(spec)).toEqual(problems);
  });

  it.each<[string, object, readonly string[]]>([
    ["a ConfigMap", { envFrom: [{ configMapRef: { name: "c" } }] }, []],
    ["a Secret", { envFrom: [{ secretRef: { name: "s" } }] }, []],
    ["a ConfigMap without name", { envFrom: [{ configMapRef: {} }] }, ["envFrom[0].configMapRef.name: Required value"]],
    [
      "a Secret of a bad name",
      { envFrom: [{ secretRef: { name: "S" } }] },
      ["envFrom[0].secretRef.name: Invalid value"],
    ],
    ["both", { envFrom: [{ configMapRef: { name: "c" }, secretRef: { name: "s" } }] }, ["envFrom[0]: Invalid value"]],
    ["neither", { envFrom: [{}] }, ["envFrom[0]: Invalid value"]],
    [
      "a key of a ConfigMap without name",
      { env: [{ name: "A", valueFrom: { configMapKeyRef: { key: "k" } } }] },
      ["env[0].valueFrom.configMapKeyRef.name: Invalid value"],
    ],
    ["a key of a Secret", { env: [{ name: "A", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }] }, []],
    [
      "a field of another API version",
      { env: [{ name: "A", valueFrom: { fieldRef: { apiVersion: "v2", fieldPath: "metadata.name" } } }] },
      ["env[0].valueFrom.fieldRef.apiVersion: Unsupported value"],
    ],
  ])("may get variables from %s, or not", (_, container, problems) => {
    expect(wrongIn(container)).toEqual(problems);
  });
});
