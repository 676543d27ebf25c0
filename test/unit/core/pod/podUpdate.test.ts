import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../src/core/api.ts";
import { diffSource, podsByUid } from "../../../../src/core/pod/podUpdate.ts";
import { podOf } from "../../../support/pods.ts";

const base = podOf({ uid: "a", labels: { app: "web" }, annotations: { note: "one" } });
const withMeta = (more: Partial<Pod["metadata"]>): Pod => ({ ...base, metadata: { ...base.metadata, ...more } });

/** Updates for the change from `before` to `after`, as `OP uid,uid`. */
const diff = (before: readonly Pod[], after: readonly Pod[]): readonly string[] =>
  diffSource(podsByUid(before), podsByUid(after), "file").map(
    ({ op, pods }) => `${op} ${pods.map(({ metadata }) => metadata.uid).join(",")}`,
  );

describe("diffSource", () => {
  const changes: readonly (readonly [string, Pod, readonly string[]])[] = [
    ["the object alone", podOf({ uid: "a", labels: { app: "web" }, annotations: { note: "one" } }), []],
    ["the spec", { ...base, spec: { ...base.spec, restartPolicy: "Never" } }, ["UPDATE a"]],
    [
      "a container's image",
      podOf({ ...base.metadata, spec: { containers: [{ name: "main", image: "two" }] } }),
      ["UPDATE a"],
    ],
    ["a label", withMeta({ labels: { app: "api" } }), ["UPDATE a"]],
    ["one label more", withMeta({ labels: { app: "web", tier: "front" } }), ["UPDATE a"]],
    ["no labels any more", withMeta({ labels: {} }), ["UPDATE a"]],
    ["an annotation", withMeta({ annotations: { note: "two" } }), ["UPDATE a"]],
    ["the moment it was seen", withMeta({ annotations: { note: "one", "kubernetes.io/config.seen": "now" } }), []],
    ["the source it came from", withMeta({ annotations: { note: "one", "kubernetes.io/config.source": "http" } }), []],
    [
      "the mark of a restored pod",
      withMeta({
        annotations: { note: "one", "kubernetes.io/config.source": "api", "rxlet.dev/restored": "true" },
      }),
      ["RECONCILE a"],
    ],
    ["the resource version", withMeta({ resourceVersion: "2" }), []],
    ["the wish to keep it", withMeta({ deletionTimestamp: "2026-01-01T00:00:00Z" }), ["DELETE a"]],
    ["the status", { ...base, status: { phase: "Failed" } }, ["RECONCILE a"]],
    ["spec and status", { ...base, spec: { ...base.spec, restartPolicy: "Never" }, status: {} }, ["UPDATE a"]],
  ];
  it.each(changes)("reports semantic changes only, when %s changes", (_what, after, expected) => {
    expect(diff([base], [after])).toEqual(expected);
  });

  it("reports a shorter grace period of a terminating pod as another DELETE", () => {
    const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 30 };
    const sooner = { ...deleted, deletionGracePeriodSeconds: 1 };
    expect(diff([withMeta(deleted)], [withMeta(sooner)])).toEqual(["DELETE a"]);
    expect(diff([withMeta(deleted)], [withMeta(deleted)])).toEqual([]);
  });

  it("treats absent and empty labels and annotations as equal, regardless of key order", () => {
    const bare = podOf({ uid: "a" });
    expect(diff([bare], [podOf({ uid: "a", labels: {}, annotations: {} })])).toEqual([]);
    expect(diff([withMeta({ labels: { a: "1", b: "2" } })], [withMeta({ labels: { b: "2", a: "1" } })])).toEqual([]);
  });

  it("reports removals first, then deletions, additions, updates and status changes, each in source order", () => {
    const pods = (...uids: readonly string[]) => uids.map((uid) => podOf({ uid }));
    const [keeps, changes, status, deleted] = pods("keeps", "changes", "status", "deleted") as [Pod, Pod, Pod, Pod];
    const after = [
      ...pods("new1"),
      { ...status, status: { phase: "Running" } },
      { ...changes, spec: { ...changes.spec, restartPolicy: "Never" } },
      keeps,
      { ...deleted, metadata: { ...deleted.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } },
      ...pods("new2"),
    ];
    expect(diff([...pods("gone1"), keeps, changes, status, deleted, ...pods("gone2")], after)).toEqual([
      "REMOVE gone1,gone2",
      "DELETE deleted",
      "ADD new1,new2",
      "UPDATE changes",
      "RECONCILE status",
    ]);
  });

  it("carries the source's name and the new version of a pod, or the last known version of a removed pod", () => {
    const after = withMeta({ labels: { app: "api" } });
    expect(diffSource(podsByUid([base]), podsByUid([after]), "http")).toEqual([
      { op: "UPDATE", source: "http", pods: [after] },
    ]);
    expect(diffSource(podsByUid([base]), podsByUid([]), "http")).toEqual([
      { op: "REMOVE", source: "http", pods: [base] },
    ]);
  });
});

describe("podsByUid", () => {
  it("keeps the source's order and the first of two pods with the same UID", () => {
    const [a, b, again] = [podOf({ uid: "a" }), podOf({ uid: "b" }), podOf({ uid: "a", name: "again" })];
    expect([...podsByUid([b, a, again])]).toEqual([
      ["b", b],
      ["a", a],
    ]);
  });
});
