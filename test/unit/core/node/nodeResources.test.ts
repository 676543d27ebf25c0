import { describe, expect, it } from "vitest";
import type { Node } from "../../../../src/core/api.ts";
import { admissibleResources, withCurrentResources, withResources } from "../../../../src/core/node/nodeResources.ts";
import type { ResourceAmounts } from "../../../../src/core/resources/resourceList.ts";

const OWN = { cpu: "2", memory: "4Gi" };
const node = (capacity: ResourceAmounts, allocatable: ResourceAmounts = capacity, machineID = "m"): Node =>
  ({ metadata: { name: "n" }, status: { capacity, allocatable, nodeInfo: { machineID } } }) as unknown as Node;
const amountsOf = ({ status }: Node) => [status?.capacity, status?.allocatable];

describe("admissibleResources", () => {
  it("adds the extended resources of the Node to the node's own", () => {
    const known = node({ cpu: "9", "example.com/gpu": "4" }, { cpu: "8", "example.com/gpu": "3" });
    expect(admissibleResources(OWN, known)).toEqual({ ...OWN, "example.com/gpu": "3" });
  });

  it.each([
    ["no Node", undefined],
    ["a Node without a status", { metadata: { name: "n" } }],
    ["a Node without extended resources", node({ cpu: "9" })],
  ])("are the node's own with %s", (_, known) => {
    expect(admissibleResources(OWN, known)).toBe(OWN);
  });
});

describe("withResources", () => {
  const facts = { capacity: { cpu: "4", memory: "8Gi" }, allocatable: { cpu: "3500m", memory: "7Gi" } };

  it("sets capacity and allocatable of a new Node", () => {
    expect(amountsOf(withResources({ metadata: { name: "n" } }, facts))).toEqual([facts.capacity, facts.allocatable]);
  });

  it("keeps the notation of equal amounts", () => {
    const before = node({ cpu: "4000m", memory: "8192Mi" }, { cpu: "3.5", memory: "6Gi" });
    expect(amountsOf(withResources(before, facts))).toEqual([
      { cpu: "4000m", memory: "8192Mi" },
      { cpu: "3.5", memory: "7Gi" },
    ]);
  });

  it("makes an extended resource of other components fully allocatable", () => {
    const before = node({ "example.com/gpu": "4" }, {});
    expect(amountsOf(withResources(before, facts))).toEqual([
      { ...facts.capacity, "example.com/gpu": "4" },
      { ...facts.allocatable, "example.com/gpu": "4" },
    ]);
  });

  it("drops allocatable of an extended resource without capacity, and of no other resource", () => {
    const before = node({}, { "example.com/gpu": "4", "attachable-volumes-x": "1" });
    expect(amountsOf(withResources(before, facts))).toEqual([
      facts.capacity,
      { ...facts.allocatable, "attachable-volumes-x": "1" },
    ]);
  });
});

describe("withCurrentResources", () => {
  const existing = node({ cpu: "4", "hugepages-1Gi": "1Gi", "hugepages-2Mi": "2Mi", "example.com/gpu": "4" });
  const initial = node({ cpu: "8", "hugepages-2Mi": "4Mi" });

  it("replaces huge pages and keeps everything else", () => {
    const amounts = { cpu: "4", "hugepages-2Mi": "4Mi", "example.com/gpu": "4" };
    expect(amountsOf(withCurrentResources(existing, initial))).toEqual([amounts, amounts]);
  });

  it("sets extended resources to zero on another machine", () => {
    const other = node({ cpu: "8", "hugepages-2Mi": "4Mi" }, undefined, "other");
    const amounts = { cpu: "4", "hugepages-2Mi": "4Mi", "example.com/gpu": "0" };
    expect(amountsOf(withCurrentResources(existing, other))).toEqual([amounts, amounts]);
  });

  it("takes the initial amounts for a Node without any", () => {
    const bare = { metadata: { name: "n" } };
    expect(amountsOf(withCurrentResources(bare, initial))).toEqual(amountsOf(initial));
  });
});
