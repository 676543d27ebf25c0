import { describe, expect, it } from "vitest";
import {
  type ActualSizes,
  certainSizes,
  sizesOf,
  withContainerSize,
  withAskedSize,
} from "../../../../src/core/allocation/actualSizes.ts";
import type { Requirements } from "../../../../src/core/allocation/podAllocation.ts";
import type { ContainerId } from "../../../../src/core/ids.ts";

const ID = "c1" as ContainerId;
const SMALL: Requirements = { requests: { cpu: "20m", memory: "32Mi" }, limits: { memory: "1Gi" } };
const made: ActualSizes = sizesOf({ containers: { app: SMALL } });

describe("the size of a container while it is being set to another one", () => {
  it.each<[string, ActualSizes, Requirements, Requirements]>([
    [
      "what changes is not known, what stays is",
      made,
      { requests: { cpu: "1400m", memory: "32Mi" }, limits: { memory: "1Gi" } },
      { requests: { memory: "32Mi" }, limits: { memory: "1Gi" } },
    ],
    [
      "amounts are compared by what they mean",
      made,
      { requests: { cpu: "0.02", memory: "32Mi" }, limits: { memory: "2Gi" } },
      { requests: { cpu: "20m", memory: "32Mi" }, limits: {} },
    ],
    [
      "a size set before counts, not the one it was made with",
      withContainerSize(made, ID, {}),
      SMALL,
      { requests: {}, limits: {} },
    ],
    ["what was not known stays so", withAskedSize(made, "app", ID, {}), SMALL, { requests: {}, limits: {} }],
  ])("%s", (_, sizes, wanted, known) => {
    expect(certainSizes(withAskedSize(sizes, "app", ID, wanted)).containers.get(ID)).toEqual(known);
  });

  it("is told as it was until it is known to be another", () => {
    const asked = withAskedSize(made, "app", ID, {});
    expect([asked.containers, certainSizes(withContainerSize(asked, ID, SMALL))]).toEqual([
      made.containers,
      withContainerSize(made, ID, SMALL),
    ]);
  });
});
