import { describe, expect, it } from "vitest";
import { type MergedHint, mergeHints, type NumaTopology } from "../../../../src/core/topology/mergeHints.ts";
import { countNodes, fullMask, nodesOf } from "../../../../src/core/topology/numaMask.ts";
import {
  ANYWHERE,
  NOWHERE,
  numaHints,
  type ResourceHints,
  type TopologyHint,
} from "../../../../src/core/topology/topologyHint.ts";
import { createPrng } from "../../../../src/sim/prng.ts";

/** Hints of one resource as upstream lists them. */
type Listed = readonly TopologyHint[];

const asResource = (hints: Listed, nodes: number): ResourceHints => {
  const placed = hints.flatMap(({ mask, isPreferred }) => (mask === undefined ? [] : [{ mask, isPreferred }]));
  if (placed.length > 0) return numaHints(placed, nodes);
  return hints[0]?.isPreferred === true ? ANYWHERE : NOWHERE;
};

/** Tries every combination, and compares each result with the best so far by the rules of upstream's documentation. */
function exhaustive(resources: readonly Listed[], topology: NumaTopology): MergedHint {
  const everywhere = fullMask(topology.nodes);
  const counts = resources.map((hints) =>
    Math.min(...hints.flatMap(({ mask }) => (mask === undefined ? [] : [countNodes(mask)]))),
  );
  const needed = Math.max(0, ...counts.filter(Number.isFinite));
  const distance = (mask: number): number => {
    const nodes = nodesOf(mask);
    const all = nodes.flatMap((from) => nodes.map((to) => topology.distances?.[from]?.[to] ?? 0));
    return all.reduce((sum, each) => sum + each, 0) / all.length;
  };
  const fits = (candidate: number, current: number): boolean =>
    countNodes(candidate) - countNodes(current) < 0 ||
    (countNodes(candidate) === countNodes(current) &&
      (distance(candidate) < distance(current) || (distance(candidate) === distance(current) && candidate < current)));
  const isBetter = (candidate: MergedHint, current: MergedHint): boolean => {
    if (candidate.isPreferred !== current.isPreferred) return candidate.isPreferred;
    if (candidate.isPreferred) return fits(candidate.mask, current.mask);
    const [next, now] = [countNodes(candidate.mask), countNodes(current.mask)];
    if (now > needed) return fits(candidate.mask, current.mask);
    if (now === needed) return next === needed && fits(candidate.mask, current.mask);
    if (next > needed) return false;
    if (next === needed) return true;
    return next === now ? fits(candidate.mask, current.mask) : next > now;
  };
  let best: MergedHint | undefined;
  const visit = (index: number, chosen: Listed): void => {
    const hints = resources[index];
    if (hints !== undefined) {
      for (const hint of hints) visit(index + 1, [...chosen, hint]);
      return;
    }
    const masks = chosen.flatMap(({ mask }) => (mask === undefined ? [] : [mask]));
    const mask = masks.reduce((common, each) => common & each, everywhere);
    const isPreferred = chosen.every((hint) => hint.isPreferred) && new Set(masks).size <= 1;
    if (mask !== 0 && (best === undefined || isBetter({ mask, isPreferred }, best))) best = { mask, isPreferred };
  };
  visit(0, []);
  return best ?? { mask: everywhere, isPreferred: false };
}

describe("mergeHints", () => {
  const two: NumaTopology = { nodes: 2, distances: undefined };

  it.each<[string, readonly Listed[], MergedHint]>([
    ["no resources", [], { mask: 0b11, isPreferred: true }],
    ["a resource without a place", [[{ mask: undefined, isPreferred: true }]], { mask: 0b11, isPreferred: true }],
    ["a resource that fits nowhere", [[{ mask: undefined, isPreferred: false }]], { mask: 0b11, isPreferred: false }],
    [
      "two resources that prefer the same node",
      [
        [
          { mask: 0b01, isPreferred: true },
          { mask: 0b10, isPreferred: true },
          { mask: 0b11, isPreferred: false },
        ],
        [
          { mask: 0b10, isPreferred: true },
          { mask: 0b11, isPreferred: false },
        ],
      ],
      { mask: 0b10, isPreferred: true },
    ],
    [
      "two resources on different nodes",
      [
        [
          { mask: 0b01, isPreferred: true },
          { mask: 0b11, isPreferred: false },
        ],
        [
          { mask: 0b10, isPreferred: true },
          { mask: 0b11, isPreferred: false },
        ],
      ],
      { mask: 0b01, isPreferred: false },
    ],
    [
      "a resource that fits nowhere beside one that prefers a node",
      [[{ mask: 0b10, isPreferred: true }], [{ mask: undefined, isPreferred: false }]],
      { mask: 0b10, isPreferred: false },
    ],
  ])("merges %s", (_, resources, expected) => {
    expect(
      mergeHints(
        resources.map((hints) => asResource(hints, 2)),
        two,
      ),
    ).toEqual(expected);
  });

  it("prefers the closest of masks of equal size if distances are known", () => {
    const distances = [
      [10, 30, 20],
      [30, 10, 30],
      [20, 30, 10],
    ];
    const hints = [0b011, 0b101, 0b110].map((mask) => ({ mask, isPreferred: true }));
    expect(mergeHints([asResource(hints, 3)], { nodes: 3, distances }).mask).toBe(0b101);
    expect(mergeHints([asResource(hints, 3)], { nodes: 3, distances: undefined }).mask).toBe(0b011);
  });

  it.each([
    [
      "distances that differ by direction",
      [
        [10, 12, 21],
        [40, 10, 21],
        [21, 21, 10],
      ],
      0b101,
    ],
    [
      "a node that is far from itself",
      [
        [90, 15, 15],
        [15, 10, 15],
        [15, 15, 10],
      ],
      0b110,
    ],
    [
      "equal distances: the lowest nodes",
      [
        [10, 20, 20],
        [20, 10, 20],
        [20, 20, 10],
      ],
      0b011,
    ],
  ])("compares masks by %s", (_, distances, expected) => {
    const hints = [0b011, 0b101, 0b110].map((mask) => ({ mask, isPreferred: true }));
    expect(mergeHints([asResource(hints, 3)], { nodes: 3, distances }).mask).toBe(expected);
  });

  it("orders intersections of equal size by distance, then by their nodes", () => {
    const far = (nodes: number, near: readonly [number, number]) =>
      Array.from({ length: nodes }, (_, from) =>
        Array.from({ length: nodes }, (__, to) =>
          from === to ? 10 : near.includes(from) && near.includes(to) ? 12 : 30,
        ),
      );
    // Every pair of the nodes 0 to 3 is within both masks of three nodes or in an intersection of them.
    const unpreferred = (masks: readonly number[]) =>
      asResource(
        masks.map((mask) => ({ mask, isPreferred: false })),
        4,
      );
    const resources = [unpreferred([0b0111, 0b1101]), unpreferred([0b1111, 0b1011])];
    for (const [near, mask] of [
      [[0, 1], 0b0111],
      [[2, 3], 0b1101],
      [[1, 3], 0b0111],
    ] as const) {
      expect(mergeHints(resources, { nodes: 4, distances: far(4, near) })).toEqual({ mask, isPreferred: false });
    }
  });

  it("has the result of the exhaustive comparison for any hints", () => {
    const rng = createPrng(18);
    const below = (bound: number): number => Math.floor(rng.next() * bound);
    for (let round = 0; round < 3_000; round += 1) {
      const nodes = 1 + below(4);
      const distances =
        below(2) === 0
          ? undefined
          : Array.from({ length: nodes }, (_, from) =>
              Array.from({ length: nodes }, (__, to) => (from === to ? 10 : 11 + below(4))),
            );
      const resources = Array.from({ length: below(5) }, (): Listed => {
        const kind = below(8);
        if (kind < 2) return [{ mask: undefined, isPreferred: kind === 0 }];
        const masks = new Set(Array.from({ length: 1 + below(4) }, () => 1 + below(fullMask(nodes))));
        return [...masks].map((mask) => ({ mask, isPreferred: below(3) > 0 }));
      });
      const topology = { nodes, distances };
      const merged = mergeHints(
        resources.map((hints) => asResource(hints, nodes)),
        topology,
      );
      expect({ round, ...merged }).toEqual({ round, ...exhaustive(resources, topology) });
    }
  });
});
