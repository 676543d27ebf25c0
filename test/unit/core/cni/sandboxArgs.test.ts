import { describe, expect, it } from "vitest";
import { capabilityArgsOf, cniArgsOf, pluginEnvironment, sandboxFault } from "../../../../src/core/cni/sandboxArgs.ts";

const SANDBOX = { id: "abc", namespace: "default", name: "web", uid: "u-1", netns: "/proc/7/ns/net" };
const WISHES = {
  portMappings: [],
  annotations: {},
  dns: { servers: [], searches: [], options: [] },
  cgroupParent: "",
};

describe("a sandbox that plugins can get", () => {
  it("has an id, names and a namespace without separators", () => {
    expect(sandboxFault(SANDBOX)).toBeUndefined();
    expect(sandboxFault({ ...SANDBOX, netns: "" })).toBeUndefined();
  });

  it.each([
    ["an empty id", { id: "" }, 'sandbox "": its id has characters other than letters, digits, _.-'],
    ["an id that is a path", { id: "../x" }, 'sandbox "../x": its id has characters other than letters, digits, _.-'],
    [
      "a name that adds arguments",
      { name: "a;K8S_POD_UID=b" },
      'sandbox "abc": its name "a;K8S_POD_UID=b" has a character of ;= or zero',
    ],
    [
      "a namespace with zero",
      { namespace: "a\0" },
      'sandbox "abc": its namespace "a\\u0000" has a character of ;= or zero',
    ],
    ["a uid that is too long", { uid: "u".repeat(1025) }, 'sandbox "abc": its uid has more than 1024 characters'],
    ["a relative namespace", { netns: "ns" }, 'sandbox "abc": its network namespace "ns" is not an absolute path'],
    [
      "a namespace with zero in its path",
      { netns: "/a\0" },
      'sandbox "abc": its network namespace "/a\\u0000" is not an absolute path',
    ],
  ])("does not have %s", (_, wrong, message) => {
    expect(sandboxFault({ ...SANDBOX, ...wrong })).toMatchObject({ code: "InvalidArgument", message });
  });
});

it("the environment of a plugin names the pod as Kubernetes does", () => {
  const call = { command: "ADD" as const, id: "abc", netns: SANDBOX.netns, ifName: "eth0", args: cniArgsOf(SANDBOX) };
  expect(pluginEnvironment(call, ["/opt/cni/bin", "/usr/lib/cni"])).toEqual({
    CNI_COMMAND: "ADD",
    CNI_CONTAINERID: "abc",
    CNI_NETNS: "/proc/7/ns/net",
    CNI_IFNAME: "eth0",
    CNI_PATH: "/opt/cni/bin:/usr/lib/cni",
    CNI_ARGS:
      "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_INFRA_CONTAINER_ID=abc;K8S_POD_UID=u-1",
  });
});

describe("runtime configuration", () => {
  it("has host ports, bandwidth, ranges, name servers and the cgroup of the pod", () => {
    const wishes = {
      portMappings: [
        { protocol: "tcp", hostPort: 8080, containerPort: 80, hostIp: "127.0.0.1" },
        { protocol: "udp", hostPort: 0, containerPort: 53, hostIp: "" },
      ],
      annotations: { "kubernetes.io/ingress-bandwidth": "1M", "kubernetes.io/egress-bandwidth": "2.5M" },
      dns: { servers: ["10.0.0.10"], searches: [], options: ["ndots:5"] },
      cgroupParent: "/kubepods/pod1",
    };
    expect(capabilityArgsOf(wishes, "10.1.0.0/24,fd00::/64")).toEqual({
      ok: true,
      value: {
        portMappings: [{ hostPort: 8080, containerPort: 80, protocol: "tcp", hostIP: "127.0.0.1" }],
        bandwidth: {
          ingressRate: 1_000_000,
          ingressBurst: 2_147_483_647,
          egressRate: 2_500_000,
          egressBurst: 2_147_483_647,
        },
        ipRanges: [[{ subnet: "10.1.0.0/24" }], [{ subnet: "fd00::/64" }]],
        dns: { servers: ["10.0.0.10"], options: ["ndots:5"] },
        cgroupPath: "/kubepods/pod1",
      },
    });
  });

  it("has empty host ports alone where the pod wishes nothing", () => {
    expect(capabilityArgsOf(WISHES, "")).toEqual({ ok: true, value: { portMappings: [] } });
  });

  const ingress = (value: string) =>
    capabilityArgsOf({ ...WISHES, annotations: { "kubernetes.io/ingress-bandwidth": value } }, "");

  it.each(["1k", "1P"])("takes a bandwidth of %s", (value) => {
    expect(ingress(value).ok).toBe(true);
  });

  it.each([
    ["999", "resource is unreasonably small (< 1kbit)"],
    ["2P", "resource is unreasonably large (> 1Pbit)"],
    ["fast", '"fast" is not a quantity'],
  ])("refuses a bandwidth of %s", (value, why) => {
    expect(ingress(value)).toMatchObject({
      ok: false,
      error: { code: "InvalidArgument", message: `kubernetes.io/ingress-bandwidth: ${why}` },
    });
  });
});
