import { describe, expect, it } from "vitest";
import { serviceEnvironment, type ServiceForEnv, serviceForEnv } from "../../../../src/core/container/serviceEnv.ts";

const service = (name: string, more: Partial<ServiceForEnv> = {}): ServiceForEnv => ({
  name,
  namespace: "demo",
  clusterIp: "10.0.0.7",
  ports: [{ port: 80 }],
  ...more,
});
const variables = (services: readonly ServiceForEnv[], enableServiceLinks = true) =>
  serviceEnvironment(services, "demo", enableServiceLinks).map(({ name, value }) => `${name}=${value}`);

describe("serviceForEnv", () => {
  it("reads what variables contain, and nothing from an object without it", () => {
    const ports = [{ name: "web", port: 80 }];
    const object = { metadata: { name: "a", namespace: "n" }, spec: { clusterIP: "10.0.0.1", ports } };
    expect(serviceForEnv(object)).toEqual({ name: "a", namespace: "n", clusterIp: "10.0.0.1", ports });
    expect(serviceForEnv({})).toEqual({ name: "", namespace: "", clusterIp: "", ports: [] });
  });
});

describe("serviceEnvironment", () => {
  it("has upstream's variables of each port", () => {
    const ports = [
      { name: "web-ui", port: 80 },
      { port: 53, protocol: "UDP" },
    ];
    expect(variables([service("my-dns", { ports })])).toEqual([
      "MY_DNS_SERVICE_HOST=10.0.0.7",
      "MY_DNS_SERVICE_PORT=80",
      "MY_DNS_SERVICE_PORT_WEB_UI=80",
      "MY_DNS_PORT=tcp://10.0.0.7:80",
      "MY_DNS_PORT_80_TCP=tcp://10.0.0.7:80",
      "MY_DNS_PORT_80_TCP_PROTO=tcp",
      "MY_DNS_PORT_80_TCP_PORT=80",
      "MY_DNS_PORT_80_TCP_ADDR=10.0.0.7",
      "MY_DNS_PORT_53_UDP=udp://10.0.0.7:53",
      "MY_DNS_PORT_53_UDP_PROTO=udp",
      "MY_DNS_PORT_53_UDP_PORT=53",
      "MY_DNS_PORT_53_UDP_ADDR=10.0.0.7",
    ]);
  });

  it("puts an IPv6 address in brackets in a URL only", () => {
    const all = variables([service("a", { clusterIp: "2001:db8::7" })]);
    expect(all).toContain("A_SERVICE_HOST=2001:db8::7");
    expect(all).toContain("A_PORT=tcp://[2001:db8::7]:80");
  });

  const hosts = (services: readonly ServiceForEnv[], links: boolean) =>
    variables(services, links).filter((each) => each.includes("_SERVICE_HOST="));
  const master = service("kubernetes", { namespace: "default", clusterIp: "10.0.0.1" });
  it.each<[string, readonly ServiceForEnv[], boolean, readonly string[]]>([
    ["the API server's without links", [master, service("a")], false, ["KUBERNETES_SERVICE_HOST=10.0.0.1"]],
    [
      "those of the namespace with links",
      [master, service("a"), service("b", { namespace: "other" })],
      true,
      ["KUBERNETES_SERVICE_HOST=10.0.0.1", "A_SERVICE_HOST=10.0.0.7"],
    ],
    [
      "one of the namespace called kubernetes first",
      [service("kubernetes"), master],
      true,
      ["KUBERNETES_SERVICE_HOST=10.0.0.7"],
    ],
    [
      "one of the namespace called kubernetes last",
      [master, service("kubernetes")],
      true,
      ["KUBERNETES_SERVICE_HOST=10.0.0.7"],
    ],
    ["none of another in the namespace default", [service("a", { namespace: "default" })], true, []],
    ["none of a headless service", [service("a", { clusterIp: "None" }), service("b", { clusterIp: "" })], true, []],
    ["none of a service without ports", [service("a", { ports: [] })], true, []],
  ])("has %s", (_, services, links, expected) => {
    expect(hosts(services, links)).toEqual(expected);
  });
});
