import { describe, expect, it } from "vitest";
import { objectTtlMs } from "../../../../src/core/node/objectTtl.ts";

const nodeWith = (ttl: string) => ({ metadata: { name: "one", annotations: { "node.alpha.kubernetes.io/ttl": ttl } } });

describe("objectTtlMs", () => {
  it.each([
    ["0", 0],
    ["15", 15_000],
    ["300", 300_000],
    ["", undefined],
    ["1m", undefined],
  ])("%j: %s", (ttl, ms) => expect(objectTtlMs(nodeWith(ttl))).toBe(ms));

  it("is undefined without an annotation, and without a node", () => {
    expect([objectTtlMs({ metadata: { name: "one" } }), objectTtlMs(undefined)]).toEqual([undefined, undefined]);
  });
});
