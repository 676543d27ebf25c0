import { describe, expect, it } from "vitest";
import type { Pod, PodSpec } from "../../../../src/core/api.ts";
import { podDns } from "../../../../src/core/container/dns.ts";
import { NODE_USER_NAMESPACE } from "../../../../src/core/container/namespaces.ts";
import type { NodeContext } from "../../../../src/core/container/nodeContext.ts";
import { podPortMappings } from "../../../../src/core/container/ports.ts";
import { buildSandboxConfig } from "../../../../src/core/container/sandboxConfig.ts";
import {
  NamespaceMode,
  PodSandboxConfig,
  PortMapping,
  Protocol,
  SecurityProfile_ProfileType,
  SupplementalGroupsPolicy,
} from "../../../../src/gen/cri.ts";
import { nodeContextOf } from "../../../support/nodeContext.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const RESOLV_CONF = { nameservers: ["192.0.2.53"], searches: [], options: [] };
const build = (pod: Pod, node: Partial<NodeContext> = {}, attempt = 0) =>
  buildSandboxConfig({
    pod,
    attempt,
    userNamespace: NODE_USER_NAMESPACE,
    node: nodeContextOf(node),
    dnsConfig: podDns(pod, nodeContextOf(node), RESOLV_CONF).config,
  });
type Partially = Parameters<typeof PodSandboxConfig.fromPartial>[0];
const ok = (config: Partially) => ({ ok: true, value: PodSandboxConfig.fromPartial(config) });
const NAMESPACES = { pid: NamespaceMode.CONTAINER, usernsOptions: { mode: NamespaceMode.NODE } };
const SECCOMP = { profileType: SecurityProfile_ProfileType.RuntimeDefault };
const DNS = {
  servers: ["10.2.0.10"],
  searches: ["demo.svc.cluster.local", "svc.cluster.local", "cluster.local"],
  options: ["ndots:5"],
};
const BEST_EFFORT = { cpuPeriod: 100_000n, cpuShares: 2n };

/** The config of a pod without requests, with `more` over it. */
const plainConfig = (more: Partially = {}, linux: Partially["linux"] = {}): Partially => ({
  metadata: { name: "plain", uid: "uid-1", namespace: "demo" },
  hostname: "plain",
  logDirectory: "/var/log/pods/demo_plain_uid-1",
  dnsConfig: DNS,
  labels: {
    "io.kubernetes.pod.name": "plain",
    "io.kubernetes.pod.namespace": "demo",
    "io.kubernetes.pod.uid": "uid-1",
  },
  linux: {
    cgroupParent: "/kubepods/besteffort/poduid-1",
    securityContext: { namespaceOptions: NAMESPACES, seccomp: SECCOMP },
    overhead: {},
    resources: BEST_EFFORT,
    ...linux,
  },
  ...more,
});

describe("buildSandboxConfig", () => {
  it("builds upstream's config of a plain pod", () => {
    const pod = podOf({ labels: { app: "plain" }, annotations: { "example.com/note": "hello" } });
    const labels = { app: "plain", ...plainConfig().labels };
    expect(build(pod)).toEqual(ok(plainConfig({ labels, annotations: { "example.com/note": "hello" } })));
  });

  it("builds the same for a static pod, with its UID unchanged", () => {
    const uid = "00000000000000000000000000000001";
    const annotations = {
      "kubernetes.io/config.hash": uid,
      "kubernetes.io/config.seen": "2026-01-01T00:00:00.000000000Z",
      "kubernetes.io/config.source": "file",
    };
    const pod = podOf({ name: "static-web-node-1", uid, annotations });
    expect(build(pod, {}, 2)).toEqual(
      ok(
        plainConfig(
          {
            metadata: { name: "static-web-node-1", uid, namespace: "demo", attempt: 2 },
            hostname: "static-web-node-1",
            logDirectory: `/var/log/pods/demo_static-web-node-1_${uid}`,
            labels: {
              "io.kubernetes.pod.name": "static-web-node-1",
              "io.kubernetes.pod.namespace": "demo",
              "io.kubernetes.pod.uid": uid,
            },
            annotations,
          },
          { cgroupParent: `/kubepods/besteffort/pod${uid}` },
        ),
      ),
    );
  });

  it("builds upstream's config of a pod with limits, ports and users", () => {
    const web = containerOf({
      ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
      resources: { limits: { cpu: "200m", memory: "128Mi" }, requests: { cpu: "50m", memory: "32Mi" } },
    });
    const spec = {
      securityContext: { runAsUser: 1000, fsGroup: 2000 },
      containers: [web],
      initContainers: [containerOf({ name: "init" })],
    };
    expect(build(podOf({ spec }))).toEqual(
      ok(
        plainConfig(
          { portMappings: [{ containerPort: 8080 }] },
          {
            cgroupParent: "/kubepods/burstable/poduid-1",
            securityContext: {
              namespaceOptions: NAMESPACES,
              runAsUser: { value: 1000n },
              supplementalGroups: [2000n],
              seccomp: SECCOMP,
            },
            resources: { cpuPeriod: 100_000n, cpuQuota: 20_000n, cpuShares: 51n, memoryLimitInBytes: 134_217_728n },
          },
        ),
      ),
    );
  });

  it("sets no hostname for a pod in the node's namespaces", () => {
    const spec = { hostNetwork: true, hostPID: true, hostIPC: true, dnsPolicy: "Default" };
    const node = NamespaceMode.NODE;
    const namespaceOptions = { network: node, pid: node, ipc: node, usernsOptions: { mode: node } };
    expect(build(podOf({ spec }))).toEqual(
      ok(
        plainConfig(
          { hostname: "", dnsConfig: { servers: ["192.0.2.53"] } },
          { securityContext: { namespaceOptions, seccomp: SECCOMP } },
        ),
      ),
    );
  });

  it("copies users, groups, SELinux, sysctls, privilege, shared processes, overhead", () => {
    const spec: Partial<PodSpec> = {
      shareProcessNamespace: true,
      overhead: { cpu: "100m", memory: "10Mi" },
      containers: [containerOf({ securityContext: { privileged: true } })],
      securityContext: {
        runAsGroup: 3000,
        supplementalGroups: [4000, 5000],
        supplementalGroupsPolicy: "Strict",
        seLinuxOptions: { level: "s0:c1,c2" },
        sysctls: [{ name: "net/ipv4/conf/eth0.1/rp_filter", value: "1" }],
      },
    };
    expect(build(podOf({ spec }))).toEqual(
      ok(
        plainConfig(
          {},
          {
            sysctls: { "net.ipv4.conf.eth0/1.rp_filter": "1" },
            overhead: { cpuPeriod: 100_000n, cpuQuota: 10_000n, cpuShares: 102n, memoryLimitInBytes: 10_485_760n },
            securityContext: {
              namespaceOptions: { pid: NamespaceMode.POD, usernsOptions: { mode: NamespaceMode.NODE } },
              privileged: true,
              runAsGroup: { value: 3000n },
              supplementalGroups: [4000n, 5000n],
              supplementalGroupsPolicy: SupplementalGroupsPolicy.Strict,
              selinuxOptions: { level: "s0:c1,c2" },
              seccomp: SECCOMP,
            },
          },
        ),
      ),
    );
  });

  it("follows the node's settings: no cgroups per pod, no CFS quota, whole containers killed on cgroup v2", () => {
    const node = { cgroupsPerQos: false, cpuCfsQuota: false, cgroupVersion: 2, singleProcessOomKill: false } as const;
    expect(build(podOf(), node)).toEqual(
      ok(plainConfig({}, { cgroupParent: "", resources: { cpuShares: 2n, unified: { "memory.oom.group": "1" } } })),
    );
  });

  it.each<[Partial<PodSpec>, string, string]>([
    [
      { securityContext: { supplementalGroupsPolicy: "Loose" } },
      'pod "plain_demo(uid-1)": unsupported supplementalGroupsPolicy: Loose',
      "InvalidArgument",
    ],
    [
      { subdomain: "s".repeat(40), setHostnameAsFQDN: true },
      "failed to construct FQDN from pod hostname and cluster domain, FQDN " +
        `plain.${"s".repeat(40)}.demo.svc.cluster.local is too long (64 characters is the max, 69 characters requested)`,
      "InvalidArgument",
    ],
  ])("rejects %j", (spec, message, code) => {
    expect(build(podOf({ spec }))).toEqual({
      ok: false,
      error: { code, reason: "CreatePodSandboxError", message, retryable: false },
    });
  });
});

describe("podPortMappings", () => {
  it("returns ports of containers, then of sidecars, each name or identical port once", () => {
    const ports = [
      { name: "a", containerPort: 80, hostPort: 8080, hostIP: "127.0.0.1" },
      { name: "a", containerPort: 81 },
      { containerPort: 53, protocol: "UDP" },
      { containerPort: 53, protocol: "UDP" },
      { containerPort: 53, protocol: "TCP" },
    ];
    const side = containerOf({
      name: "side",
      restartPolicy: "Always",
      ports: [{ containerPort: 9, protocol: "SCTP" }],
    });
    const init = containerOf({ name: "init", ports: [{ containerPort: 1 }] });
    const spec = { containers: [containerOf({ ports })], initContainers: [init, side] };
    expect(podPortMappings(podOf({ spec }))).toEqual(
      [
        { containerPort: 80, hostPort: 8080, hostIp: "127.0.0.1" },
        { containerPort: 53, protocol: Protocol.UDP },
        { containerPort: 53, protocol: Protocol.TCP },
        { containerPort: 9, protocol: Protocol.SCTP },
      ].map(PortMapping.fromPartial),
    );
  });
});
