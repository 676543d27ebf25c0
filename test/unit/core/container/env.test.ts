import { describe, expect, it } from "vitest";
import type { Container } from "../../../../src/core/api.ts";
import { type ConfigObject, configObjectsOf } from "../../../../src/core/configObjects.ts";
import { containerEnvironment } from "../../../../src/core/container/env.ts";
import { expand } from "../../../../src/core/container/expansion.ts";
import { formatStringMap } from "../../../../src/core/container/fieldRef.ts";
import { hostIpUnknown } from "../../../../src/core/node/hostIps.ts";
import { type ServiceForEnv, serviceEnvironment } from "../../../../src/core/container/serviceEnv.ts";
import { containerOf, podOf, type PodParts } from "../../../support/pods.ts";

const kubernetes: ServiceForEnv = {
  name: "kubernetes",
  namespace: "default",
  clusterIp: "10.2.0.1",
  ports: [{ name: "https", port: 443, protocol: "TCP" }],
};
const KUBERNETES_ENV = [
  { name: "KUBERNETES_SERVICE_HOST", value: "10.2.0.1" },
  { name: "KUBERNETES_SERVICE_PORT", value: "443" },
  { name: "KUBERNETES_SERVICE_PORT_HTTPS", value: "443" },
  { name: "KUBERNETES_PORT", value: "tcp://10.2.0.1:443" },
  { name: "KUBERNETES_PORT_443_TCP", value: "tcp://10.2.0.1:443" },
  { name: "KUBERNETES_PORT_443_TCP_PROTO", value: "tcp" },
  { name: "KUBERNETES_PORT_443_TCP_PORT", value: "443" },
  { name: "KUBERNETES_PORT_443_TCP_ADDR", value: "10.2.0.1" },
];

describe("expand", () => {
  const values: Readonly<Record<string, string>> = { A: "1", "B-B": "two", EMPTY: "" };
  it.each([
    ["$(A)-$(B-B)", "1-two"],
    ["[$(EMPTY)]", "[]"],
    ["$(NONE) stays", "$(NONE) stays"],
    ["$$(A)", "$(A)"],
    ["$$$(A)", "$1"],
    ["$A $ $", "$A $ $"],
    ["$(A", "$(A"],
    ["$(outer $(A))", "$(outer $(A))"],
  ])("%s becomes %s", (text, expected) => {
    expect(expand(text, (name) => values[name], 100)).toBe(expected);
  });
});

describe("serviceEnvironment", () => {
  const redis = { name: "redis-main", namespace: "demo", clusterIp: "10.2.0.7", ports: [{ port: 6379 }] };
  const others: readonly ServiceForEnv[] = [
    { ...redis, name: "other", namespace: "elsewhere" },
    { ...redis, name: "headless", clusterIp: "None" },
    { ...redis, name: "portless", ports: [] },
  ];

  it("includes named ports, writes protocols in lower case and IPv6 addresses in brackets", () => {
    const ports = [
      { name: "dns-udp", port: 53, protocol: "UDP" },
      { name: "dns", port: 53 },
    ];
    const dns = { name: "dns", namespace: "demo", clusterIp: "fd00::a", ports };
    expect(serviceEnvironment([dns], "demo", true)).toEqual([
      { name: "DNS_SERVICE_HOST", value: "fd00::a" },
      { name: "DNS_SERVICE_PORT", value: "53" },
      { name: "DNS_SERVICE_PORT_DNS_UDP", value: "53" },
      { name: "DNS_SERVICE_PORT_DNS", value: "53" },
      { name: "DNS_PORT", value: "udp://[fd00::a]:53" },
      { name: "DNS_PORT_53_UDP", value: "udp://[fd00::a]:53" },
      { name: "DNS_PORT_53_UDP_PROTO", value: "udp" },
      { name: "DNS_PORT_53_UDP_PORT", value: "53" },
      { name: "DNS_PORT_53_UDP_ADDR", value: "fd00::a" },
      { name: "DNS_PORT_53_TCP", value: "tcp://[fd00::a]:53" },
      { name: "DNS_PORT_53_TCP_PROTO", value: "tcp" },
      { name: "DNS_PORT_53_TCP_PORT", value: "53" },
      { name: "DNS_PORT_53_TCP_ADDR", value: "fd00::a" },
    ]);
  });

  it("prefers the service `kubernetes` of the pod's own namespace when service links are on", () => {
    const own = { ...kubernetes, namespace: "demo", clusterIp: "10.2.0.9" };
    const hosts = (links: boolean) =>
      serviceEnvironment([kubernetes, own], "demo", links).find(({ name }) => name === "KUBERNETES_SERVICE_HOST")
        ?.value;
    expect([hosts(true), hosts(false)]).toEqual(["10.2.0.9", "10.2.0.1"]);
  });

  it("always includes the API server's service, others only from the pod's namespace when service links are on", () => {
    expect(serviceEnvironment([kubernetes, redis, ...others], "demo", false)).toEqual(KUBERNETES_ENV);
    expect(serviceEnvironment([redis, ...others], "demo", true)).toEqual([
      { name: "REDIS_MAIN_SERVICE_HOST", value: "10.2.0.7" },
      { name: "REDIS_MAIN_SERVICE_PORT", value: "6379" },
      { name: "REDIS_MAIN_PORT", value: "tcp://10.2.0.7:6379" },
      { name: "REDIS_MAIN_PORT_6379_TCP", value: "tcp://10.2.0.7:6379" },
      { name: "REDIS_MAIN_PORT_6379_TCP_PROTO", value: "tcp" },
      { name: "REDIS_MAIN_PORT_6379_TCP_PORT", value: "6379" },
      { name: "REDIS_MAIN_PORT_6379_TCP_ADDR", value: "10.2.0.7" },
    ]);
  });
});

type EnvVars = NonNullable<Container["env"]>;
interface EnvCase {
  readonly pod?: PodParts;
  readonly container?: Partial<Container>;
  readonly services?: readonly ServiceForEnv[];
  readonly objects?: readonly ConfigObject[];
  readonly nodeIps?: readonly string[];
  readonly podIps?: readonly string[];
}
const POD_IPS = ["10.1.0.5", "2001:db8::5"];
const NODE_IPS = ["192.0.2.10", "2001:db8::1"];
const environment = (env: EnvVars, given: EnvCase = {}) => {
  const { pod = {}, container = {}, services = [], objects = [], nodeIps = NODE_IPS, podIps = POD_IPS } = given;
  const main = containerOf({ env, ...container });
  return containerEnvironment({
    pod: podOf({ ...pod, spec: { containers: [main], ...pod.spec } }),
    container: main,
    addresses: { podIps, nodeIps },
    objects: configObjectsOf(objects, services),
    files: new Map([["v/env", { path: "/v/env", content: { ok: true, value: "K='from file'" } }]]),
    node: { allocatable: { cpu: "2", memory: "4Gi", pods: "110" }, hostIpUnknown: "host IP unknown" },
  });
};
const ok = (pairs: Readonly<Record<string, string>>) => ({
  ok: true,
  value: Object.entries(pairs).map(([name, value]) => ({ name, value })),
});
const refused = (message: string, code = "InvalidArgument") => ({
  ok: false,
  error: {
    code,
    reason: "CreateContainerConfigError",
    message,
    retryable: false,
  },
});

describe("containerEnvironment", () => {
  it("keeps the declaration order; later variables can refer to earlier ones, and a repeated one gets its last value", () => {
    const env = [
      { name: "A", value: "1" },
      { name: "B", value: "$(A)$(C)" },
      { name: "C", value: "3" },
      { name: "A", value: "$(A)0" },
      { name: "D" },
    ];
    expect(environment(env)).toEqual(ok({ A: "10", B: "1$(C)", C: "3", D: "" }));
  });

  it("appends services unless the container sets the variable itself; references can use them", () => {
    const env = [
      { name: "API", value: "$(KUBERNETES_SERVICE_HOST)" },
      { name: "KUBERNETES_PORT", value: "mine" },
    ];
    const rest = KUBERNETES_ENV.filter(({ name }) => name !== "KUBERNETES_PORT");
    expect(environment(env, { services: [kubernetes] })).toEqual({
      ok: true,
      value: [{ name: "API", value: "10.2.0.1" }, { name: "KUBERNETES_PORT", value: "mine" }, ...rest],
    });
  });

  it.each([
    ["metadata.name", "plain"],
    ["metadata.namespace", "demo"],
    ["metadata.uid", "uid-1"],
    ["metadata.labels['app.example/x']", "y"],
    ["metadata.labels['none']", ""],
    ["metadata.annotations['note']", "it's"],
    ["metadata.annotations", 'note="it\'s"'],
    ["spec.nodeName", "node-1"],
    ["spec.serviceAccountName", "robot"],
    ["status.hostIP", "192.0.2.10"],
    ["status.hostIPs", "192.0.2.10,2001:db8::1"],
    ["status.podIP", "10.1.0.5"],
    ["status.podIPs", "10.1.0.5,2001:db8::5"],
  ])("returns field %s", (fieldPath, expected) => {
    const pod = {
      labels: { "app.example/x": "y" },
      annotations: { note: "it's" },
      spec: { nodeName: "node-1", serviceAccountName: "robot" },
    };
    expect(environment([{ name: "F", valueFrom: { fieldRef: { fieldPath } } }], { pod })).toEqual(ok({ F: expected }));
  });

  const limits = { cpu: "1500m", "hugepages-2Mi": "4Mi" };
  const container = { resources: { requests: { cpu: "250m", memory: "100Mi" }, limits } };
  it.each([
    [{ resource: "limits.cpu" }, "2"],
    [{ resource: "limits.cpu", divisor: "1m" }, "1500"],
    [{ resource: "limits.cpu", divisor: "0" }, "2"],
    [{ resource: "requests.memory", divisor: "1Mi" }, "100"],
    [{ resource: "requests.memory", divisor: "1Gi" }, "1"],
    [{ resource: "limits.memory" }, "4294967296"],
    [{ resource: "limits.hugepages-2Mi" }, "4194304"],
    [{ resource: "requests.ephemeral-storage" }, "0"],
    [{ resource: "requests.cpu", containerName: "init", divisor: "1m" }, "700"],
  ])("returns resource %j, rounded up, with the node's as the default limit", (resourceFieldRef, expected) => {
    const pod = { spec: { initContainers: [containerOf({ name: "init", resources: { requests: { cpu: "700m" } } })] } };
    const env = [{ name: "R", valueFrom: { resourceFieldRef } }];
    expect(environment(env, { pod, container })).toEqual(ok({ R: expected }));
  });

  it.each([
    ["limits.memory", "1024"],
    ["limits.cpu", "2"],
    ["limits.ephemeral-storage", "0"],
    ["limits.hugepages-1Gi", "0"],
  ])("returns the pod-level %s for a container without one, where pod-level resources exist", (resource, expected) => {
    const limits = { memory: "1Gi", cpu: "4", "hugepages-1Gi": "2Gi", "ephemeral-storage": "1Gi" };
    const env = [
      {
        name: "R",
        valueFrom: { resourceFieldRef: { resource, ...(resource === "limits.memory" && { divisor: "1Mi" }) } },
      },
    ];
    const limited = { resources: { limits: { cpu: "1500m" } } };
    expect(environment(env, { pod: { spec: { resources: { limits } } }, container: limited })).toEqual(
      ok({ R: expected }),
    );
  });

  it.each<[EnvVars[number]["valueFrom"], string, string?]>([
    [{ fieldRef: { fieldPath: "spec.restartPolicy" } }, "field label not supported: spec.restartPolicy"],
    [{ resourceFieldRef: { resource: "limits.gpu" } }, "unsupported container resource : limits.gpu"],
    [
      { resourceFieldRef: { resource: "limits.cpu", divisor: "0m" } },
      "unsupported container resource : limits.cpu divided by 0m",
    ],
    [
      { resourceFieldRef: { resource: "limits.cpu", divisor: "-1" } },
      "unsupported container resource : limits.cpu divided by -1",
    ],
    [
      { resourceFieldRef: { resource: "limits.cpu", containerName: "none", divisor: "x" } },
      "unsupported container resource : limits.cpu of container none divided by x",
    ],
  ])("rejects %j by name", (valueFrom, message, code) => {
    const env = [{ name: "V", ...(valueFrom && { valueFrom }) }];
    expect(environment(env)).toEqual(refused(message, code));
  });

  it("uses keys of files, and omits optional missing ones", () => {
    const fileKeyRef = { volumeName: "v", path: "env", key: "K" };
    const env = [
      { name: "F", valueFrom: { fileKeyRef } },
      { name: "G", valueFrom: { fileKeyRef: { ...fileKeyRef, key: "none", optional: true } } },
      { name: "H", value: "$(F)$(G)" },
    ];
    expect(environment(env)).toEqual(ok({ F: "from file", H: "from file$(G)" }));
  });

  const web = { kind: "ConfigMap", metadata: { name: "web", namespace: "demo" } } as const;
  const login = { kind: "Secret", metadata: { name: "login", namespace: "demo" } } as const;
  const objects: readonly ConfigObject[] = [
    { ...web, data: { MODE: "fast", "a.b-c": "$(MODE)" }, binaryData: { BLOB: "/wA=" } },
    { ...web, metadata: { name: "web", namespace: "other" }, data: { MODE: "wrong namespace" } },
    { ...login, data: { USER: btoa("root"), MODE: btoa("secret") } },
  ];
  const fromWeb = { configMapRef: { name: "web" } };
  const fromLogin = { secretRef: { name: "login" } };
  const lost = (message: string) => ({
    ok: false,
    error: { code: "NotFound", reason: "CreateContainerConfigError", message, retryable: true },
  });
  type EnvFrom = NonNullable<Container["envFrom"]>;

  it.each<[string, EnvFrom, EnvVars, Readonly<Record<string, string>>]>([
    [
      "takes whole sources with any key, unexpanded, without binary data",
      [fromWeb],
      [],
      { MODE: "fast", "a.b-c": "$(MODE)" },
    ],
    [
      "a later source overrides an earlier one",
      [fromWeb, fromLogin],
      [],
      { MODE: "secret", "a.b-c": "$(MODE)", USER: "root" },
    ],
    [
      "puts the prefix before the keys",
      [{ ...fromWeb, prefix: "WEB_" }, fromLogin],
      [],
      { WEB_MODE: "fast", "WEB_a.b-c": "$(MODE)", MODE: "secret", USER: "root" },
    ],
    [
      "its own variables go over whole sources, and references see these",
      [fromLogin],
      [
        { name: "WHO", value: "$(USER)/$(MODE)" },
        { name: "MODE", value: "mine" },
      ],
      { MODE: "mine", USER: "root", WHO: "root/secret" },
    ],
    [
      "takes single keys, which later variables see",
      [],
      [
        { name: "M", valueFrom: { configMapKeyRef: { name: "web", key: "MODE" } } },
        { name: "U", valueFrom: { secretKeyRef: { name: "login", key: "USER" } } },
        { name: "BOTH", value: "$(M) $(U)" },
      ],
      { M: "fast", U: "root", BOTH: "fast root" },
    ],
    [
      "leaves out what is optional and not there: object, key, or key of binary data",
      [{ configMapRef: { name: "none", optional: true } }, { secretRef: { name: "none", optional: true } }],
      [
        { name: "A", valueFrom: { configMapKeyRef: { name: "none", key: "k", optional: true } } },
        { name: "B", valueFrom: { secretKeyRef: { name: "login", key: "none", optional: true } } },
        { name: "C", valueFrom: { configMapKeyRef: { name: "web", key: "BLOB", optional: true } } },
        { name: "D", value: "$(A)" },
      ],
      { D: "$(A)" },
    ],
  ])("%s", (_title, envFrom, env, expected) => {
    expect(environment(env, { container: { envFrom }, objects })).toEqual(ok(expected));
  });

  it.each<[EnvFrom, EnvVars, string]>([
    [[{ configMapRef: { name: "none" } }], [], 'configmap "none" not found'],
    [[{ secretRef: { name: "web" } }], [], 'secret "web" not found'],
    [[], [{ name: "V", valueFrom: { configMapKeyRef: { name: "login", key: "k" } } }], 'configmap "login" not found'],
    [[], [{ name: "V", valueFrom: { secretKeyRef: { name: "none", key: "k" } } }], 'secret "none" not found'],
    [
      [],
      [{ name: "V", valueFrom: { configMapKeyRef: { name: "web", key: "toString" } } }],
      "couldn't find key toString in ConfigMap demo/web",
    ],
    [
      [],
      [{ name: "V", valueFrom: { secretKeyRef: { name: "login", key: "PASS" } } }],
      "couldn't find key PASS in Secret demo/login",
    ],
  ])("reports for %j %j upstream's error", (envFrom, env, message) => {
    expect(environment(env, { container: { envFrom }, objects })).toEqual(lost(message));
  });
});

describe("pod IPs in a container's environment", () => {
  const podIps = ["2001:db8::5", "10.1.0.5", "10.1.0.6"];
  it.each([
    ["the family of the node first, one of each", ["2001:db8::1"], "2001:db8::5,10.1.0.5"],
    ["IPv4 first while the node has none", [], "10.1.0.5,2001:db8::5"],
  ])("are %s", (_title, nodeIps, expected) => {
    const env = ["status.podIP", "status.podIPs"].map((fieldPath) => ({
      name: fieldPath.slice("status.".length),
      valueFrom: { fieldRef: { fieldPath } },
    }));
    const [podIP = ""] = expected.split(",");
    expect(environment(env, { nodeIps, podIps })).toEqual(ok({ podIP, podIPs: expected }));
  });
});

describe("a node without known addresses", () => {
  const nameOnly = { status: { addresses: [{ type: "Hostname", address: "one" }] } };
  it.each([
    ["not known yet", undefined, "[{Hostname here}]"],
    ["without a status", {}, "[]"],
    ["of a cloud that has not set them", nameOnly, "[{Hostname one}]"],
  ])("%s is described as upstream does", (_title, node, known) => {
    expect(hostIpUnknown(node, { hostname: "here" })).toBe(`host IP unknown; known addresses: ${known}`);
  });

  it.each([
    ["status.hostIP", { ok: false, error: expect.objectContaining({ message: "host IP unknown", retryable: true }) }],
    ["status.hostIPs", { ok: false, error: expect.objectContaining({ reason: "CreateContainerConfigError" }) }],
    ["status.podIP", ok({ F: "10.1.0.5" })],
  ])("keeps only a container with %s waiting", (fieldPath, expected) => {
    const env = [{ name: "F", valueFrom: { fieldRef: { fieldPath } } }];
    expect(environment(env, { nodeIps: [] })).toEqual(expected);
  });
});

describe("downward API text", () => {
  it("formats maps sorted, with quoted values", () => {
    expect(formatStringMap({ b: "2", a: "one\n" })).toBe('a="one\\n"\nb="2"');
    expect(formatStringMap(undefined)).toBe("");
  });
});
