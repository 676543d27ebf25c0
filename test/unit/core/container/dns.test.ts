import { describe, expect, it } from "vitest";
import { podDns } from "../../../../src/core/container/dns.ts";
import type { NodeContext } from "../../../../src/core/container/nodeContext.ts";
import { parseResolvConf, type ResolvConf } from "../../../../src/core/container/resolvConf.ts";
import type { PodSpec } from "../../../../src/core/api.ts";
import { nodeContextOf } from "../../../support/nodeContext.ts";
import { podOf } from "../../../support/pods.ts";

type DnsNode = Partial<NodeContext> & { readonly resolvConf?: ResolvConf | undefined };
const dns = (spec: Partial<PodSpec>, { resolvConf, ...node }: DnsNode = {}) =>
  podDns(podOf({ spec }), nodeContextOf(node), resolvConf);
const CLUSTER = ["demo.svc.cluster.local", "svc.cluster.local", "cluster.local"];
const host = { nameservers: ["192.0.2.53"], searches: ["lan", "cluster.local"], options: ["ndots:2", "rotate"] };

describe("parseResolvConf", () => {
  it("accumulates servers, keeps the last search and options lines, drops trailing dots, ignores the rest", () => {
    const text = [
      "# comment",
      "nameserver 192.0.2.1 192.0.2.9",
      "search a.example b.example.",
      "  nameserver\t192.0.2.2",
      "search c.example. .",
      "options ndots:1",
      "options rotate timeout:2",
      "nameserver",
      "sortlist 10.0.0.0",
      "",
    ].join("\n");
    expect(parseResolvConf(text)).toEqual({
      nameservers: ["192.0.2.1", "192.0.2.2"],
      searches: ["c.example", "."],
      options: ["rotate", "timeout:2"],
    });
  });
});

describe("podDns", () => {
  it.each<[string, Partial<PodSpec>, DnsNode, object]>([
    [
      "ClusterFirst: the cluster's server, its domains before the node's, each once",
      {},
      { resolvConf: host },
      { servers: ["10.2.0.10"], searches: [...CLUSTER, "lan"], options: ["ndots:5"] },
    ],
    [
      "ClusterFirst on the node's network: the node's settings",
      { hostNetwork: true },
      { resolvConf: host },
      { servers: ["192.0.2.53"], searches: host.searches, options: host.options },
    ],
    [
      "ClusterFirstWithHostNet: the cluster's even there",
      { hostNetwork: true, dnsPolicy: "ClusterFirstWithHostNet" },
      {},
      { servers: ["10.2.0.10"], searches: CLUSTER, options: ["ndots:5"] },
    ],
    [
      "ClusterFirst without a cluster domain: the node's domains",
      {},
      { resolvConf: host, clusterDomain: "" },
      { servers: ["10.2.0.10"], searches: host.searches, options: ["ndots:5"] },
    ],
    [
      "Default without settings of the node: lookups go nowhere",
      { dnsPolicy: "Default" },
      { resolvConf: undefined, nodeIps: ["192.0.2.1", "2001:db8::1"] },
      { servers: ["127.0.0.1", "::1"], searches: ["."], options: [] },
    ],
    [
      "Default without settings and without addresses of the node: lookups go nowhere",
      { dnsPolicy: "Default" },
      { resolvConf: undefined, nodeIps: [] },
      { servers: ["127.0.0.1"], searches: ["."], options: [] },
    ],
    [
      "options of the node stay whole beside the pod's, also with several colons",
      { dnsPolicy: "Default", dnsConfig: { options: [{ name: "rotate", value: "" }] } },
      { resolvConf: { ...host, options: ["sortlist:10.0.0.0:8", "rotate"] } },
      { servers: ["192.0.2.53"], searches: host.searches, options: ["sortlist:10.0.0.0:8", "rotate"] },
    ],
    [
      "as many servers and as long a domain as fit",
      {
        dnsPolicy: "None",
        dnsConfig: { nameservers: ["192.0.2.1", "192.0.2.2", "192.0.2.3"], searches: ["x".repeat(253)] },
      },
      {},
      { servers: ["192.0.2.1", "192.0.2.2", "192.0.2.3"], searches: ["x".repeat(253)], options: [] },
    ],
    [
      "None: only what the pod says",
      { dnsPolicy: "None", dnsConfig: { nameservers: ["192.0.2.99"], options: [{ name: "debug" }] } },
      { resolvConf: host },
      { servers: ["192.0.2.99"], searches: [], options: ["debug"] },
    ],
    [
      "dnsConfig adds servers and domains, and replaces options of the same name",
      {
        dnsConfig: {
          nameservers: ["192.0.2.99", "10.2.0.10"],
          searches: ["my.example", "cluster.local"],
          options: [{ name: "ndots", value: "1" }, { name: "edns0" }],
        },
      },
      {},
      { servers: ["10.2.0.10", "192.0.2.99"], searches: [...CLUSTER, "my.example"], options: ["ndots:1", "edns0"] },
    ],
  ])("%s", (_, spec, node, config) => {
    expect(dns(spec, node)).toEqual({ config, warnings: [] });
  });

  it("falls back to the node's settings without cluster DNS, with a warning", () => {
    expect(dns({}, { resolvConf: host, clusterDns: [] })).toEqual({
      config: { servers: ["192.0.2.53"], searches: host.searches, options: host.options },
      warnings: [
        {
          reason: "MissingClusterDNS",
          message:
            'pod: "plain_demo(uid-1)". kubelet does not have ClusterDNS IP configured and cannot create Pod using ' +
            '"ClusterFirst" policy. Falling back to "Default" policy.',
          nodeMessage:
            "kubelet does not have ClusterDNS IP configured and cannot create Pod using " +
            '"ClusterFirst" policy. Falling back to "Default" policy.',
        },
      ],
    });
  });

  it("does not warn about missing cluster DNS on a standalone node", () => {
    expect(dns({}, { resolvConf: host, clusterDns: [], isStandalone: true })).toEqual({
      config: { servers: ["192.0.2.53"], searches: host.searches, options: host.options },
      warnings: [],
    });
  });

  it("keeps three servers and 32 domains, each of at most 253 and together of at most 2048 characters", () => {
    const nameservers = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"];
    const domains = Array.from({ length: 33 }, (_, index) => `d${String(index).padStart(2, "0")}`);
    const serversLine = nameservers.slice(0, 3);
    const tooMany = dns({ dnsPolicy: "None", dnsConfig: { nameservers, searches: domains } });
    const kept = domains.slice(0, 32);
    expect(tooMany).toEqual({
      config: { servers: serversLine, searches: kept, options: [] },
      warnings: [
        {
          reason: "DNSConfigForming",
          message:
            "Nameserver limits were exceeded, some nameservers have been omitted, " +
            `the applied nameserver line is: ${serversLine.join(" ")}`,
        },
        {
          reason: "DNSConfigForming",
          message:
            "Search Line limits were exceeded, some search paths have been omitted, " +
            `the applied search line is: ${kept.join(" ")}`,
        },
      ],
    });
    const long = dns({ dnsPolicy: "None", dnsConfig: { searches: ["a", "x".repeat(254), "b"] } });
    expect(long.config.searches).toEqual(["a", "b"]);
    const wide = Array.from({ length: 11 }, (_, index) => `${index}`.padEnd(200, "w"));
    expect(dns({ dnsPolicy: "None", dnsConfig: { searches: wide } }).config.searches).toEqual(wide.slice(0, 10));
  });

  it("keeps a search list of 2048 characters whole, and drops the last domain of one with 2049", () => {
    const domain = (index: number, length: number): string => `${index}`.padEnd(length, "w");
    // Nine domains of 203 characters, nine spaces between ten domains: 1836 characters before the last.
    const nine = Array.from({ length: 9 }, (_, index) => domain(index, 203));
    const searches = (last: number) => dns({ dnsPolicy: "None", dnsConfig: { searches: [...nine, domain(9, last)] } });
    expect(searches(212).config.searches).toEqual([...nine, domain(9, 212)]);
    expect(searches(212).warnings).toEqual([]);
    expect(searches(213).config.searches).toEqual(nine);
  });
});
