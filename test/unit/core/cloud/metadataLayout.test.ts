/** Answers of metadata services become an instance; what a Node cannot have is left out and named. */
import { describe, expect, it } from "vitest";
import { cloudLabels } from "../../../../src/core/cloud/cloudInstance.ts";
import { EC2_LAYOUT, type MetadataLayout, OPENSTACK_LAYOUT } from "../../../../src/core/cloud/metadataLayout.ts";
import { EC2_ANSWERS, EC2_INSTANCE, OPENSTACK_ANSWERS, OPENSTACK_INSTANCE } from "../../../support/cloudInstances.ts";

const read = ({ read: readAnswers }: MetadataLayout, answers: Readonly<Record<string, string | undefined>>) => {
  const given = Object.entries(answers).flatMap(([path, text]) => (text === undefined ? [] : [[path, text] as const]));
  const found = readAnswers(new Map(given));
  return found.ok ? found.value : `${found.error.code}: ${found.error.message}`;
};
const ec2 = (changes: Readonly<Record<string, string | undefined>>) => {
  const paths = Object.entries(changes).map(([name, text]) => [`/latest/meta-data/${name}`, text]);
  return read(EC2_LAYOUT, { ...EC2_ANSWERS, ...Object.fromEntries(paths) });
};
const openStack = (document: string) =>
  read(OPENSTACK_LAYOUT, { ...OPENSTACK_ANSWERS, "/openstack/latest/meta_data.json": document });

describe("the layout of EC2", () => {
  it("reads addresses in the order of a Node's status, the provider id and the labels", () => {
    expect(ec2({})).toEqual(EC2_INSTANCE);
  });

  it("reads an instance without public address, names, region and IPv6", () => {
    const absent = { "public-ipv4": "", ipv6: undefined, "public-hostname": undefined, "local-hostname": undefined };
    const nowhere = { "placement/region": undefined };
    expect(ec2({ ...absent, ...nowhere, "instance-type": undefined })).toEqual({
      providerId: "aws:///eu-example-1a/i-0123456789abcdef0",
      addresses: [{ type: "InternalIP", address: "192.0.2.10" }],
      ...{ instanceType: "", zone: "eu-example-1a", region: "", problems: [] },
    });
  });

  it.each([
    ["an id of another form", { "instance-id": "../i-1" }, "instance-id: must be at most 64 letters, digits and -"],
    ["an id that is too long", { "instance-id": "i".repeat(65) }, "instance-id: must be at most 64 letters"],
    ["no id", { "instance-id": undefined }, "instance-id: has no value"],
    ["no zone", { "placement/availability-zone": "" }, "placement/availability-zone: has no value"],
    ["a zone that is no label", { "placement/availability-zone": "a/b" }, "placement/availability-zone: a label value"],
    ["no address", { "local-ipv4": "", ipv6: undefined }, "local-ipv4: has no value"],
    ["a loopback address", { "local-ipv4": "127.0.0.1", ipv6: "" }, "but its kind is loopback"],
    ["a page of HTML", { "local-ipv4": "<html>", ipv6: "" }, 'must be an IP address, got "<html>"'],
  ])("refuses %s, naming the path", (_, changes, why) => {
    expect(ec2(changes)).toMatch(/^InvalidArgument: the metadata service of the cloud: \/latest\/meta-data\//);
    expect(ec2(changes)).toContain(why);
  });

  it("leaves out a name, an address and a label that no Node can have, and shows a bounded part of each", () => {
    const wrong = { "public-ipv4": "0.0.0.0", "local-hostname": "-x", "instance-type": `a ${"b".repeat(500)}` };
    const { addresses, instanceType, problems } = ec2(wrong) as typeof EC2_INSTANCE;
    expect([addresses.map(({ type }) => type), instanceType, problems.map((text) => text.slice(0, 60))]).toEqual([
      ["InternalIP", "InternalIP", "ExternalDNS"],
      "",
      [
        '/latest/meta-data/local-hostname: must be a host name, got "',
        "/latest/meta-data/public-ipv4: must be an address that other",
        "/latest/meta-data/instance-type: a label value must have at ",
      ],
    ]);
    expect(Math.max(...problems.map(({ length }) => length))).toBeLessThan(200);
  });

  it("drops a repeated address, which the API server would refuse", () => {
    const { addresses } = ec2({ ipv6: "192.0.2.10" }) as typeof EC2_INSTANCE;
    expect(addresses.filter(({ type }) => type === "InternalIP")).toEqual([
      { type: "InternalIP", address: "192.0.2.10" },
    ]);
  });

  it("reads nothing of the user data or of credentials", () => {
    const paths = [...EC2_LAYOUT.paths, ...OPENSTACK_LAYOUT.paths];
    expect(paths.filter((path) => /user|iam|credential|identity|password/.test(path))).toEqual([]);
  });
});

describe("the layout of OpenStack", () => {
  it("reads the document and the addresses beside it", () => {
    expect(read(OPENSTACK_LAYOUT, OPENSTACK_ANSWERS)).toEqual(OPENSTACK_INSTANCE);
  });

  it.each(["", "null", "[]", "{", '{"uuid":{}}', "{}"])("refuses the document %j", (document) => {
    const why = "/openstack/latest/meta_data.json: uuid: has no value";
    expect(openStack(document)).toBe(`InvalidArgument: the metadata service of the cloud: ${why}`);
  });
});

describe("cloudLabels", () => {
  it("names type, zone and region by their current and deprecated names", () => {
    expect(cloudLabels(EC2_INSTANCE)).toEqual({
      "beta.kubernetes.io/instance-type": "m7g.large",
      "node.kubernetes.io/instance-type": "m7g.large",
      "failure-domain.beta.kubernetes.io/zone": "eu-example-1a",
      "topology.kubernetes.io/zone": "eu-example-1a",
      "failure-domain.beta.kubernetes.io/region": "eu-example-1",
      "topology.kubernetes.io/region": "eu-example-1",
    });
    expect(cloudLabels({ ...OPENSTACK_INSTANCE, zone: "" })).toEqual({
      "beta.kubernetes.io/instance-type": "m1.small",
      "node.kubernetes.io/instance-type": "m1.small",
    });
  });
});
