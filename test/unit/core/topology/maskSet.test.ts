import { describe, expect, it } from "vitest";
import {
  addMask,
  allMasks,
  commonMasks,
  containedMasks,
  hasMask,
  type MaskSet,
  masksOfSize,
  noMasks,
  smallestSize,
} from "../../../../src/core/topology/maskSet.ts";
import { countNodes, fullMask, maskOf, MAX_NUMA_NODES, nodesOf } from "../../../../src/core/topology/numaMask.ts";
import { createPrng } from "../../../../src/sim/prng.ts";

/** Machines within a word of a set, of exactly one word, and of several. */
const SIZES = [1, 2, 4, 5, 6, 8] as const;

const setOf = (nodes: number, masks: readonly number[]): MaskSet => {
  const set = noMasks(nodes);
  for (const mask of masks) addMask(set, mask);
  return set;
};

const masksIn = (set: MaskSet, nodes: number): readonly number[] =>
  Array.from({ length: fullMask(nodes) + 1 }, (_, mask) => mask).filter((mask) => hasMask(set, mask));

describe("masks of NUMA nodes", () => {
  it.each([
    [0b0, []],
    [0b1, [0]],
    [0b1010, [1, 3]],
    [0b1000_0000_0000_0001, [0, 15]],
  ])("%s has the nodes %j", (mask, nodes) => {
    expect(nodesOf(mask)).toEqual(nodes);
    expect(maskOf(nodes)).toBe(mask);
    expect(countNodes(mask)).toBe(nodes.length);
  });

  it("has all nodes of a machine", () => {
    expect(fullMask(MAX_NUMA_NODES)).toBe(0xffff);
  });
});

describe("sets of masks", () => {
  it.each([
    [1, 1],
    [5, 1],
    [6, 2],
    [16, 2_048],
  ])("over %i nodes take %i words", (nodes, words) => {
    expect(noMasks(nodes)).toHaveLength(words);
  });

  it.each(SIZES)("over %i nodes answer as lists of masks do", (nodes) => {
    const rng = createPrng(nodes);
    for (let round = 0; round < 30; round += 1) {
      const draw = (): readonly number[] =>
        Array.from({ length: fullMask(nodes) }, (_, index) => index + 1).filter(() => rng.chance(0.1));
      const [some, others] = [draw(), draw()];
      const [set, other] = [setOf(nodes, some), setOf(nodes, others)];
      expect(masksIn(set, nodes)).toEqual(some);
      expect(masksIn(commonMasks([set, other], nodes), nodes)).toEqual(some.filter((mask) => others.includes(mask)));
      expect(masksIn(allMasks([set, other], nodes), nodes)).toEqual(
        [...new Set([...some, ...others])].sort((a, b) => a - b),
      );
      for (let size = 1; size <= nodes; size += 1) {
        expect(masksOfSize(set, size)).toEqual(some.filter((mask) => countNodes(mask) === size));
      }
      const smallest = Math.min(...some.map(countNodes));
      expect(smallestSize(set, nodes)).toBe(some.length === 0 ? undefined : smallest);
    }
  });

  it.each(SIZES)("contain every part of a mask over %i nodes", (nodes) => {
    for (let mask = 1; mask <= fullMask(nodes); mask += 1) {
      const parts = masksIn(containedMasks(setOf(nodes, [mask])), nodes);
      expect(parts).toHaveLength(2 ** countNodes(mask));
      expect(parts.filter((part) => (part & mask) !== part)).toEqual([]);
    }
  });

  it("leave those that they are combined from as they were", () => {
    const [one, two] = [setOf(2, [1]), setOf(2, [2])];
    allMasks([one, two], 2);
    commonMasks([one, two], 2);
    containedMasks(two);
    expect([masksIn(one, 2), masksIn(two, 2)]).toEqual([[1], [2]]);
  });

  it("have a mask of the highest node of the largest machine", () => {
    const highest = 1 << (MAX_NUMA_NODES - 1);
    const set = setOf(MAX_NUMA_NODES, [highest]);
    expect([hasMask(set, highest), hasMask(set, highest | 1)]).toEqual([true, false]);
    expect(masksOfSize(set, 1)).toEqual([highest]);
    expect(masksOfSize(containedMasks(setOf(MAX_NUMA_NODES, [0xffff])), 15)).toHaveLength(16);
  });
});
