import { describe, expect, it } from "vitest";
import { formatQuantity } from "../../../../src/core/quantity.ts";
import {
  addResources,
  maxResources,
  minResources,
  parseResourceList,
  type ResourceList,
  resourceMilli,
  resourceValue,
} from "../../../../src/core/resources/resourceList.ts";

const amounts = (list: ResourceList) =>
  Object.fromEntries([...list].map(([name, quantity]) => [name, formatQuantity(quantity)]));
const a = parseResourceList({ cpu: "1", memory: "1Gi", pods: "2" });
const b = parseResourceList({ cpu: "500m", memory: "2Gi", gpu: "1" });

describe("lists of resources", () => {
  it.each([
    ["sum", addResources, { cpu: "1500m", memory: "3Gi", pods: "2", gpu: "1" }],
    ["larger", maxResources, { cpu: "1", memory: "2Gi", pods: "2", gpu: "1" }],
    ["smaller", minResources, { cpu: "500m", memory: "1Gi", pods: "2", gpu: "1" }],
  ])("the %s of two lists has the amounts of both", (_, combine, expected) => {
    expect([amounts(combine(a, b)), amounts(combine(b, a))]).toEqual([expected, expected]);
  });

  it.each([
    ["larger", maxResources],
    ["smaller", minResources],
  ])("the %s of equal amounts keeps the first one's notation", (_, combine) => {
    const [first, second] = [parseResourceList({ memory: "1Gi" }), parseResourceList({ memory: "1073741824" })];
    expect([amounts(combine(first, second)), amounts(combine(second, first))]).toEqual([
      { memory: "1Gi" },
      { memory: "1073741824" },
    ]);
  });

  it("omit amounts that cannot be read, and are empty without amounts", () => {
    expect(amounts(parseResourceList({ cpu: "x", memory: "1" }))).toEqual({ memory: "1" });
    expect(amounts(parseResourceList(undefined))).toEqual({});
  });

  it("are read in thousandths and rounded up to whole units; what they lack is zero", () => {
    expect([resourceMilli(b, "cpu"), resourceValue(b, "cpu"), resourceMilli(b, "x"), resourceValue(b, "x")]).toEqual([
      500n,
      1n,
      0n,
      0n,
    ]);
  });
});
