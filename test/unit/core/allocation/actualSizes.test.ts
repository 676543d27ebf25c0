import { describe, expect, it } from "vitest";
import {
  type ActualSizes,
  certainSizes,
  type InstanceSize,
  sizesOf,
  withContainerSize,
  withContainerSizes,
  withAskedSize,
} from "../../../../src/core/allocation/actualSizes.ts";
import type { Requirements } from "../../../../src/core/allocation/podAllocation.ts";
import type { ContainerId } from "../../../../src/core/ids.ts";

const ID = "c1" as ContainerId;
const SMALL: Requirements = { requests: { cpu: "20m", memory: "32Mi" }, limits: { memory: "1Gi" } };
const made: ActualSizes = sizesOf({ containers: { app: SMALL } });
const sized = (own: Requirements, pod: Requirements = {}): InstanceSize => ({ own, pod });
const NONE = sized({});

describe("the size of a container during a resize", () => {
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
      withContainerSize(made, ID, NONE),
      SMALL,
      { requests: {}, limits: {} },
    ],
    ["what was not known stays so", withAskedSize(made, "app", ID, NONE), SMALL, { requests: {}, limits: {} }],
  ])("%s", (_, sizes, wanted, known) => {
    expect(certainSizes(withAskedSize(sizes, "app", ID, sized(wanted))).containers.get(ID)?.own).toEqual(known);
  });

  it("becomes certain for all containers of a completed resize, and keeps those of others", () => {
    const other = "c2" as ContainerId;
    const third = "c3" as ContainerId;
    const asked = [ID, other, third].reduce((sizes, id) => withAskedSize(sizes, "app", id, NONE), made);
    const known = withContainerSizes(asked, [
      [ID, sized(SMALL)],
      [other, NONE],
    ]);
    expect([...known.containers]).toEqual([
      [ID, sized(SMALL)],
      [other, NONE],
    ]);
    expect([...known.certain.keys()]).toEqual([third]);
  });

  it("keeps of the pod-level resources what stays", () => {
    const at = (cpu: string): Requirements => ({ limits: { cpu, memory: "1Gi" } });
    const grown = withAskedSize(sizesOf({ pod: at("1"), containers: {} }), "app", ID, sized({}, at("2")));
    expect(certainSizes(grown).containers.get(ID)?.pod?.limits).toEqual({ memory: "1Gi" });
  });

  it("stays the earlier one until the new one is certain", () => {
    const asked = withAskedSize(made, "app", ID, NONE);
    expect([asked.containers, certainSizes(withContainerSize(asked, ID, sized(SMALL)))]).toEqual([
      made.containers,
      withContainerSize(made, ID, sized(SMALL)),
    ]);
  });
});
