import { describe, expect, it } from "vitest";
import { patchSchemaOf } from "../../../../src/core/api/patchSchema.ts";
import { strategicMergePatch } from "../../../../src/sim/apiServer/patches/strategicMergePatch.ts";

type JsonMap = Readonly<Record<string, unknown>>;

const apply = (kind: string, original: JsonMap, patch: JsonMap): unknown => {
  const result = strategicMergePatch(original, patch, patchSchemaOf(kind));
  return result.ok ? result.value : `${result.error.code}: ${result.error.message}`;
};

const status = (...conditions: readonly JsonMap[]) => ({ status: { conditions } });
const condition = (type: string, value: string, more: JsonMap = {}) => ({ type, status: value, ...more });

const MAPS: readonly (readonly [string, JsonMap, JsonMap, JsonMap])[] = [
  ["merges maps key by key", { a: { b: 1, c: 2 } }, { a: { c: 3, d: 4 } }, { a: { b: 1, c: 3, d: 4 } }],
  ["removes a key by null", { a: 1, b: { c: 1, d: 2 } }, { a: null, b: { c: null } }, { b: { d: 2 } }],
  ["ignores null for what is not there", { a: 1 }, { b: null, c: { d: null } }, { a: 1, c: {} }],
  ["replaces values of another type", { a: { b: 1 }, c: [1] }, { a: [1], c: { d: 1 } }, { a: [1], c: { d: 1 } }],
  ["replaces a map by $patch: replace", { a: { b: 1 } }, { a: { $patch: "replace", c: 2 } }, { a: { c: 2 } }],
  ["empties a map by $patch: delete", { a: { b: 1 } }, { a: { $patch: "delete" } }, { a: {} }],
  [
    "keeps only the keys of $retainKeys",
    { a: { type: "X", x: { deep: 1 }, z: 1 } },
    { a: { $retainKeys: ["type", "y"], type: "Y", y: 2 } },
    { a: { type: "Y", y: 2 } },
  ],
  ["replaces lists that have no merge key", { a: [1, 2] }, { a: [3] }, { a: [3] }],
];

const LISTS: readonly (readonly [string, JsonMap, JsonMap, JsonMap])[] = [
  [
    "merges elements of one key and leaves the others",
    status(condition("Ready", "False", { reason: "a" }), condition("Other", "True")),
    status(condition("Ready", "True")),
    status(condition("Ready", "True", { reason: "a" }), condition("Other", "True")),
  ],
  [
    "adds elements of a new key in front, where nothing says otherwise",
    status(condition("A", "1")),
    status(condition("B", "2")),
    status(condition("B", "2"), condition("A", "1")),
  ],
  [
    "deletes an element by $patch: delete",
    status(condition("A", "1"), condition("B", "2")),
    status({ type: "A", $patch: "delete" }),
    status(condition("B", "2")),
  ],
  [
    "replaces the whole list by an element $patch: replace",
    status(condition("A", "1"), condition("B", "2")),
    status(condition("C", "3"), { $patch: "replace" }),
    status(condition("C", "3")),
  ],
  [
    "removes a field of an element by null",
    status(condition("A", "1", { reason: "x", message: "y" })),
    status({ type: "A", reason: null }),
    status(condition("A", "1", { message: "y" })),
  ],
  [
    "orders by $setElementOrder and keeps what only the server has ahead of what it preceded",
    status(condition("A", "1"), condition("Mine", "0"), condition("B", "2")),
    { status: { "$setElementOrder/conditions": [{ type: "B" }, { type: "A" }] } },
    status(condition("Mine", "0"), condition("B", "2"), condition("A", "1")),
  ],
  [
    "orders what it adds",
    status(condition("A", "1"), condition("C", "3")),
    {
      status: {
        "$setElementOrder/conditions": [{ type: "A" }, { type: "B" }, { type: "C" }],
        conditions: [condition("B", "2")],
      },
    },
    status(condition("A", "1"), condition("B", "2"), condition("C", "3")),
  ],
  [
    "drops directives and nulls from what was not there before",
    {},
    { status: { conditions: [condition("A", "1", { reason: null }), { type: "B", $patch: "delete" }] } },
    status(condition("A", "1")),
  ],
  [
    "merges pod addresses by ip",
    { status: { podIPs: [{ ip: "10.0.0.1" }] } },
    { status: { podIPs: [{ ip: "fd00::1" }, { ip: "10.0.0.1", $patch: "delete" }] } },
    { status: { podIPs: [{ ip: "fd00::1" }] } },
  ],
  [
    "merges containers by name and their lists by their keys",
    {
      spec: {
        containers: [
          { name: "a", image: "x:1", env: [{ name: "E", value: "1" }], command: ["a", "b"] },
          { name: "b", image: "y:1" },
        ],
      },
    },
    { spec: { containers: [{ name: "a", image: "x:2", env: [{ name: "F", value: "2" }], command: ["c"] }] } },
    {
      spec: {
        containers: [
          {
            name: "a",
            image: "x:2",
            env: [
              { name: "F", value: "2" },
              { name: "E", value: "1" },
            ],
            command: ["c"],
          },
          { name: "b", image: "y:1" },
        ],
      },
    },
  ],
  [
    "replaces container statuses as a whole",
    { status: { containerStatuses: [{ name: "a", ready: true }] } },
    { status: { containerStatuses: [{ name: "b", ready: false }] } },
    { status: { containerStatuses: [{ name: "b", ready: false }] } },
  ],
  [
    "merges finalizers as a set",
    { metadata: { finalizers: ["a", "b"] } },
    { metadata: { finalizers: ["b", "c"] } },
    { metadata: { finalizers: ["a", "b", "c"] } },
  ],
  [
    "removes from a set by $deleteFromPrimitiveList",
    { metadata: { finalizers: ["a", "b", "c"] } },
    { metadata: { "$deleteFromPrimitiveList/finalizers": ["b", "x"] } },
    { metadata: { finalizers: ["a", "c"] } },
  ],
  [
    "replaces the kind of a volume by $retainKeys",
    { spec: { volumes: [{ name: "v", emptyDir: {} }] } },
    { spec: { volumes: [{ name: "v", hostPath: { path: "/x" }, $retainKeys: ["name", "hostPath"] }] } },
    { spec: { volumes: [{ name: "v", hostPath: { path: "/x" } }] } },
  ],
];

const FAULTS: readonly (readonly [string, JsonMap, JsonMap, string])[] = [
  [
    "an element without its merge key",
    status(condition("A", "1")),
    status({ status: "True" }),
    "InvalidArgument: .status.conditions: an element has no merge key type",
  ],
  ["an unknown directive", { a: {} }, { a: { $patch: "merge" } }, 'InvalidArgument: .a: unknown $patch "merge"'],
  [
    "a change of what $retainKeys leaves out",
    { a: { b: 1 } },
    { a: { $retainKeys: ["b"], c: 1 } },
    "InvalidArgument: .a.c: is changed but not in $retainKeys",
  ],
  [
    "an order that contradicts the patch",
    status(condition("A", "1"), condition("B", "1")),
    {
      status: {
        "$setElementOrder/conditions": [{ type: "B" }, { type: "A" }],
        conditions: [condition("A", "2"), condition("B", "2")],
      },
    },
    "InvalidArgument: .status.conditions: the order of the patch does not match its $setElementOrder",
  ],
  [
    "an order that is not a list",
    {},
    { "$setElementOrder/a": "x" },
    "InvalidArgument: .a: $setElementOrder is not a list",
  ],
];

describe("strategicMergePatch", () => {
  it.each([...MAPS, ...LISTS])("%s", (_rule, original, patch, expected) => {
    const before = structuredClone([original, patch]);
    expect(apply("Pod", original, patch)).toEqual(expected);
    expect([original, patch]).toEqual(before);
  });

  it("replaces node addresses of one type only as a whole list", () => {
    const addresses = ["192.0.2.1", "2001:db8::1"].map((address) => ({ type: "InternalIP", address }));
    const original = { status: { addresses: [{ type: "InternalIP", address: "192.0.2.9" }] } };
    const patch = { status: { addresses: [...addresses, { $patch: "replace" }] } };
    expect(apply("Node", original, patch)).toEqual({ status: { addresses } });
  });

  it.each(FAULTS)("rejects %s", (_what, original, patch, message) => {
    expect(apply("Pod", original, patch)).toBe(message);
  });
});
