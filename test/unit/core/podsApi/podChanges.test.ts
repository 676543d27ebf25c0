import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../src/core/api.ts";
import { type KnownPods, listedPods, podChanges } from "../../../../src/core/podsApi/podChanges.ts";
import { podOf } from "../../../support/pods.ts";

const [a, b] = ["a", "b"].map((uid) => podOf({ uid, name: `pod-${uid}` })) as [Pod, Pod];
const NONE: KnownPods = new Map();

/** The changes between two lists, as `type uid`. */
function between(before: readonly Pod[], after: readonly Pod[]): readonly string[] {
  const { known } = podChanges(NONE, before);
  return podChanges(known, after).changes.map(({ type, pod }) => `${type} ${pod.metadata.uid}`);
}

describe("podChanges", () => {
  it.each<[string, readonly Pod[], readonly Pod[], readonly string[]]>([
    ["new pods, by UID", [], [b, a], ["ADDED a", "ADDED b"]],
    ["nothing for the same parts in a new object", [a], [{ ...a }], []],
    ["a new status", [a, b], [a, { ...b, status: { phase: "Running" } }], ["MODIFIED b"]],
    ["new metadata", [a], [{ ...a, metadata: { ...a.metadata } }], ["MODIFIED a"]],
    ["a pod that is gone, before a new one", [b], [a], ["DELETED b", "ADDED a"]],
  ])("finds %s", (_, before, after, expected) => {
    expect(between(before, after)).toEqual(expected);
  });

  it("has name, namespace and UID alone of a pod that is gone", () => {
    const { known } = podChanges(NONE, [a]);
    expect(podChanges(known, []).changes).toEqual([
      { type: "DELETED", pod: { metadata: { name: "pod-a", namespace: "demo", uid: "a" } } },
    ]);
  });
});

describe("listedPods", () => {
  it("sorts by UID, and gives a pod without a status the phase Pending", () => {
    const running: Pod = { ...b, status: { phase: "Running" } };
    expect(listedPods([running, a]).map(({ metadata, status }) => [metadata.uid, status?.phase])).toEqual([
      ["a", "Pending"],
      ["b", "Running"],
    ]);
  });
});
