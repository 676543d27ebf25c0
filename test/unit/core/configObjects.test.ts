import { describe, expect, it } from "vitest";
import {
  type ConfigMap,
  configObjectsOf,
  keyOf,
  lookedUp,
  objectKey,
  objectsReadBy,
  type RuntimeClass,
  type Secret,
} from "../../../src/core/configObjects.ts";
import { kubeletError } from "../../../src/core/errors.ts";
import { containerOf, podOf } from "../../support/pods.ts";

const map = (name: string, value = "1"): ConfigMap => ({
  kind: "ConfigMap",
  metadata: { namespace: "demo", name },
  data: { value },
});
const secret = (name: string): Secret => ({ kind: "Secret", metadata: { namespace: "demo", name } });
const runtimeClass: RuntimeClass = { kind: "RuntimeClass", metadata: { name: "a" }, handler: "kata" };
const error = kubeletError("Unavailable", "away");

it.each([
  [map("a"), "ConfigMap demo/a"],
  [secret("a"), "Secret demo/a"],
  [runtimeClass, "RuntimeClass a"],
])("%j has the key %s", (object, key) => {
  expect(keyOf(object)).toBe(key);
});

describe("configObjectsOf", () => {
  const objects = configObjectsOf(
    [map("a"), map("a", "2"), secret("a"), runtimeClass],
    [],
    new Map([[objectKey("Secret", "demo", "b"), error]]),
  );

  it("finds objects by kind, namespace and name, the first of each key", () => {
    expect([
      objects.configMap("demo", "a"),
      objects.configMap("other", "a"),
      objects.secret("demo", "a"),
      objects.secret("demo", "b"),
    ]).toEqual([map("a"), undefined, secret("a"), undefined]);
    expect([...objects.runtimeClasses]).toEqual([["a", runtimeClass]]);
  });

  it("has the problems of objects that could not be looked up", () => {
    expect([objects.problem("Secret", "demo", "b"), objects.problem("ConfigMap", "demo", "b")]).toEqual([
      error,
      undefined,
    ]);
  });
});

describe("lookedUp", () => {
  const objects = lookedUp(
    new Map([
      [objectKey("ConfigMap", "demo", "a"), { kind: "found", object: map("a") }],
      [objectKey("ConfigMap", "demo", "b"), { kind: "missing" }],
      [objectKey("Secret", "demo", "a"), { kind: "unknown", error }],
    ]),
    objectKey("ConfigMap", "demo", "a"),
  );

  it.each([
    ["found", "a", map("a"), undefined],
    ["missing", "b", undefined, undefined],
    ["not looked up", "c", undefined, undefined],
  ])("a ConfigMap that is %s", (_, name, object, problem) => {
    expect([objects.configMap("demo", name), objects.problem("ConfigMap", "demo", name)]).toEqual([object, problem]);
  });

  it("a Secret that is unknown has a problem, and the change is named", () => {
    expect([objects.secret("demo", "a"), objects.problem("Secret", "demo", "a")]).toEqual([undefined, error]);
    expect([objects.news, objects.services, objects.runtimeClasses.size]).toEqual(["ConfigMap demo/a", [], 0]);
  });
});

describe("objectsReadBy", () => {
  const containers = [
    containerOf({ env: [{ name: "A", valueFrom: { configMapKeyRef: { name: "a", key: "value" } } }] }),
    containerOf({ name: "b", envFrom: [{ secretRef: { name: "a" } }] }),
  ];
  const objects = configObjectsOf([map("a"), secret("a"), map("b")]);
  const classes = new Map([["a", runtimeClass]]);

  it.each([
    ["the default handler", undefined, ""],
    ["the handler of its class", "a", "kata"],
    ["no handler of a missing class", "gone", undefined],
  ])("returns %s, and the objects of the containers' variables", (_, runtimeClassName, handler) => {
    const spec = { containers, ...(runtimeClassName === undefined ? {} : { runtimeClassName }) };
    expect(objectsReadBy(podOf({ spec }), objects, classes)).toEqual([handler, map("a"), secret("a")]);
  });
});
