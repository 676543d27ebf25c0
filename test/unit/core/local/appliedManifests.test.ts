import { expect, it } from "vitest";
import {
  appliedFileName,
  appliedText,
  isAppliedFile,
  kindOfWord,
  namesInManifest,
  objectsIn,
  refText,
  repeatedIn,
} from "../../../../src/core/local/appliedManifests.ts";

const objectsOf = (value: unknown) => objectsIn({ documents: [{ value, lineOf: () => undefined }] });
const pod = (name: string, more = {}) => ({ apiVersion: "v1", kind: "Pod", metadata: { name, ...more } });

it("finds objects in documents and lists, with their kind", () => {
  expect(objectsOf(pod("a")).map(refText)).toEqual(["pod default/a"]);
  const list = { kind: "List", items: [pod("a", { namespace: "n" }), { kind: "Secret", metadata: { name: "s" } }, 3] };
  expect(objectsOf(list).map(refText)).toEqual(["pod n/a", "secret default/s"]);
  const ofKind = { kind: "ConfigMapList", items: [{ metadata: { name: "c" } }] };
  expect(objectsOf(ofKind).map(appliedText)).toEqual([
    '{\n  "apiVersion": "v1",\n  "kind": "ConfigMap",\n  "metadata": {\n    "name": "c"\n  }\n}\n',
  ]);
  const runtimeClass = { kind: "RuntimeClass", metadata: { name: "kata" } };
  expect(objectsOf(runtimeClass).map(refText)).toEqual(["runtimeclass.node.k8s.io kata"]);
  expect([objectsOf(null), objectsOf("x"), objectsOf({ kind: "Deployment" })]).toEqual([[], [], []]);
});

it("names one file for each object, which no other object can have", () => {
  const refs = [
    { kind: "pod", namespace: "a", name: "b.c" },
    { kind: "pod", namespace: "a-b", name: "c" },
    { kind: "secret", namespace: "a", name: "b.c" },
    { kind: "runtimeclass.node.k8s.io", namespace: "", name: "a" },
  ] as const;
  const names = refs.map(appliedFileName);
  expect(names).toEqual([
    "rxlet-apply.pod.a_b.c.json",
    "rxlet-apply.pod.a-b_c.json",
    "rxlet-apply.secret.a_b.c.json",
    "rxlet-apply.runtimeclass_a.json",
  ]);
  expect(names.every((name) => name !== undefined && isAppliedFile(name))).toBe(true);
  expect(isAppliedFile("web.json")).toBe(false);
});

it("refuses a name that no file can have", () => {
  const ref = { kind: "pod", namespace: "default" } as const;
  const rest = "rxlet-apply.pod.default_.json".length;
  expect(appliedFileName({ ...ref, name: "x".repeat(255 - rest) })).toHaveLength(255);
  expect(appliedFileName({ ...ref, name: "x".repeat(256 - rest) })).toBeUndefined();
  for (const outside of ["a/../../etc/b", "..\0"]) {
    expect(appliedFileName({ ...ref, name: outside })).toBeUndefined();
    expect(appliedFileName({ ...ref, namespace: outside, name: "web" })).toBeUndefined();
  }
});

it("finds repeated objects", () => {
  expect(repeatedIn([...objectsOf(pod("a")), ...objectsOf(pod("b")), ...objectsOf(pod("a"))])).toEqual([
    "pod default/a",
  ]);
});

it("accepts the name of a pod in its manifest and on the node", () => {
  const named = (name: string) => namesInManifest({ kind: "pod", namespace: "default", name }, "Laptop");
  expect([named("web"), named("web-laptop"), named("-laptop")]).toEqual([["web"], ["web-laptop", "web"], ["-laptop"]]);
});

it("reads the words of kinds", () => {
  expect(["po", "Pods", "cm", "deployment"].map(kindOfWord)).toEqual(["pod", "pod", "configmap", undefined]);
});
