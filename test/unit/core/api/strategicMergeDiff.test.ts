import { describe, expect, it } from "vitest";
import { patchSchemaOf } from "../../../../src/core/api/patchSchema.ts";
import { createStatusPatch } from "../../../../src/core/api/statusPatch.ts";
import { strategicMergeDiff } from "../../../../src/core/api/strategicMergeDiff.ts";
import { strategicMergePatch } from "../../../../src/sim/apiServer/patches/strategicMergePatch.ts";
import { createPrng, type Prng } from "../../../../src/sim/prng.ts";

type JsonMap = Readonly<Record<string, unknown>>;
const POD = patchSchemaOf("Pod");
const ready = { type: "Ready", status: "True" };
const scheduled = { type: "PodScheduled", status: "True" };

const CASES: readonly (readonly [string, JsonMap, JsonMap, JsonMap])[] = [
  ["is empty for the same object", { a: { b: [1] } }, { a: { b: [1] } }, {}],
  ["takes undefined for absent", { a: 1, b: undefined }, { a: 1, c: undefined }, {}],
  ["has only what changed", { a: { b: 1, c: 2 }, d: 3 }, { a: { b: 1, c: 4 }, d: 3 }, { a: { c: 4 } }],
  ["removes by null", { a: 1, b: { c: 1, d: 1 } }, { b: { d: 1 } }, { a: null, b: { c: null } }],
  ["replaces lists that have no merge key", { a: [1, 2] }, { a: [2] }, { a: [2] }],
  [
    "changes elements by their key and includes the order",
    { status: { conditions: [scheduled, { ...ready, status: "False", reason: "x" }] } },
    { status: { conditions: [scheduled, ready] } },
    {
      status: {
        "$setElementOrder/conditions": [{ type: "PodScheduled" }, { type: "Ready" }],
        conditions: [{ type: "Ready", status: "True", reason: null }],
      },
    },
  ],
  [
    "deletes elements at the end",
    { status: { podIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }] } },
    { status: { podIPs: [{ ip: "10.0.0.2" }] } },
    {
      status: {
        "$setElementOrder/podIPs": [{ ip: "10.0.0.2" }],
        podIPs: [{ ip: "10.0.0.2" }, { $patch: "delete", ip: "10.0.0.1" }, { $patch: "delete", ip: "fd00::1" }],
      },
    },
  ],
  [
    "contains only a new order",
    { status: { conditions: [scheduled, ready] } },
    { status: { conditions: [ready, scheduled] } },
    { status: { "$setElementOrder/conditions": [{ type: "Ready" }, { type: "PodScheduled" }] } },
  ],
  [
    "adds a list where there was none",
    { status: {} },
    { status: { conditions: [ready] } },
    { status: { conditions: [ready] } },
  ],
  [
    "adds to and removes from sets",
    { metadata: { finalizers: ["a", "b"] } },
    { metadata: { finalizers: ["b", "c"] } },
    {
      metadata: {
        finalizers: ["c"],
        "$deleteFromPrimitiveList/finalizers": ["a"],
        "$setElementOrder/finalizers": ["b", "c"],
      },
    },
  ],
  [
    "names no keys of a volume that stays",
    { spec: { volumes: [{ name: "v", emptyDir: {} }] } },
    { spec: { volumes: [{ name: "v", emptyDir: {} }], hostname: "h" } },
    { spec: { hostname: "h" } },
  ],
  [
    "names no keys of a volume that stays beside another",
    { spec: { volumes: [{ name: "v", emptyDir: {} }] } },
    {
      spec: {
        volumes: [
          { name: "v", emptyDir: {} },
          { name: "w", emptyDir: {} },
        ],
      },
    },
    {
      spec: {
        "$setElementOrder/volumes": [{ name: "v" }, { name: "w" }],
        volumes: [{ name: "w", emptyDir: {} }],
      },
    },
  ],
  [
    "names the keys that stay in a volume",
    { spec: { volumes: [{ name: "v", emptyDir: {} }] } },
    { spec: { volumes: [{ name: "v", hostPath: { path: "/x" } }] } },
    {
      spec: {
        "$setElementOrder/volumes": [{ name: "v" }],
        volumes: [{ name: "v", emptyDir: null, hostPath: { path: "/x" }, $retainKeys: ["hostPath", "name"] }],
      },
    },
  ],
];

function drawnStatus(prng: Prng): JsonMap {
  const types = ["A", "B", "C", "D", "E"].filter(() => prng.chance(0.6)).sort(() => prng.next() - 0.5);
  const ips = ["1", "2", "3"].filter(() => prng.chance(0.5)).sort(() => prng.next() - 0.5);
  const status: Record<string, unknown> = {
    conditions: types.map((type) => ({
      type,
      status: prng.pick(["True", "False"]),
      ...(prng.chance(0.5) ? { reason: prng.pick(["x", "y"]) } : {}),
    })),
    podIPs: ips.map((ip) => ({ ip })),
    phase: prng.pick(["Pending", "Running"]),
    containerStatuses: ["a", "b"].filter(() => prng.chance(0.5)).map((name) => ({ name, ready: prng.chance(0.5) })),
  };
  for (const key of Object.keys(status)) if (prng.chance(0.15)) delete status[key];
  return { status, metadata: { finalizers: ["f", "g"].filter(() => prng.chance(0.5)) } };
}

describe("strategicMergeDiff", () => {
  it.each(CASES)("%s", (_rule, older, newer, patch) => {
    expect(strategicMergeDiff(older, newer, POD)).toEqual(patch);
  });

  it("turns the older object into the newer one, for 2,000 random pairs", () => {
    const prng = createPrng("patch round trips");
    for (let round = 0; round < 2_000; round += 1) {
      const [older, newer] = [drawnStatus(prng), drawnStatus(prng)];
      const result = strategicMergePatch(older, strategicMergeDiff(older, newer, POD), POD);
      expect({ round, result }).toEqual({ round, result: { ok: true, value: newer } });
    }
  });

  it("keeps what other clients added meanwhile", () => {
    const older = { status: { conditions: [scheduled] } };
    const patch = strategicMergeDiff(older, { status: { conditions: [scheduled, ready] } }, POD);
    const gate = { type: "example.com/gate", status: "True" };
    expect(strategicMergePatch({ status: { conditions: [scheduled, gate] } }, patch, POD)).toEqual({
      ok: true,
      value: { status: { conditions: [scheduled, ready, gate] } },
    });
  });
});

describe("createStatusPatch", () => {
  it("is undefined when the status is unchanged", () => {
    const pod = { metadata: { uid: "u" }, status: { phase: "Running" } };
    expect(createStatusPatch("Pod", pod, { ...pod, metadata: { uid: "u", labels: { a: "b" } } })).toBeUndefined();
  });

  it("contains the uid of a pod and its changed status", () => {
    const metadata = { uid: "u" };
    const patch = createStatusPatch(
      "Pod",
      { metadata, status: { phase: "Pending" } },
      { metadata, status: { phase: "Running" } },
    );
    expect(patch).toEqual({ metadata: { uid: "u" }, status: { phase: "Running" } });
  });

  it("contains labels and annotations of a node", () => {
    const older = { metadata: { labels: { a: "1", b: "1" } }, status: {} };
    const newer = { metadata: { labels: { a: "2" }, annotations: { c: "3" } }, status: {} };
    expect(createStatusPatch("Node", older, newer)).toEqual({
      metadata: { labels: { a: "2", b: null }, annotations: { c: "3" } },
    });
  });

  it("replaces the addresses of a node, of which two may have the same type", () => {
    const address = (text: string) => ({ type: "InternalIP", address: text });
    const older = { status: { phase: "x", addresses: [address("192.0.2.1")] } };
    const newer = { status: { phase: "x", addresses: [address("192.0.2.1"), address("2001:db8::1")] } };
    expect(createStatusPatch("Node", older, newer)).toEqual({
      status: { addresses: [address("192.0.2.1"), address("2001:db8::1"), { $patch: "replace" }] },
    });
  });
});
