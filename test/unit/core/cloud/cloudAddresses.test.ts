/** Addresses of the Node from those of its cloud, by --node-ip and --hostname-override. */
import { describe, expect, it } from "vitest";
import type { CloudInstance } from "../../../../src/core/cloud/cloudInstance.ts";
import { initialNode } from "../../../../src/core/node/initialNode.ts";
import { withAddresses } from "../../../../src/core/node/nodeAddresses.ts";
import type { NodeSettings } from "../../../../src/core/node/nodeSettings.ts";
import { EC2_INSTANCE } from "../../../support/cloudInstances.ts";
import { FACTS, SETTINGS } from "../node/nodeFacts.ts";

interface Case {
  readonly settings?: Partial<NodeSettings>;
  readonly cloud?: CloudInstance;
  readonly known?: readonly string[];
}

const factsOf = (settings: Partial<NodeSettings>, cloud: CloudInstance | undefined) => ({
  ...FACTS,
  settings: { ...SETTINGS, hasCloudMetadata: true, ...settings },
  cloud,
});

function addressesOf({ settings = {}, cloud, known = [] }: Case): string | readonly string[] {
  const status = { addresses: known.map((address) => ({ type: "ExternalIP", address })) };
  const reported = withAddresses({ metadata: { name: "n1" }, status }, factsOf(settings, cloud));
  if (!reported.ok) return reported.error.message;
  return (reported.value.status?.addresses ?? []).map(({ type, address }) => `${type} ${address}`);
}

const V4 = ["InternalIP 192.0.2.10"];
const V6 = ["InternalIP 2001:db8::10"];
const NAMED = "ip-192-0-2-10.example.internal";
const DNS = [`InternalDNS ${NAMED}`, "ExternalDNS ec2-198-51-100-7.example.com"];
const REST = ["ExternalIP 198.51.100.7", `Hostname ${NAMED}`, ...DNS];
const unnamed = {
  ...EC2_INSTANCE,
  addresses: EC2_INSTANCE.addresses.filter(({ type }) => type === "InternalIP"),
};

describe("the addresses of a node in a cloud", () => {
  it.each<readonly [rule: string, given: Case, reported: string | readonly string[]]>([
    ["are the cloud's, not the machine's", { cloud: EC2_INSTANCE }, [...V4, ...V6, ...REST]],
    ["begin with --node-ip", { cloud: EC2_INSTANCE, settings: { ips: ["2001:db8::10"] } }, [...V6, ...V4, ...REST]],
    [
      "keep the order of both of --node-ip",
      { cloud: EC2_INSTANCE, settings: { ips: ["2001:DB8:0::10", "192.0.2.10"] } },
      [...V6, ...V4, ...REST],
    ],
    [
      "prefer IPv6 for ::, in all types",
      { cloud: EC2_INSTANCE, settings: { ips: ["::"] } },
      [...V6, `Hostname ${NAMED}`, ...DNS, ...V4, "ExternalIP 198.51.100.7"],
    ],
    [
      "are an error for a --node-ip that the cloud does not know",
      { cloud: EC2_INSTANCE, settings: { ips: ["192.0.2.11"] } },
      "failed to get node address from cloud provider that matches ip: 192.0.2.11",
    ],
    [
      "have the overridden host name in place of the cloud's",
      { cloud: EC2_INSTANCE, settings: { hostname: "mine", isHostnameOverridden: true } },
      [...V4, ...V6, "ExternalIP 198.51.100.7", "Hostname mine", ...DNS],
    ],
    ["have no host name that the cloud does not confirm", { cloud: unnamed }, [...V4, ...V6]],
    [
      "have an overridden host name",
      { cloud: unnamed, settings: { hostname: "mine", isHostnameOverridden: true } },
      [...V4, ...V6, "Hostname mine"],
    ],
    [
      "have a host name that is one of the addresses",
      { cloud: unnamed, settings: { hostname: "192.0.2.10" } },
      [...V4, ...V6, "Hostname 192.0.2.10"],
    ],
    ["stay until the cloud answers", { known: ["203.0.113.1"] }, ["ExternalIP 203.0.113.1"]],
    ["are the host name alone on a new Node, until the cloud answers", {}, ["Hostname n1"]],
    [
      "are the controller's with an external cloud provider",
      { cloud: EC2_INSTANCE, settings: { hasExternalCloud: true }, known: ["203.0.113.1"] },
      ["ExternalIP 203.0.113.1"],
    ],
  ])("%s", (_, given, reported) => expect(addressesOf(given)).toEqual(reported));
});

describe("the Node of a cloud's instance", () => {
  const created = (settings: Partial<NodeSettings>, cloud: CloudInstance | undefined = EC2_INSTANCE) => {
    const { node } = initialNode(factsOf(settings, cloud), "2026-01-01T00:00:00Z");
    const { labels = {} } = node.metadata ?? {};
    const { providerID, taints } = node.spec ?? {};
    return { providerID, taints, zone: labels["topology.kubernetes.io/zone"] };
  };
  const UNINITIALIZED = {
    key: "node.cloudprovider.kubernetes.io/uninitialized",
    value: "true",
    effect: "NoSchedule",
  };

  it("has provider id and labels from the start, and no taint that only a controller removes", () => {
    expect(created({})).toEqual({
      providerID: EC2_INSTANCE.providerId,
      taints: undefined,
      zone: "eu-example-1a",
    });
  });

  it("has the configured provider id and labels instead of the cloud's", () => {
    const labels = { "topology.kubernetes.io/zone": "mine" };
    expect(created({ providerId: "mine://1", labels })).toEqual({
      providerID: "mine://1",
      taints: undefined,
      zone: "mine",
    });
  });

  it("has the provider id alone with an external cloud provider, whose controller does the rest", () => {
    expect(created({ hasExternalCloud: true })).toEqual({
      providerID: EC2_INSTANCE.providerId,
      taints: [UNINITIALIZED],
      zone: undefined,
    });
  });
});
