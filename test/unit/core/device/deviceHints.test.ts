import { describe, expect, it } from "vitest";
import { deviceHints, placeOf } from "../../../../src/core/device/deviceHints.ts";
import type { Device } from "../../../../src/core/device/deviceState.ts";
import { countNodes, fullMask } from "../../../../src/core/topology/numaMask.ts";
import { ANYWHERE, NOWHERE, numaHints, type ResourceHints } from "../../../../src/core/topology/topologyHint.ts";
import { createPrng } from "../../../../src/sim/prng.ts";

const device = (id: number, nodes: readonly number[]): Device => ({ id: `d${id}`, isHealthy: true, nodes });

/** Counts the devices of each set of nodes, as upstream's documentation describes it. */
function exhaustive(
  all: readonly Device[],
  free: readonly Device[],
  reusable: readonly Device[],
  nodeIds: readonly number[],
  count: number,
): ResourceHints {
  if (all.every(({ nodes }) => nodes.length === 0)) return ANYWHERE;
  if (new Set([...free, ...reusable]).size < count) return NOWHERE;
  const masks = Array.from({ length: fullMask(nodeIds.length) }, (_, index) => index + 1);
  const isNear = (it: Device, mask: number): boolean => (placeOf(it, nodeIds) & mask) !== 0;
  const enough = masks.filter((mask) => all.filter((it) => isNear(it, mask)).length >= count);
  const fewest = Math.min(nodeIds.length, ...enough.map(countNodes));
  const placed = reusable.filter((it) => placeOf(it, nodeIds) !== 0);
  const rest = free.filter((it) => !reusable.includes(it));
  return numaHints(
    masks
      .filter((mask) => placed.every((it) => isNear(it, mask)))
      .filter((mask) => placed.length + rest.filter((it) => isNear(it, mask)).length >= count)
      .map((mask) => ({ mask, isPreferred: countNodes(mask) === fewest })),
    nodeIds.length,
  );
}

describe("deviceHints", () => {
  it("are those of an exhaustive count, on machines of 1 to 5 nodes with devices of any number of nodes", () => {
    const prng = createPrng(7);
    const draw = (below: number): number => Math.floor(prng.next() * below);
    const kinds = new Set<string>();
    for (let run = 0; run < 400; run += 1) {
      // Ids with gaps, and devices on nodes that the machine does not have.
      const nodeIds = Array.from({ length: 1 + draw(5) }, (_, index) => index * 2);
      const all = Array.from({ length: draw(9) }, (_, id) =>
        device(
          id,
          Array.from({ length: draw(4) }, () => draw(11)),
        ),
      );
      const free = all.filter(() => prng.next() < 0.7);
      const reusable = free.filter(() => prng.next() < 0.3);
      const count = 1 + draw(4);
      const hints = deviceHints({ all, free, reusable }, nodeIds, count);
      kinds.add(hints.kind);
      expect(hints).toEqual(exhaustive(all, free, reusable, nodeIds, count));
    }
    expect([...kinds].sort()).toEqual(["anywhere", "nowhere", "numa"]);
  });

  it("takes ten thousand devices, each on nodes of its own, on 16 nodes", () => {
    const nodeIds = Array.from({ length: 16 }, (_, index) => index);
    const all = Array.from({ length: 10_000 }, (_, id) =>
      device(
        id,
        nodeIds.filter((node) => ((id >>> (node % 13)) & 1) === 1),
      ),
    );
    const hints = deviceHints({ all, free: all, reusable: [] }, nodeIds, 9_990);
    expect(hints.kind).toBe("numa");
  });
});
