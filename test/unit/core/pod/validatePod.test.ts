import { describe, expect, it } from "vitest";
import type { Container, ObjectMeta, PodSpec } from "../../../../src/core/api.ts";
import { defaultPod } from "../../../../src/core/pod/defaults.ts";
import { validatePod } from "../../../../src/core/pod/validatePod.ts";

const LABEL =
  "a lowercase RFC 1123 label holds lower case letters, digits and '-', and starts and ends with a letter or digit";
const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain holds lower case letters, digits, '-' and '.', and each part starts and ends with a letter or digit";
const LABEL_VALUE =
  "a label value is empty, or holds letters, digits, '-', '_' and '.' and starts and ends with a letter or digit";
const NAME_PART = "name part holds letters, digits, '-', '_' and '.', and starts and ends with a letter or digit";
const IP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const META: ObjectMeta = { name: "web", namespace: "default", uid: "u-1" };
const MAIN: Container = { name: "main", image: "app:1" };

const check = (spec: Partial<PodSpec>, metadata: ObjectMeta = META): readonly string[] =>
  validatePod(defaultPod({ metadata, spec: { containers: [MAIN], ...spec } })).map(
    ({ severity, field, reason }) => `${severity === "warning" ? "warning " : ""}${field}: ${reason}`,
  );
const checkContainer = (container: Partial<Container>, spec: Partial<PodSpec> = {}): readonly string[] =>
  check({ containers: [{ ...MAIN, ...container }], ...spec }).map((line) =>
    line.replace(/^spec\.containers\[0\]\./, ""),
  );
const long = (length: number): string => "a".repeat(length);

describe("a valid pod", () => {
  it("has no problems, with all fields set", () => {
    const probe = { httpGet: { port: "web", httpHeaders: [{ name: "X-A", value: "1" }] } };
    const spec: PodSpec = {
      nodeName: "node-1",
      hostname: "web",
      subdomain: "sub",
      activeDeadlineSeconds: 10,
      priorityClassName: "system-node-critical",
      runtimeClassName: "runc",
      preemptionPolicy: "Never",
      os: { name: "linux" },
      dnsPolicy: "None",
      dnsConfig: { nameservers: ["10.0.0.1", "2001:db8::1"], searches: ["a.b", "_c.d."], options: [{ name: "ndots" }] },
      hostAliases: [{ ip: "::1", hostnames: ["a.b"] }],
      nodeSelector: { "kubernetes.io/os": "linux" },
      tolerations: [
        { key: "a", operator: "Exists", effect: "NoExecute", tolerationSeconds: 1 },
        { operator: "Exists" },
      ],
      readinessGates: [{ conditionType: "example.com/ready" }],
      securityContext: {
        runAsUser: 1000,
        fsGroup: 0,
        fsGroupChangePolicy: "Always",
        sysctls: [{ name: "net.ipv4.ip_forward", value: "1" }],
        seccompProfile: { type: "Localhost", localhostProfile: "a/b.json" },
      },
      volumes: [
        { name: "data", emptyDir: { sizeLimit: "1Gi" } },
        { name: "host", hostPath: { path: "/var/log", type: "Directory" } },
        { name: "info", downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] } },
      ],
      initContainers: [
        { name: "setup", image: "app:1" },
        { name: "proxy", image: "app:1", restartPolicy: "Always", startupProbe: { tcpSocket: { port: 1 } } },
      ],
      containers: [
        {
          ...MAIN,
          ports: [
            { name: "web", containerPort: 80, hostPort: 8080 },
            { containerPort: 53, protocol: "UDP" },
          ],
          env: [
            { name: "A.b-C d", value: "" },
            { name: "IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
            { name: "L", valueFrom: { fieldRef: { fieldPath: "metadata.labels['app.kubernetes.io/name']" } } },
            { name: "CPU", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "1m" } } },
          ],
          envFrom: [{ prefix: "P_", configMapRef: { name: "c" } }],
          volumeMounts: [
            { name: "data", mountPath: "/data", subPath: "a/b" },
            { name: "host", mountPath: "/log", readOnly: true },
          ],
          resources: {
            limits: { cpu: "1", memory: "1Gi", "hugepages-2Mi": "4Mi", "example.com/gpu": "2" },
            requests: { cpu: "500m" },
          },
          livenessProbe: probe,
          readinessProbe: { ...probe, successThreshold: 3 },
          lifecycle: { preStop: { sleep: { seconds: 5 } }, postStart: { exec: { command: ["true"] } } },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] }, procMount: "Default" },
        },
      ],
    };
    expect(
      check(spec, { ...META, labels: { "app.kubernetes.io/name": "web" }, annotations: { "Example.com/x": "y" } }),
    ).toEqual([]);
  });
});

describe("metadata", () => {
  it.each<[string, ObjectMeta, readonly string[]]>([
    ["no name", { ...META, name: "" }, ["metadata.name: Required value: name or generateName is required"]],
    ["upper case", { ...META, name: "Web" }, [`metadata.name: Invalid value: "Web": ${SUBDOMAIN}`]],
    [
      "a long name",
      { ...META, name: long(254) },
      [`metadata.name: Invalid value: "${long(199)}...: must be no more than 253 bytes`],
    ],
    ["no namespace", { ...META, namespace: "" }, ["metadata.namespace: Required value"]],
    ["a bad namespace", { ...META, namespace: "a.b" }, [`metadata.namespace: Invalid value: "a.b": ${LABEL}`]],
    [
      "a UID that climbs",
      { ...META, uid: "../x" },
      [`metadata.uid: Invalid value: "../x": must hold letters, digits, '-', '_' and '.' and not start with '.'`],
    ],
    [
      "a bad label key",
      { ...META, labels: { "a b": "c" } },
      [`metadata.labels[a b]: Invalid value: "a b": ${NAME_PART}`],
    ],
    [
      "an empty prefix",
      { ...META, labels: { "/a": "c" } },
      [`metadata.labels[/a]: Invalid value: "/a": prefix part must be non-empty`],
    ],
    [
      "too many parts",
      { ...META, labels: { "a/b/c": "" } },
      [
        `metadata.labels[a/b/c]: Invalid value: "a/b/c": a qualified name is a name, or a DNS subdomain, '/' and a name`,
      ],
    ],
    ["a bad label value", { ...META, labels: { a: "-" } }, [`metadata.labels[a]: Invalid value: "-": ${LABEL_VALUE}`]],
    [
      "a long label value",
      { ...META, labels: { a: long(64) } },
      [`metadata.labels[a]: Invalid value: "${long(64)}": must be no more than 63 bytes`],
    ],
    [
      "a bad annotation key",
      { ...META, annotations: { "a/": "" } },
      ['metadata.annotations[a/]: Invalid value: "a/": name part must be non-empty'],
    ],
    [
      "huge annotations",
      { ...META, annotations: { a: long(262_144) } },
      ["metadata.annotations: Too long: may not be more than 262144 bytes"],
    ],
  ])("%s", (_title, metadata, expected) => {
    expect(check({}, metadata)).toEqual(expected);
  });
});

describe("the pod", () => {
  it.each<[string, Partial<PodSpec>, readonly string[]]>([
    ["no containers", { containers: [] }, ["spec.containers: Required value"]],
    [
      "a restart policy",
      { restartPolicy: "Sometimes" },
      ['spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"'],
    ],
    [
      "a DNS policy",
      { dnsPolicy: "x" },
      [
        'spec.dnsPolicy: Unsupported value: "x": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
      ],
    ],
    [
      "DNS None without config",
      { dnsPolicy: "None" },
      ["spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"],
    ],
    [
      "DNS None without servers",
      { dnsPolicy: "None", dnsConfig: {} },
      ["spec.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None"],
    ],
    [
      "a bad nameserver",
      { dnsConfig: { nameservers: ["1.2.3"] } },
      [`spec.dnsConfig.nameservers[0]: Invalid value: "1.2.3": ${IP}`],
    ],
    [
      "four nameservers",
      { dnsConfig: { nameservers: ["::1", "::2", "::3", "::4"] } },
      ['spec.dnsConfig.nameservers: Invalid value: ["::1","::2","::3","::4"]: must not have more than 3 nameservers'],
    ],
    [
      "a bad search domain",
      { dnsConfig: { searches: ["A"] } },
      [
        `spec.dnsConfig.searches[0]: Invalid value: "A": a search domain holds lower case letters, digits, '-', '_' and '.'`,
      ],
    ],
    [
      "an option without name",
      { dnsConfig: { options: [{ value: "1" }] } },
      ["spec.dnsConfig.options[0]: Required value: must not be empty"],
    ],
    [
      "a bad host alias",
      { hostAliases: [{ ip: "1.2.3.256", hostnames: ["A"] }] },
      [
        `spec.hostAliases[0].ip: Invalid value: "1.2.3.256": ${IP}`,
        `spec.hostAliases[0].hostnames[0]: Invalid value: "A": ${SUBDOMAIN}`,
      ],
    ],
    [
      "an active deadline",
      { activeDeadlineSeconds: 0 },
      ["spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"],
    ],
    [
      "a negative grace period",
      { terminationGracePeriodSeconds: -1 },
      ["spec.terminationGracePeriodSeconds: Invalid value: -1: must be greater than or equal to 0"],
    ],
    ["a node name", { nodeName: "N" }, [`spec.nodeName: Invalid value: "N": ${SUBDOMAIN}`]],
    ["a hostname", { hostname: "a.b" }, [`spec.hostname: Invalid value: "a.b": ${LABEL}`]],
    [
      "an OS",
      { os: { name: "plan9" } },
      ['spec.os.name: Unsupported value: "plan9": supported values: "linux", "windows"'],
    ],
    [
      "windows options on linux",
      { os: { name: "linux" }, securityContext: { windowsOptions: {} } },
      ["spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod"],
    ],
    [
      "a preemption policy",
      { preemptionPolicy: "x" },
      ['spec.preemptionPolicy: Unsupported value: "x": supported values: "Never", "PreemptLowerPriority"'],
    ],
    ["a node selector", { nodeSelector: { a: "!" } }, [`spec.nodeSelector[a]: Invalid value: "!": ${LABEL_VALUE}`]],
    [
      "a toleration without key",
      { tolerations: [{ operator: "Equal", value: "x" }] },
      [
        'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which matches all keys and values',
      ],
    ],
    [
      "a toleration with seconds",
      { tolerations: [{ key: "a", tolerationSeconds: 1, effect: "NoSchedule" }] },
      [
        `spec.tolerations[0].effect: Invalid value: "NoSchedule": effect must be 'NoExecute' when \`tolerationSeconds\` is set`,
      ],
    ],
    [
      "a toleration's value",
      { tolerations: [{ key: "a", operator: "Exists", value: "b" }] },
      [`spec.tolerations[0].value: Invalid value: "b": value must be empty when \`operator\` is 'Exists'`],
    ],
    [
      "a toleration's effect",
      { tolerations: [{ key: "a", effect: "x" }] },
      [
        'spec.tolerations[0].effect: Unsupported value: "x": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
      ],
    ],
    [
      "node affinity",
      {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [
                {
                  matchExpressions: [
                    { key: "a", operator: "In" },
                    { key: "", operator: "Near" },
                  ],
                },
              ],
            },
          },
        },
      },
      [
        "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
        'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[1].operator: Invalid value: "Near": not a valid selector operator',
        'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[1].key: Invalid value: "": name part must be non-empty',
      ],
    ],
    [
      "a user",
      { securityContext: { runAsUser: -1 } },
      ["spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive"],
    ],
    [
      "groups",
      { securityContext: { supplementalGroups: [1, -2] } },
      ["spec.securityContext.supplementalGroups[1]: Invalid value: -2: must be between 0 and 2147483647, inclusive"],
    ],
    [
      "a change policy",
      { securityContext: { fsGroupChangePolicy: "x" } },
      [
        'spec.securityContext.fsGroupChangePolicy: Unsupported value: "x": supported values: "Always", "OnRootMismatch"',
      ],
    ],
    [
      "a seccomp type",
      { securityContext: { seccompProfile: { type: "x" } } },
      [
        'spec.securityContext.seccompProfile.type: Unsupported value: "x": supported values: "Localhost", "RuntimeDefault", "Unconfined"',
      ],
    ],
    [
      "a missing local profile",
      { securityContext: { seccompProfile: { type: "Localhost" } } },
      ["spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when the type is Localhost"],
    ],
    [
      "a local profile that climbs",
      { securityContext: { seccompProfile: { type: "Localhost", localhostProfile: "../x" } } },
      [`spec.securityContext.seccompProfile.localhostProfile: Invalid value: "../x": must not contain '..'`],
    ],
    [
      "a sysctl twice",
      {
        securityContext: {
          sysctls: [
            { name: "a.b", value: "" },
            { name: "a.b", value: "" },
          ],
        },
      },
      ['spec.securityContext.sysctls[1].name: Duplicate value: "a.b"'],
    ],
    [
      "a sysctl of the host's network",
      { hostNetwork: true, securityContext: { sysctls: [{ name: "net.core.somaxconn", value: "1" }] } },
      [
        `spec.securityContext.sysctls[0].name: Invalid value: "net.core.somaxconn": may not be specified when 'hostNetwork' is true`,
      ],
    ],
    [
      "host PID and shared processes",
      { hostPID: true, shareProcessNamespace: true },
      ["spec.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled"],
    ],
    [
      "user namespace on the host's network",
      { hostUsers: false, hostNetwork: true },
      ["spec.hostNetwork: Forbidden: when `pod.Spec.HostUsers` is false"],
    ],
    [
      "scheduling gates on a node",
      { nodeName: "n", schedulingGates: [{ name: "g" }] },
      ["spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"],
    ],
    [
      "ephemeral containers",
      { ephemeralContainers: [{ name: "main", image: "a:1", targetContainerName: "x", ports: [] }] },
      [
        'spec.ephemeralContainers[0].name: Duplicate value: "main"',
        'spec.ephemeralContainers[0].targetContainerName: Not found: "x": the pod has no container of this name',
        "spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container",
        "spec.ephemeralContainers: Forbidden: cannot be set on create",
      ],
    ],
    [
      "pod requests below the containers'",
      {
        resources: { requests: { cpu: "1" }, limits: { cpu: "2" } },
        containers: [{ ...MAIN, resources: { requests: { cpu: "1500m" } } }],
      },
      [
        'spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 1500m',
      ],
    ],
    [
      "container limits above the pod's",
      {
        resources: { limits: { cpu: "1" } },
        containers: [{ ...MAIN, resources: { limits: { cpu: "2" }, requests: { cpu: "1" } } }],
      },
      ['spec.containers[0].resources.limits[cpu]: Invalid value: "2": must be less than or equal to pod limits of 1'],
    ],
    [
      "a hostname override on the host's network",
      { hostnameOverride: "a", hostNetwork: true },
      ["spec.hostnameOverride: Forbidden: may not be set when hostNetwork is true"],
    ],
  ])("%s", (_title, spec, expected) => {
    expect(check(spec)).toEqual(expected);
  });
});

describe("containers", () => {
  it.each<[string, Partial<PodSpec>, readonly string[]]>([
    ["one name twice", { containers: [MAIN, MAIN] }, ['spec.containers[1].name: Duplicate value: "main"']],
    ["an init container's name", { initContainers: [MAIN] }, ['spec.initContainers[0].name: Duplicate value: "main"']],
    [
      "an init container's restart policy",
      { initContainers: [{ name: "i", image: "a:1", restartPolicy: "never" }] },
      [
        'spec.initContainers[0].restartPolicy: Unsupported value: "never": supported values: "Always", "Never", "OnFailure"; did you mean "Never"?',
      ],
    ],
    [
      "probes of an init container",
      { initContainers: [{ name: "i", image: "a:1", livenessProbe: { exec: { command: ["a"] } }, lifecycle: {} }] },
      [
        "spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always",
        "spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always",
      ],
    ],
    [
      "a host port twice",
      {
        containers: [
          { ...MAIN, ports: [{ containerPort: 1, hostPort: 9 }] },
          { ...MAIN, name: "b", ports: [{ containerPort: 2, hostPort: 9 }] },
        ],
      },
      ['spec.containers[1].ports[0].hostPort: Duplicate value: "TCP//9"'],
    ],
    [
      "host ports of init containers are taken one after the other",
      {
        initContainers: ["a", "b"].map((name) => ({ name, image: "a:1", ports: [{ containerPort: 1, hostPort: 9 }] })),
      },
      [],
    ],
  ])("%s", (_title, spec, expected) => {
    expect(check(spec)).toEqual(expected);
  });

  it.each<[string, Partial<Container>, readonly string[]]>([
    ["no name", { name: "" }, ["name: Required value"]],
    ["a bad name", { name: "a_b" }, [`name: Invalid value: "a_b": ${LABEL}`]],
    ["a long name", { name: long(64) }, [`name: Invalid value: "${long(64)}": must be no more than 63 bytes`]],
    ["no image", { image: "" }, ["image: Required value"]],
    [
      "blanks around the image",
      { image: " a:1" },
      ['image: Invalid value: " a:1": must not have leading or trailing whitespace'],
    ],
    [
      "a pull policy",
      { imagePullPolicy: "Maybe" },
      ['imagePullPolicy: Unsupported value: "Maybe": supported values: "Always", "IfNotPresent", "Never"'],
    ],
    [
      "a message policy",
      { terminationMessagePolicy: "x" },
      ['terminationMessagePolicy: Unsupported value: "x": supported values: "FallbackToLogsOnError", "File"'],
    ],
    [
      "restart rules without a policy",
      { restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "In", values: [1] } }] },
      ["restartPolicy: Required value: must specify restartPolicy when restart rules are used"],
    ],
    [
      "restart rules",
      {
        restartPolicy: "Never",
        restartPolicyRules: [
          { action: "RestartAllContainers", exitCodes: { operator: "NotIn", values: [0] } },
          { action: "Stay", exitCodes: { operator: "" } },
          { action: "Restart" },
          { action: "Restart", exitCodes: { operator: "In", values: Array.from({ length: 256 }, (_, code) => code) } },
        ],
      },
      [
        'restartPolicyRules[1].action: Unsupported value: "Stay": supported values: "Restart", "RestartAllContainers"',
        'restartPolicyRules[1].exitCodes.operator: Unsupported value: "": supported values: "In", "NotIn"',
        "restartPolicyRules[2].exitCodes: Required value: must be specified",
        "restartPolicyRules[3].exitCodes.values: Too many: 256: must have at most 255 items",
      ],
    ],
    [
      "too many restart rules",
      {
        restartPolicy: "Never",
        restartPolicyRules: Array.from({ length: 21 }, () => ({
          action: "Restart",
          exitCodes: { operator: "In", values: [1] },
        })),
      },
      ["restartPolicyRules: Too many: 21: must have at most 20 items"],
    ],
    ["no port number", { ports: [{ containerPort: 0 }] }, ["ports[0].containerPort: Required value"]],
    [
      "a port out of range",
      { ports: [{ containerPort: 65536, hostPort: -1 }] },
      [
        "ports[0].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive",
        "ports[0].hostPort: Invalid value: -1: must be between 1 and 65535, inclusive",
      ],
    ],
    [
      "a protocol",
      { ports: [{ containerPort: 1, protocol: "tcp" }] },
      ['ports[0].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"; did you mean "TCP"?'],
    ],
    [
      "a port's name",
      { ports: [{ name: "1--2", containerPort: 1 }] },
      [
        'ports[0].name: Invalid value: "1--2": must contain at least one letter (a-z)',
        'ports[0].name: Invalid value: "1--2": must not contain consecutive hyphens',
      ],
    ],
    [
      "a port's long name",
      { ports: [{ name: long(16), containerPort: 1 }] },
      [`ports[0].name: Invalid value: "${long(16)}": must be no more than 15 characters`],
    ],
    [
      "a port's name twice",
      {
        ports: [
          { name: "a", containerPort: 1 },
          { name: "a", containerPort: 2 },
        ],
      },
      ['ports[1].name: Duplicate value: "a"'],
    ],
    ["a host IP", { ports: [{ containerPort: 1, hostIP: "x" }] }, [`ports[0].hostIP: Invalid value: "x": ${IP}`]],
    ["a variable without name", { env: [{ name: "", value: "x" }] }, ["env[0].name: Required value"]],
    [
      "a variable's name",
      { env: [{ name: "A=B" }] },
      [
        `env[0].name: Invalid value: "A=B": an environment variable name holds printable ASCII characters other than '='`,
      ],
    ],
    [
      "a variable with two sources",
      { env: [{ name: "A", value: "x", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }] },
      ['env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty'],
    ],
    [
      "a variable with no source",
      { env: [{ name: "A", valueFrom: {} }] },
      [
        'env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`',
      ],
    ],
    [
      "a field that cannot be a variable",
      { env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.labels" } } }] },
      [
        'env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "metadata.labels": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"',
      ],
    ],
    [
      "a resource divisor",
      { env: [{ name: "A", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "2" } } }] },
      ['env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "2": must be one of 1m, 1'],
    ],
    [
      "a key of a Secret",
      { env: [{ name: "A", valueFrom: { secretKeyRef: { name: "s", key: ".." } } }] },
      [`env[0].valueFrom.secretKeyRef.key: Invalid value: "..": must not be '.' or start with '..'`],
    ],
    [
      "envFrom without source",
      { envFrom: [{}] },
      ['envFrom[0]: Invalid value: "": must specify one of: `configMapRef` or `secretRef`'],
    ],
    [
      "a negative amount",
      { resources: { requests: { cpu: "-1" } } },
      ['resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
    ],
    [
      "an unknown resource",
      { resources: { limits: { gpu: "1" } } },
      [
        'resources.limits[gpu]: Invalid value: "gpu": must be a standard resource for containers',
        'resources.requests[gpu]: Invalid value: "gpu": must be a standard resource for containers',
      ],
    ],
    [
      "a request above its limit",
      { resources: { limits: { memory: "1Gi" }, requests: { memory: "2Gi" } } },
      ['resources.requests: Invalid value: "2Gi": must be less than or equal to memory limit of 1Gi'],
    ],
    [
      "part of a device",
      { resources: { limits: { "example.com/gpu": "500m" } } },
      [
        'resources.limits[example.com/gpu]: Invalid value: "500m": must be an integer',
        'resources.requests[example.com/gpu]: Invalid value: "500m": must be an integer',
      ],
    ],
    [
      "a device request without limit",
      { resources: { requests: { "example.com/gpu": "1" } } },
      ["resources.limits: Required value: a limit must be set for example.com/gpu, which cannot be overcommitted"],
    ],
    [
      "a device request unlike its limit",
      { resources: { requests: { "example.com/gpu": "1" }, limits: { "example.com/gpu": "2" } } },
      ['resources.requests: Invalid value: "1": must be equal to example.com/gpu limit of 2'],
    ],
    [
      "huge pages alone",
      { resources: { limits: { "hugepages-2Mi": "2Mi" } } },
      ["resources: Forbidden: HugePages require cpu or memory"],
    ],
    [
      "a claim that is not there",
      { resources: { claims: [{ name: "c" }] } },
      ['resources.claims[0]: Not found: "c": spec.resourceClaims has no claim of this name'],
    ],
    [
      "a resize policy",
      { resizePolicy: [{ resourceName: "disk", restartPolicy: "x" }] },
      [
        'resizePolicy[0].resourceName: Unsupported value: "disk": supported values: "cpu", "memory"',
        'resizePolicy[0].restartPolicy: Unsupported value: "x": supported values: "NotRequired", "RestartContainer"',
      ],
    ],
    ["a probe without handler", { livenessProbe: {} }, ["livenessProbe: Required value: must specify a handler type"]],
    [
      "a probe with two handlers",
      { readinessProbe: { tcpSocket: { port: 1 }, grpc: { port: 2 } } },
      ["readinessProbe.grpc: Forbidden: may not specify more than 1 handler type"],
    ],
    [
      "a liveness probe that wants two successes",
      { livenessProbe: { tcpSocket: { port: 1 }, successThreshold: 2 } },
      ["livenessProbe.successThreshold: Invalid value: 2: must be 1"],
    ],
    [
      "negative probe times",
      { startupProbe: { tcpSocket: { port: 1 }, periodSeconds: -1 } },
      ["startupProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0"],
    ],
    [
      "a readiness probe with a grace period",
      { readinessProbe: { tcpSocket: { port: 1 }, terminationGracePeriodSeconds: 1 } },
      ["readinessProbe.terminationGracePeriodSeconds: Invalid value: 1: must not be set for readinessProbes"],
    ],
    [
      "a probe's port",
      { livenessProbe: { httpGet: { port: 0 } } },
      ["livenessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, inclusive"],
    ],
    ...(["httpGet", "tcpSocket", "grpc"] as const).map((kind): [string, Partial<Container>, readonly string[]] => [
      `a probe's missing port, ${kind}`,
      { livenessProbe: { [kind]: {} } },
      [`livenessProbe.${kind}.port: Invalid value: 0: must be between 1 and 65535, inclusive`],
    ]),
    [
      "a probe's scheme",
      { livenessProbe: { httpGet: { port: 1, scheme: "ftp" } } },
      ['livenessProbe.httpGet.scheme: Unsupported value: "ftp": supported values: "HTTP", "HTTPS"'],
    ],
    [
      "a probe's header",
      { livenessProbe: { httpGet: { port: 1, httpHeaders: [{ name: "a b", value: "" }] } } },
      [`livenessProbe.httpGet.httpHeaders: Invalid value: "a b": an HTTP header name holds letters, digits and '-'`],
    ],
    ["a probe without command", { livenessProbe: { exec: {} } }, ["livenessProbe.exec.command: Required value"]],
    [
      "a sleep longer than the grace period",
      { lifecycle: { preStop: { sleep: { seconds: 31 } } } },
      [
        "lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)",
      ],
    ],
    [
      "privileged without escalation",
      { securityContext: { privileged: true, allowPrivilegeEscalation: false } },
      [
        'securityContext: Invalid value: {"allowPrivilegeEscalation":false}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
      ],
    ],
    [
      "SYS_ADMIN without escalation",
      { securityContext: { capabilities: { add: ["SYS_ADMIN"] }, allowPrivilegeEscalation: false } },
      [
        'securityContext: Invalid value: {"allowPrivilegeEscalation":false}: cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN',
      ],
    ],
    [
      "a proc mount",
      { securityContext: { procMount: "x" } },
      ['securityContext.procMount: Unsupported value: "x": supported values: "Default", "Unmasked"'],
    ],
    [
      "an unmasked /proc without a user namespace",
      { securityContext: { procMount: "Unmasked" } },
      ['securityContext.procMount: Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`'],
    ],
    [
      "a profile without need",
      { securityContext: { appArmorProfile: { type: "Unconfined", localhostProfile: "x" } } },
      [
        'securityContext.appArmorProfile.localhostProfile: Invalid value: "x": can only be set when the type is Localhost',
      ],
    ],
    [
      "a mount of no volume",
      { volumeMounts: [{ name: "x", mountPath: "/x" }] },
      ['volumeMounts[0].name: Not found: "x": spec.volumes has no volume of this name'],
    ],
  ])("%s", (_title, container, expected) => {
    expect(checkContainer(container)).toEqual(expected);
  });

  it("must use the container port as host port on the host network", () => {
    expect(checkContainer({ ports: [{ containerPort: 80, hostPort: 81 }] }, { hostNetwork: true })).toEqual([
      "ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is true",
    ]);
  });
  it.each<[string, NonNullable<Container["volumeMounts"]>, readonly string[]]>([
    [
      "one path twice",
      [
        { name: "v", mountPath: "/x" },
        { name: "v", mountPath: "/x" },
      ],
      ['volumeMounts[1].mountPath: Invalid value: "/x": must be unique'],
    ],
    ["no path", [{ name: "v", mountPath: "" }], ["volumeMounts[0].mountPath: Required value"]],
    [
      "an absolute subPath",
      [{ name: "v", mountPath: "/x", subPath: "/a" }],
      ['volumeMounts[0].subPath: Invalid value: "/a": must be a relative path'],
    ],
    [
      "a climbing subPath",
      [{ name: "v", mountPath: "/x", subPath: "a/../.." }],
      [`volumeMounts[0].subPath: Invalid value: "a/../..": must not contain '..'`],
    ],
    [
      "subPath and subPathExpr",
      [{ name: "v", mountPath: "/x", subPath: "a", subPathExpr: "b" }],
      ['volumeMounts[0].subPathExpr: Invalid value: "b": subPathExpr and subPath are mutually exclusive'],
    ],
    [
      "bidirectional propagation",
      [{ name: "v", mountPath: "/x", mountPropagation: "Bidirectional" }],
      [
        "volumeMounts[0].mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers",
      ],
    ],
    [
      "recursive read-only that is not read-only",
      [{ name: "v", mountPath: "/x", recursiveReadOnly: "Enabled" }],
      ["volumeMounts[0].recursiveReadOnly: Forbidden: may only be specified when readOnly is true"],
    ],
  ])("mounts: %s", (_title, volumeMounts, expected) => {
    expect(checkContainer({ volumeMounts }, { volumes: [{ name: "v" }] })).toEqual(expected);
  });
});

describe("volumes", () => {
  type Volume = NonNullable<PodSpec["volumes"]>[number];
  it.each<[string, readonly Volume[], readonly string[]]>([
    ["no name", [{ name: "" }], ["[0].name: Required value"]],
    ["a bad name", [{ name: "A" }], [`[0].name: Invalid value: "A": ${LABEL}`]],
    ["one name twice", [{ name: "a" }, { name: "a" }], ['[1].name: Duplicate value: "a"']],
    [
      "two sources",
      [{ name: "a", emptyDir: {}, hostPath: { path: "/x" } }],
      ["[0].hostPath: Forbidden: may not specify more than 1 volume type"],
    ],
    ["no host path", [{ name: "a", hostPath: { path: "" } }], ["[0].hostPath.path: Required value"]],
    [
      "a host path that climbs",
      [{ name: "a", hostPath: { path: "/a/../b" } }],
      [`[0].hostPath.path: Invalid value: "/a/../b": must not contain '..'`],
    ],
    [
      "a type of host path",
      [{ name: "a", hostPath: { path: "/a", type: "x" } }],
      [
        '[0].hostPath.type: Unsupported value: "x": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
      ],
    ],
    [
      "a negative size",
      [{ name: "a", emptyDir: { sizeLimit: "-1" } }],
      ["[0].emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity"],
    ],
    [
      "a file mode",
      [{ name: "a", configMap: { name: "c", defaultMode: 0o1000 } }],
      ["[0].configMap.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive"],
    ],
    [
      "a key without path",
      [{ name: "a", secret: { secretName: "s", items: [{ key: "k", path: "" }] } }],
      ["[0].secret.items[0].path: Required value"],
    ],
    [
      "a reserved path",
      [{ name: "a", secret: { secretName: "s", items: [{ key: "k", path: "..data" }] } }],
      [`[0].secret.items[0].path: Invalid value: "..data": must not start with '..'`],
    ],
    [
      "a downward file of nothing",
      [{ name: "a", downwardAPI: { items: [{ path: "p" }] } }],
      ["[0].downwardAPI.items[0]: Required value: one of fieldRef and resourceFieldRef is required"],
    ],
    [
      "a downward resource without container",
      [{ name: "a", downwardAPI: { items: [{ path: "p", resourceFieldRef: { resource: "limits.cpu" } }] } }],
      ["[0].downwardAPI.items[0].resourceFieldRef.containerName: Required value"],
    ],
    [
      "one projected path twice",
      [
        {
          name: "a",
          projected: {
            sources: [
              { configMap: { name: "c", items: [{ key: "k", path: "p" }] } },
              { secret: { name: "s", items: [{ key: "k", path: "p" }] } },
            ],
          },
        },
      ],
      ['[0].projected.sources[1]: Invalid value: "p": conflicting duplicate paths'],
    ],
    [
      "a short-lived token",
      [{ name: "a", projected: { sources: [{ serviceAccountToken: { path: "t", expirationSeconds: 1 } }] } }],
      [
        "[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes",
      ],
    ],
    [
      "an NFS path",
      [{ name: "a", nfs: { server: "s", path: "x" } }],
      ['[0].nfs.path: Invalid value: "x": must be an absolute path'],
    ],
    ["an image without reference", [{ name: "a", image: {} }], ["[0].image.reference: Required value"]],
    [
      "a claim without name",
      [{ name: "a", persistentVolumeClaim: { claimName: "" } }],
      ["[0].persistentVolumeClaim.claimName: Required value"],
    ],
  ])("%s", (_title, volumes, expected) => {
    expect(check({ volumes })).toEqual(expected.map((line) => `spec.volumes${line}`));
  });
});

it("lists at most 100 violations", () => {
  expect(check({ containers: Array.from({ length: 300 }, () => ({ name: "A", image: "" })) })).toHaveLength(100);
});

describe("keys of files", () => {
  const volumes = [
    { name: "data", emptyDir: {} },
    { name: "host", hostPath: { path: "/x" } },
  ];
  const good = { volumeName: "data", path: "conf/env", key: "WORD" };
  it.each([
    [{}, []],
    [{ volumeName: "" }, ["volumeName: Required value"]],
    [{ volumeName: "none" }, ['volumeName: Not found: "none": spec.volumes has no volume of this name']],
    [{ volumeName: "host" }, ['volumeName: Invalid value: "host": referenced volume must be of type emptyDir']],
    [{ path: "" }, ["path: Required value"]],
    [{ path: "/etc/shadow" }, ['path: Invalid value: "/etc/shadow": must be a relative path']],
    [{ path: "a/../../b" }, [`path: Invalid value: "a/../../b": must not contain '..'`]],
    [{ key: "" }, ["key: Required value"]],
    [
      { key: "A=" },
      [`key: Invalid value: "A=": an environment variable name holds printable ASCII characters other than '='`],
    ],
  ])("with %j", (wrong, expected) => {
    const env = [{ name: "A", valueFrom: { fileKeyRef: { ...good, ...wrong } } }];
    const reported = checkContainer({ env }, { volumes }).map((line) =>
      line.replace("env[0].valueFrom.fileKeyRef.", ""),
    );
    expect(reported).toEqual(expected);
  });
});
