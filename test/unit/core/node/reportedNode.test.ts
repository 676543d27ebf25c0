import { describe, expect, it } from "vitest";
import type { Node } from "../../../../src/core/api.ts";
import { beingReported, confirmedNode, type ReportedNode } from "../../../../src/core/node/reportedNode.ts";

const nodeOf = (resourceVersion: string, volumesInUse: readonly string[], uid = "u"): Node => ({
  metadata: { name: "n", uid, resourceVersion },
  status: { volumesInUse: [...volumesInUse], volumesAttached: [{ name: `at ${resourceVersion}`, devicePath: "" }] },
});
const reportedOf = (resourceVersion: string, volumesInUse: readonly string[], uid?: string): ReportedNode => ({
  node: nodeOf(resourceVersion, volumesInUse, uid),
  volumesInUse,
});

describe("the volumes in use that the API server has for sure", () => {
  it.each<[string, ReportedNode | undefined, readonly string[]]>([
    ["are none before the first report", undefined, []],
    ["are those of the report", reportedOf("4", ["a", "b"]), ["a", "b"]],
    ["are not those that a report under way removes", beingReported(reportedOf("4", ["a", "b"]), ["b", "c"]), ["b"]],
    ["are none of another Node of the same name", reportedOf("4", ["a"], "other"), []],
  ])("%s", (_, reported, names) => {
    expect(confirmedNode(nodeOf("5", ["a", "b", "c"]), reported)?.status?.volumesInUse).toEqual(names);
  });

  it("are not those that the Node no longer has", () => {
    expect(confirmedNode(nodeOf("5", []), reportedOf("4", ["a"]))?.status?.volumesInUse).toEqual([]);
  });

  it("come with the attached volumes of the answer, or of a newer Node", () => {
    const attached = (version: string) =>
      confirmedNode(nodeOf(version, ["a"]), reportedOf("4", ["a"]))?.status?.volumesAttached?.[0]?.name;
    expect([attached("3"), attached("5")]).toEqual(["at 4", "at 5"]);
  });

  it("are unknown without the Node", () => {
    expect(confirmedNode(undefined, reportedOf("4", ["a"]))).toBeUndefined();
  });

  it("stay reported while a report without a list is under way", () => {
    const reported = reportedOf("4", ["a"]);
    expect([beingReported(reported, undefined), beingReported(reported, ["a", "b"])]).toEqual([reported, reported]);
  });
});
