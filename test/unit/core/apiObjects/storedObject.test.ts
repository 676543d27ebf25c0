import { expect, it } from "vitest";
import { fieldAt, keyOf, qualifiedResource, refOf, typeOf } from "../../../../src/core/apiObjects/storedObject.ts";

it.each([
  ["metadata.name", "web"],
  ["spec", { list: [1] }],
  ["spec.list.0", 1],
  ["spec.absent.name", undefined],
  ["metadata.name.length", undefined],
  ["nothing.name", undefined],
])("the field %s is %j", (path, expected) => {
  expect(fieldAt({ metadata: { name: "web" }, spec: { list: [1] }, nothing: null }, path)).toEqual(expected);
});

it.each([
  [{ metadata: { name: "web", namespace: "demo" } }, { name: "web", namespace: "demo" }, "demo/web"],
  [{ metadata: { name: "n1" } }, { name: "n1" }, "n1"],
  [{ metadata: {} }, { name: "" }, ""],
  [{}, { name: "" }, ""],
])("%j is referred to by %j", (object, ref, key) => {
  expect([refOf(object), keyOf(refOf(object))]).toEqual([ref, key]);
});

it("an empty namespace is none", () => {
  expect(keyOf({ namespace: "", name: "n1" })).toBe("n1");
});

it.each([
  ["pods", "pods", { apiVersion: "v1", kind: "Pod" }],
  ["leases", "leases.coordination.k8s.io", { apiVersion: "coordination.k8s.io/v1", kind: "Lease" }],
] as const)("%s are named %s", (resource, name, type) => {
  expect([qualifiedResource(resource), typeOf(resource)]).toEqual([name, type]);
});
