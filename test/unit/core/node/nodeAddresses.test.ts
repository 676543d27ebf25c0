import { describe, expect, it } from "vitest";
import { addressKind, canonicalIp } from "../../../../src/core/node/ipAddress.ts";
import { withAddresses } from "../../../../src/core/node/nodeAddresses.ts";
import { FACTS, SETTINGS } from "./nodeFacts.ts";

interface Case {
  readonly ips?: readonly string[];
  readonly hostname?: string;
  readonly cloud?: boolean;
  readonly nameIps?: readonly string[];
  readonly machineIps?: readonly string[];
  /** The existing addresses and the annotation. */
  readonly known?: readonly string[];
  readonly annotated?: string;
}

/** Addresses of a node with the annotation for a cloud controller, or the error. */
function addressesOf({ ips = [], hostname = "n1", cloud = false, nameIps = [], machineIps, known, annotated }: Case) {
  const key = "alpha.kubernetes.io/provided-node-ip";
  const reported = withAddresses(
    {
      metadata: { name: "n1", ...(annotated === undefined ? {} : { annotations: { [key]: annotated } }) },
      status: { addresses: (known ?? []).map((address) => ({ type: "ExternalIP", address })) },
    },
    {
      ...FACTS,
      settings: { ...SETTINGS, ips, hostname, hasExternalCloud: cloud },
      machine: { ...FACTS.machine, nameIps, ips: machineIps ?? FACTS.machine.ips },
    },
  );
  if (!reported.ok) return reported.error.message;
  const { metadata, status } = reported.value;
  const provided = metadata?.annotations?.[key];
  return [
    ...(status?.addresses ?? []).map(({ type, address }) => `${type} ${address}`),
    ...(provided === undefined ? [] : [`provided ${provided}`]),
  ];
}

describe("withAddresses", () => {
  it.each<readonly [rule: string, given: Case, reported: string | readonly string[]]>([
    ["the default route's address, IPv4 first", {}, ["InternalIP 192.0.2.10", "Hostname n1"]],
    ["--node-ip", { ips: ["192.0.2.11"] }, ["InternalIP 192.0.2.11", "Hostname n1"]],
    [
      "--node-ip of both families, in its order and one spelling",
      { ips: ["2001:DB8:0::10", "192.0.2.11"] },
      ["InternalIP 2001:db8::10", "InternalIP 192.0.2.11", "Hostname n1"],
    ],
    [":: prefers IPv6", { ips: ["::"] }, ["InternalIP 2001:db8::10", "Hostname n1"]],
    ["0.0.0.0 prefers IPv4", { ips: ["0.0.0.0"] }, ["InternalIP 192.0.2.10", "Hostname n1"]],
    [
      ":: on a machine without IPv6",
      { ips: ["::"], machineIps: ["192.0.2.10"] },
      ["InternalIP 192.0.2.10", "Hostname n1"],
    ],
    [
      "a hostname that is an address",
      { hostname: "198.51.100.7" },
      ["InternalIP 198.51.100.7", "Hostname 198.51.100.7"],
    ],
    ["what the name resolves to", { nameIps: ["127.0.1.1", "192.0.2.11"] }, ["InternalIP 192.0.2.11", "Hostname n1"]],
    ["a name that resolves elsewhere", { nameIps: ["203.0.113.1"] }, ["InternalIP 192.0.2.10", "Hostname n1"]],
    ["nothing at all", { machineIps: [] }, "can't get ip address of node n1. error: no default routes found"],
    [
      "an address of no local interface",
      { ips: ["203.0.113.1"] },
      'failed to validate nodeIP: node IP: "203.0.113.1" not found in the host\'s network interfaces',
    ],
    ["loopback", { ips: ["127.0.0.1"] }, "failed to validate nodeIP: nodeIP can't be loopback address"],
    [
      "a second address that cannot be",
      { ips: ["192.0.2.10", "fe80::1"] },
      "failed to validate secondaryNodeIP: nodeIP can't be a link-local unicast address",
    ],
    ["a cloud that has not set addresses yet", { cloud: true }, ["Hostname n1"]],
    [
      "a cloud that has not set addresses yet, with --node-ip",
      { cloud: true, ips: ["192.0.2.11"] },
      ["InternalIP 192.0.2.11", "Hostname n1", "provided 192.0.2.11"],
    ],
    [
      "a cloud's own addresses stay",
      { cloud: true, ips: ["192.0.2.11", "2001:db8::10"], known: ["198.51.100.1"] },
      ["ExternalIP 198.51.100.1", "provided 192.0.2.11,2001:db8::10"],
    ],
    [
      "an outdated annotation is removed",
      { cloud: true, known: ["198.51.100.1"], annotated: "x" },
      ["ExternalIP 198.51.100.1"],
    ],
  ])("%s", (_, given, reported) => expect(addressesOf(given)).toEqual(reported));
});

describe("kinds of addresses", () => {
  it.each([
    ["2001:DB8:0:0:1::", "2001:db8:0:0:1::"],
    ["2001:db8:0:0:0:1:0:1", "2001:db8::1:0:1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::", "::"],
    ["::1", "::1"],
    ["1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"],
    ["010.0.0.1", "10.0.0.1"],
  ])("%s is %s", (text, canonical) => expect(canonicalIp(text)).toBe(canonical));

  it.each([
    ["0.0.0.0", "unspecified"],
    ["0::0", "unspecified"],
    ["127.0.0.53", "loopback"],
    ["::1", "loopback"],
    ["224.0.0.1", "multicast"],
    ["ff02::1", "multicast"],
    ["169.254.1.1", "linkLocal"],
    ["fe80::1", "linkLocal"],
    ["192.0.2.1", "usual"],
    ["2001:db8::1", "usual"],
  ])("%s is %s", (ip, kind) => expect(addressKind(ip)).toBe(kind));
});
