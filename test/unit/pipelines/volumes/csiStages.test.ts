import { describe, expect, it } from "vitest";
import { createCsiStages } from "../../../../src/pipelines/volumes/csiStages.ts";
import { createCell } from "../../../../src/state/cell.ts";

function stages() {
  const inUse = createCell<readonly string[] | undefined>(undefined);
  return { inUse, stages: createCsiStages(inUse) };
}

describe("staged CSI volumes", () => {
  it("report no volumes in use before those of an earlier kubelet are known", () => {
    const { inUse, stages: table } = stages();
    table.hold("d^h", "a/v", true);
    expect(inUse.value).toBeUndefined();
    table.loaded();
    expect(inUse.value).toEqual(["kubernetes.io/csi/d^h"]);
  });
  it("are one for all pods of the node", () => {
    const { stages: table } = stages();
    expect(table.hold("d^h", "a/v", true)).toBe(table.hold("d^h", "b/v", true));
  });
  it("stay in use until the last pod has gone", () => {
    const { inUse, stages: table } = stages();
    table.loaded();
    for (const holder of ["a/v", "b/v"]) table.hold("d^h", holder, true);
    table.drop("a/v");
    expect(inUse.value).toEqual(["kubernetes.io/csi/d^h"]);
    table.drop("b/v");
    expect(inUse.value).toEqual([]);
  });
  it("are in use only where they are attached", () => {
    const { inUse, stages: table } = stages();
    table.loaded();
    table.hold("d^h", "a/v", false);
    expect(inUse.value).toEqual([]);
  });
  it("are found by their pod", () => {
    const { stages: table } = stages();
    const stage = table.hold("d^h", "a/v", true);
    expect(table.of("a/v")).toEqual({ name: "d^h", stage });
    table.drop("a/v");
    expect(table.of("a/v")).toBeUndefined();
  });
  it("ignore the end of an unknown pod", () => {
    const { inUse, stages: table } = stages();
    table.loaded();
    table.drop("nobody/v");
    expect(inUse.value).toEqual([]);
  });
});
