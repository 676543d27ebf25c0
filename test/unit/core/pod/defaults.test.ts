import { describe, expect, it } from "vitest";
import type { Container, PodSpec } from "../../../../src/core/api.ts";
import { defaultPod } from "../../../../src/core/pod/defaults.ts";

const container = (more: Partial<Container> = {}): Container => ({ name: "main", image: "app:1", ...more });
const specOf = (spec: Partial<PodSpec>): PodSpec => defaultPod({ spec: { containers: [container()], ...spec } }).spec;
const containerOf = (more: Partial<Container>, spec: Partial<PodSpec> = {}): Container | undefined =>
  specOf({ containers: [container(more)], ...spec }).containers[0];

const CONTAINER_DEFAULTS = {
  imagePullPolicy: "IfNotPresent",
  terminationMessagePath: "/dev/termination-log",
  terminationMessagePolicy: "File",
  resources: {},
};
const volumeOf = (volume: object) => specOf({ volumes: [{ name: "v", ...volume }] }).volumes?.[0];

describe("defaults of the pod", () => {
  it("applies all defaults of the API server to the smallest pod", () => {
    expect(defaultPod({ spec: { containers: [container()] } })).toEqual({
      spec: {
        containers: [container(CONTAINER_DEFAULTS)],
        restartPolicy: "Always",
        dnsPolicy: "ClusterFirst",
        schedulerName: "default-scheduler",
        terminationGracePeriodSeconds: 30,
        enableServiceLinks: true,
        securityContext: {},
      },
    });
  });
  it("gives a pod without spec one without containers", () => {
    expect(defaultPod({}).spec.containers).toEqual([]);
  });
  it("keeps set fields, including zero and false of optional fields", () => {
    const spec: PodSpec = {
      containers: [container({ ...CONTAINER_DEFAULTS, imagePullPolicy: "Never" })],
      restartPolicy: "Never",
      dnsPolicy: "None",
      schedulerName: "mine",
      terminationGracePeriodSeconds: 0,
      enableServiceLinks: false,
      securityContext: { runAsUser: 1 },
    };
    expect(defaultPod({ spec }).spec).toEqual(spec);
  });
  it("names sysctls with dots", () => {
    const named = (name: string) => ({ sysctls: [{ name, value: "1" }] });
    expect(specOf({ securityContext: named("net/ipv4/conf/eth0.1/forwarding") }).securityContext).toEqual(
      named("net.ipv4.conf.eth0/1.forwarding"),
    );
  });
  it("treats an empty string as unset", () => {
    const { restartPolicy, containers } = specOf({
      restartPolicy: "",
      containers: [container({ imagePullPolicy: "" })],
    });
    expect([restartPolicy, containers[0]?.imagePullPolicy]).toEqual(["Always", "IfNotPresent"]);
  });
  it.each([
    [{ serviceAccount: "a" }, "a", "a"],
    [{ serviceAccountName: "b" }, "b", "b"],
    [{ serviceAccountName: "b", serviceAccount: "a" }, "b", "b"],
    [{}, undefined, undefined],
  ])("reconciles the two names of the service account: %j", (given, name, deprecated) => {
    const { serviceAccountName, serviceAccount } = specOf(given);
    expect([serviceAccountName, serviceAccount]).toEqual([name, deprecated]);
  });
});

describe("defaults of containers", () => {
  it("always pulls the tag latest", () => {
    expect(containerOf({ image: "registry:5000/app" })?.imagePullPolicy).toBe("Always");
  });
  it("makes ports TCP", () => {
    expect(containerOf({ ports: [{ containerPort: 80 }] })?.ports).toEqual([{ containerPort: 80, protocol: "TCP" }]);
  });
  it("makes every port a host port on the host network, in init containers too", () => {
    const ports = [{ containerPort: 80 }, { containerPort: 81, hostPort: 81, protocol: "UDP" }];
    const spec = specOf({
      hostNetwork: true,
      containers: [container({ ports })],
      initContainers: [container({ ports })],
    });
    const expected = [
      { containerPort: 80, hostPort: 80, protocol: "TCP" },
      { containerPort: 81, hostPort: 81, protocol: "UDP" },
    ];
    expect([spec.containers[0]?.ports, spec.initContainers?.[0]?.ports]).toEqual([expected, expected]);
  });
  it("sets the API version of field references, and requires file keys", () => {
    const env = [
      { name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      { name: "B", value: "b" },
      { name: "C", valueFrom: { fileKeyRef: { volumeName: "v", path: "p", key: "k" } } },
      { name: "D", valueFrom: { fileKeyRef: { volumeName: "v", path: "p", key: "k", optional: true } } },
    ];
    expect(containerOf({ env })?.env).toEqual([
      { name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name", apiVersion: "v1" } } },
      { name: "B", value: "b" },
      { name: "C", valueFrom: { fileKeyRef: { volumeName: "v", path: "p", key: "k", optional: false } } },
      { name: "D", valueFrom: { fileKeyRef: { volumeName: "v", path: "p", key: "k", optional: true } } },
    ]);
  });
  it("leaves ports of ephemeral containers alone on the host network", () => {
    const ephemeral = { name: "debug", image: "app:1", ports: [{ containerPort: 80 }] };
    const { spec } = defaultPod({ spec: { hostNetwork: true, containers: [], ephemeralContainers: [ephemeral] } });
    expect(spec.ephemeralContainers?.[0]?.ports).toEqual([{ containerPort: 80, protocol: "TCP" }]);
  });
  it("fills in probes, HTTP handlers and gRPC services", () => {
    const timing = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
    const complete = containerOf({
      livenessProbe: { httpGet: { port: 80 } },
      readinessProbe: { grpc: { port: 90 }, periodSeconds: 5, failureThreshold: 0 },
      startupProbe: { grpc: { port: 90, service: "ready" }, timeoutSeconds: 7 },
      lifecycle: {
        preStop: { httpGet: { port: "web", scheme: "HTTPS", path: "/stop" } },
        postStart: { httpGet: { port: 1 } },
      },
    });
    expect(complete).toEqual({
      ...container(CONTAINER_DEFAULTS),
      livenessProbe: { ...timing, httpGet: { port: 80, path: "/", scheme: "HTTP" } },
      readinessProbe: { ...timing, periodSeconds: 5, grpc: { port: 90, service: "" } },
      startupProbe: { ...timing, timeoutSeconds: 7, grpc: { port: 90, service: "ready" } },
      lifecycle: {
        preStop: { httpGet: { port: "web", scheme: "HTTPS", path: "/stop" } },
        postStart: { httpGet: { port: 1, path: "/", scheme: "HTTP" } },
      },
    });
  });
});

describe("defaults of resources", () => {
  it("sets requests from limits, keeps requests, rounds up to thousandths", () => {
    const resources = { limits: { cpu: "1", memory: "64Mi" }, requests: { cpu: "100500u" } };
    expect(containerOf({ resources })?.resources).toEqual({
      limits: { cpu: "1", memory: "64Mi" },
      requests: { cpu: "101m", memory: "64Mi" },
    });
  });
  it("are set to an empty object", () => {
    expect([containerOf({})?.resources, containerOf({ resources: {} })?.resources]).toEqual([{}, {}]);
  });
  it("has the divisor 0, which means none", () => {
    const env = [{ name: "CPU", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } }];
    const divided = { resource: "limits.cpu", divisor: "0" };
    expect(containerOf({ env })?.env).toEqual([{ name: "CPU", valueFrom: { resourceFieldRef: divided } }]);
  });
  it("completes the pod's requests from its containers: the sum, or the peak during initialization", () => {
    const spec = specOf({
      resources: { limits: { cpu: "4", memory: "1Gi" } },
      initContainers: [
        container({ name: "sidecar", restartPolicy: "Always", resources: { requests: { cpu: "500m" } } }),
        container({ name: "init", resources: { requests: { cpu: "2" } } }),
      ],
      containers: [container({ resources: { requests: { cpu: "1" } } })],
    });
    expect(spec.resources).toEqual({ limits: { cpu: "4", memory: "1Gi" }, requests: { cpu: "2500m", memory: "1Gi" } });
  });
  it("completes the pod's limits where every container has one", () => {
    const limits = { cpu: "1", memory: "1Gi" };
    const spec = specOf({
      resources: { requests: { cpu: "1" } },
      containers: [container({ resources: { limits } }), container({ name: "b", resources: { limits: { cpu: "2" } } })],
    });
    expect(spec.resources).toEqual({ requests: { cpu: "1" }, limits: { cpu: "3" } });
  });
});

describe("defaults of volumes", () => {
  it.each([
    ["no source", {}, { emptyDir: {} }],
    ["configMap", { configMap: { name: "c" } }, { configMap: { name: "c", defaultMode: 420 } }],
    [
      "secret with a mode",
      { secret: { secretName: "s", defaultMode: 0 } },
      { secret: { secretName: "s", defaultMode: 0 } },
    ],
    ["hostPath", { hostPath: { path: "/x" } }, { hostPath: { path: "/x", type: "" } }],
    ["image", { image: { reference: "a:1" } }, { image: { reference: "a:1", pullPolicy: "IfNotPresent" } }],
    [
      "downwardAPI",
      { downwardAPI: { items: [{ path: "p", fieldRef: { fieldPath: "metadata.name" } }] } },
      {
        downwardAPI: {
          defaultMode: 420,
          items: [{ path: "p", fieldRef: { fieldPath: "metadata.name", apiVersion: "v1" } }],
        },
      },
    ],
    [
      "projected",
      { projected: { sources: [{ serviceAccountToken: { path: "t" } }] } },
      { projected: { defaultMode: 420, sources: [{ serviceAccountToken: { path: "t", expirationSeconds: 3600 } }] } },
    ],
    [
      "iscsi",
      { iscsi: { iqn: "i", lun: 0, targetPortal: "p" } },
      { iscsi: { iqn: "i", lun: 0, targetPortal: "p", iscsiInterface: "default" } },
    ],
  ])("completes %s", (_title, given, expected) => {
    expect(volumeOf(given)).toEqual({ name: "v", ...expected });
  });
});
