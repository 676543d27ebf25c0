import { describe, expect, it } from "vitest";
import type { Container, PodSpec } from "../../../../src/core/api.ts";
import { defaultPod } from "../../../../src/core/pod/defaults.ts";
import { validatePod } from "../../../../src/core/pod/validatePod.ts";

const MAIN: Container = { name: "main", image: "app:1" };
const INT32 = 2 ** 31 - 1;

const problemsOf = (spec: Partial<PodSpec>): readonly string[] =>
  validatePod(
    defaultPod({ metadata: { name: "web", namespace: "default", uid: "u" }, spec: { containers: [MAIN], ...spec } }),
  ).map(({ field, reason }) => `${field}: ${reason}`);
const inContainer = (more: Partial<Container>): Partial<PodSpec> => ({ containers: [{ ...MAIN, ...more }] });
const probe = (more: object): Partial<PodSpec> =>
  inContainer({ livenessProbe: { tcpSocket: { port: 1 }, ...more }, readinessProbe: { tcpSocket: { port: 1 } } });
const many = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);
const searches = (characters: number): string[] => {
  // Nine paths of 200 characters and nine spaces before the last path.
  const last = characters - 9 * 201;
  return [...many(9).map(() => `${"a".repeat(49)}.`.repeat(4).slice(0, -1).concat("a")), "b".repeat(last)].map((path) =>
    path.replace(/(.{60})(?=.)/g, (part) => `${part.slice(0, 59)}.`),
  );
};

type Projection = NonNullable<NonNullable<NonNullable<PodSpec["volumes"]>[number]["projected"]>["sources"]>[number];
const projected = (...sources: readonly object[]): Partial<PodSpec> => ({
  volumes: [{ name: "v", projected: { sources: sources } }],
});

const requiring = (term: object): Partial<PodSpec> => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } },
});

interface Bound {
  readonly of: string;
  readonly fits: readonly unknown[];
  readonly fails: readonly unknown[];
  readonly spec: (value: never) => Partial<PodSpec>;
}

const BOUNDS: readonly Bound[] = [
  {
    of: "activeDeadlineSeconds",
    fits: [1, INT32],
    fails: [0, INT32 + 1],
    spec: (activeDeadlineSeconds: number) => ({ activeDeadlineSeconds }),
  },
  {
    of: "terminationGracePeriodSeconds",
    fits: [0, 1],
    fails: [-1],
    spec: (terminationGracePeriodSeconds: number) => ({ terminationGracePeriodSeconds }),
  },
  {
    of: "containerPort",
    fits: [1, 65_535],
    fails: [65_536, -1],
    spec: (containerPort: number) => inContainer({ ports: [{ containerPort }] }),
  },
  {
    of: "hostPort",
    fits: [1, 65_535],
    fails: [65_536, -1],
    spec: (hostPort: number) => inContainer({ ports: [{ containerPort: 1, hostPort }] }),
  },
  {
    of: "port name",
    fits: ["a".repeat(15)],
    fails: ["a".repeat(16)],
    spec: (name: string) => inContainer({ ports: [{ containerPort: 1, name }] }),
  },
  {
    of: "probe port",
    fits: [1, 65_535],
    fails: [0, 65_536],
    spec: (port: number) => probe({ tcpSocket: { port } }),
  },
  ...["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "failureThreshold"].map((field) => ({
    of: `probe ${field}`,
    fits: [1],
    fails: [-1],
    spec: (value: number) => probe({ [field]: value }),
  })),
  {
    of: "liveness successThreshold",
    fits: [1],
    fails: [2],
    spec: (successThreshold: number) => probe({ successThreshold }),
  },
  {
    of: "probe grace period",
    fits: [1],
    fails: [0, -1],
    spec: (terminationGracePeriodSeconds: number) => probe({ terminationGracePeriodSeconds }),
  },
  {
    of: "sleep of a hook",
    fits: [0, 30],
    fails: [-1, 31],
    spec: (seconds: number) => inContainer({ lifecycle: { preStop: { sleep: { seconds } } } }),
  },
  {
    of: "file mode",
    fits: [0, 0o777],
    fails: [-1, 0o1000],
    spec: (defaultMode: number) => ({ volumes: [{ name: "v", configMap: { name: "c", defaultMode } }] }),
  },
  {
    of: "lifetime of a projected token",
    fits: [undefined, 600, 2 ** 32],
    fails: [599, 2 ** 32 + 1],
    spec: (expirationSeconds: number) => projected({ serviceAccountToken: { path: "t", expirationSeconds } }),
  },
  {
    of: "file mode of a projection",
    fits: [0, 0o777],
    fails: [-1, 0o1000],
    spec: (mode: number) => projected({ secret: { name: "s", items: [{ key: "k", path: "p", mode }] } }),
  },
  {
    of: "file mode of a field",
    fits: [0, 0o777],
    fails: [-1, 0o1000],
    spec: (mode: number) =>
      projected({ downwardAPI: { items: [{ path: "p", mode, fieldRef: { fieldPath: "metadata.name" } }] } }),
  },
  {
    of: "sources of a projection",
    fits: [{ secret: { name: "s" } }, { configMap: { name: "s" } }],
    fails: [{ secret: { name: "s" }, configMap: { name: "s" } }, { secret: {} }, { configMap: {} }],
    spec: (source: Projection) => projected(source),
  },
  {
    of: "paths of two projections",
    fits: [
      ["a", "b"],
      ["", ""],
    ],
    fails: [["a", "a"]],
    spec: ([one = "", two = ""]: readonly string[]) =>
      projected(
        { secret: { name: "s", ...(one === "" ? {} : { items: [{ key: "k", path: one }] }) } },
        { configMap: { name: "c", ...(two === "" ? {} : { items: [{ key: "k", path: two }] }) } },
      ),
  },
  {
    of: "runAsUser",
    fits: [0, INT32],
    fails: [-1, INT32 + 1],
    spec: (runAsUser: number) => ({ securityContext: { runAsUser } }),
  },
  {
    of: "fsGroup",
    fits: [0, INT32],
    fails: [-1, INT32 + 1],
    spec: (fsGroup: number) => ({ securityContext: { fsGroup } }),
  },
  {
    of: "preference weight",
    fits: [1, 100],
    fails: [0, 101, undefined],
    spec: (weight: number) => ({
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight, preference: { matchExpressions: [{ key: "a", operator: "Exists" }] } },
          ],
        },
      },
    }),
  },
  {
    of: "number of nameservers",
    fits: [3],
    fails: [4],
    spec: (count: number) => ({ dnsConfig: { nameservers: many(count).map((index) => `10.0.0.${index}`) } }),
  },
  {
    of: "number of search paths",
    fits: [32],
    fails: [33],
    spec: (count: number) => ({ dnsConfig: { searches: many(count).map((index) => `d${index}`) } }),
  },
  {
    of: "length of the search list",
    fits: [2048],
    fails: [2049],
    spec: (characters: number) => ({ dnsConfig: { searches: searches(characters) } }),
  },
  {
    of: "length of hostnameOverride",
    fits: [64],
    fails: [65],
    spec: (length: number) => ({ hostnameOverride: `${"a".repeat(31)}.${"b".repeat(length - 32)}` }),
  },
  {
    of: "host aliases' address",
    fits: ["255.255.255.255", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::"],
    fails: ["255.255.255.256", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8::"],
    spec: (ip: string) => ({ hostAliases: [{ ip, hostnames: ["a"] }] }),
  },
  {
    of: "number of restart rules",
    fits: [20],
    fails: [21],
    spec: (count: number) =>
      inContainer({
        restartPolicy: "Never",
        restartPolicyRules: many(count).map(() => ({ action: "Restart", exitCodes: { operator: "In", values: [1] } })),
      }),
  },
  {
    of: "number of exit codes",
    fits: [255],
    fails: [256],
    spec: (count: number) =>
      inContainer({
        restartPolicy: "Never",
        restartPolicyRules: [
          { action: "Restart", exitCodes: { operator: "In", values: many(count).map((n) => n + 1) } },
        ],
      }),
  },
  {
    of: "request",
    fits: ["0", "1"],
    fails: ["-1", "1001m"],
    spec: (cpu: string) => inContainer({ resources: { requests: { cpu }, limits: { cpu: "1" } } }),
  },
  {
    of: "container limit below the pod's",
    fits: ["1", "999m"],
    fails: ["1001m"],
    spec: (cpu: string) => ({
      resources: { limits: { cpu: "1" } },
      ...inContainer({ resources: { limits: { cpu }, requests: { cpu: "1m" } } }),
    }),
  },
  {
    of: "container request below the pod's",
    fits: ["1", "999m"],
    fails: ["1001m"],
    spec: (cpu: string) => ({
      resources: { requests: { cpu: "1" } },
      ...inContainer({ resources: { requests: { cpu } } }),
    }),
  },
  {
    of: "field of a variable",
    fits: [
      ...["metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName"],
      ...["status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"],
      ...["metadata.labels['a/b']", "metadata.annotations['A/b']"],
    ],
    fails: ["metadata.labels", "metadata.annotations", "metadata.labels['A b']", "spec.x", ""],
    spec: (fieldPath: string) => inContainer({ env: [{ name: "E", valueFrom: { fieldRef: { fieldPath } } }] }),
  },
  {
    of: "field of a volume",
    fits: [
      ...["metadata.name", "metadata.namespace", "metadata.uid", "metadata.labels", "metadata.annotations"],
      ...["metadata.labels['a/b']", "metadata.annotations['A/b']"],
    ],
    fails: ["status.podIP", "spec.nodeName", "metadata.labels['']", ""],
    spec: (fieldPath: string) => ({
      volumes: [{ name: "v", downwardAPI: { items: [{ path: "p", fieldRef: { fieldPath } }] } }],
    }),
  },
  {
    of: "resource of a variable",
    fits: ["cpu", "memory", "ephemeral-storage", "hugepages-2Mi"].flatMap((name) => [
      `limits.${name}`,
      `requests.${name}`,
    ]),
    fails: ["limits.x", "cpu", "limits", ""],
    spec: (resource: string) => inContainer({ env: [{ name: "E", valueFrom: { resourceFieldRef: { resource } } }] }),
  },
  {
    of: "container of a resource in a volume",
    fits: ["main"],
    fails: ["", undefined],
    spec: (containerName: string) => ({
      volumes: [
        {
          name: "v",
          downwardAPI: { items: [{ path: "p", resourceFieldRef: { resource: "limits.cpu", containerName } }] },
        },
      ],
    }),
  },
  {
    of: "divisor of memory",
    fits: ["", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].map((unit) => `1${unit}`),
    fails: ["2", "1m", "2Mi"],
    spec: (divisor: string) =>
      inContainer({ env: [{ name: "E", valueFrom: { resourceFieldRef: { resource: "limits.memory", divisor } } }] }),
  },
  {
    of: "source of a variable",
    fits: [{ configMapKeyRef: { name: "c", key: "k" } }, { secretKeyRef: { name: "s", key: "k" } }],
    fails: [
      {},
      { configMapKeyRef: { name: "c", key: "" } },
      { secretKeyRef: { name: "s" } },
      { secretKeyRef: { name: "S", key: "k" } },
      { configMapKeyRef: { name: "c", key: "k" }, secretKeyRef: { name: "s", key: "k" } },
      { fileKeyRef: { volumeName: "v", path: "p", key: "K" } },
    ],
    spec: (valueFrom: object) => inContainer({ env: [{ name: "E", valueFrom }] }),
  },
  {
    of: "file of a variable",
    fits: [{ volumeName: "v", path: "p", key: "K" }],
    fails: [
      { volumeName: "", path: "p", key: "K" },
      { volumeName: "none", path: "p", key: "K" },
      { volumeName: "host", path: "p", key: "K" },
      { volumeName: "v", path: "", key: "K" },
      { volumeName: "v", path: "../p", key: "K" },
      { volumeName: "v", path: "p", key: "" },
      { volumeName: "v", path: "p", key: "=" },
    ],
    spec: (fileKeyRef: { volumeName: string; path: string; key: string }) => ({
      ...inContainer({ env: [{ name: "E", valueFrom: { fileKeyRef } }] }),
      volumes: [
        { name: "v", emptyDir: {} },
        { name: "host", hostPath: { path: "/x" } },
      ],
    }),
  },
  {
    of: "source of variables",
    fits: [{ configMapRef: { name: "c" } }, { secretRef: { name: "s" } }, { prefix: "P_", secretRef: { name: "s" } }],
    fails: [
      {},
      { configMapRef: { name: "" } },
      { secretRef: {} },
      { secretRef: { name: "S" } },
      { prefix: "=", secretRef: { name: "s" } },
      { configMapRef: { name: "c" }, secretRef: { name: "s" } },
    ],
    spec: (source: object) => inContainer({ envFrom: [source] }),
  },
  {
    of: "node selector requirement",
    fits: [
      { key: "a", operator: "In", values: ["x"] },
      { key: "a", operator: "NotIn", values: ["x", "y"] },
      { key: "a", operator: "Exists" },
      { key: "a", operator: "DoesNotExist" },
      { key: "a", operator: "Gt", values: ["1"] },
      { key: "a", operator: "Lt", values: ["1"] },
    ],
    fails: [
      { key: "a", operator: "In" },
      { key: "a", operator: "NotIn", values: [] },
      { key: "a", operator: "Exists", values: ["x"] },
      { key: "a", operator: "DoesNotExist", values: ["x"] },
      { key: "a", operator: "Gt", values: ["1", "2"] },
      { key: "a", operator: "Lt", values: [] },
      { key: "a", operator: "Near", values: ["x"] },
      { key: "a b", operator: "Exists" },
      { key: "a", operator: "In", values: ["b c"] },
    ],
    spec: (requirement: { key: string; operator: string }) => requiring({ matchExpressions: [requirement] }),
  },
  {
    of: "node field requirement",
    fits: [
      { key: "metadata.name", operator: "In", values: ["x"] },
      { key: "metadata.name", operator: "NotIn", values: ["x"] },
    ],
    fails: [
      { key: "metadata.name", operator: "Exists" },
      { key: "metadata.name", operator: "In", values: ["x", "y"] },
      { key: "metadata.name", operator: "NotIn", values: [] },
      { key: "metadata.uid", operator: "In", values: ["x"] },
      { key: "metadata.name", operator: "In", values: ["X"] },
    ],
    spec: (requirement: { key: string; operator: string }) => requiring({ matchFields: [requirement] }),
  },
  {
    of: "toleration",
    fits: [
      { key: "a", operator: "Exists" },
      { operator: "Exists" },
      { key: "a", operator: "Equal", value: "x" },
      { key: "a", value: "x" },
      { key: "a", effect: "NoSchedule" },
      { key: "a", effect: "PreferNoSchedule" },
      { key: "a", effect: "NoExecute", tolerationSeconds: 1 },
    ],
    fails: [
      { operator: "Equal" },
      {},
      { key: "a b", operator: "Exists" },
      { key: "a", operator: "Exists", value: "x" },
      { key: "a", operator: "Equal", value: "b c" },
      { key: "a", operator: "Near" },
      { key: "a", effect: "Never" },
      { key: "a", effect: "NoSchedule", tolerationSeconds: 1 },
      { key: "a", tolerationSeconds: 1 },
    ],
    spec: (toleration: object) => ({ tolerations: [toleration] }),
  },
  {
    of: "divisor of CPU",
    fits: ["1", "1m", "0"],
    fails: ["2", "2m"],
    spec: (divisor: string) =>
      inContainer({ env: [{ name: "E", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor } } }] }),
  },
];

describe("the bounds of a pod's fields", () => {
  it.each(BOUNDS)("$of fits: $fits, fails: $fails", ({ fits, fails, spec }) => {
    expect(fits.map((value) => problemsOf(spec(value as never)))).toEqual(fits.map(() => []));
    expect(fails.map((value) => problemsOf(spec(value as never)).length)).toEqual(fails.map(() => 1));
  });

  it("report at most 100 problems", () => {
    const env = many(101).map((index) => ({ name: `=${index}`, value: "" }));
    expect(problemsOf(inContainer({ env })).length).toBe(100);
    expect(problemsOf(inContainer({ env: env.slice(2) })).length).toBe(99);
  });
});
