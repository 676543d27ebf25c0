/**
 * Sets of NUMA masks as one bit per mask, so that a question about all subsets of 16 nodes takes 2,048 operations on
 * words instead of 65,536 on objects.
 */
import { invariant } from "../invariant.ts";
import { countNodes, MAX_NUMA_NODES, type NumaMask } from "./numaMask.ts";

/** Bit m % 32 of word m / 32 says whether mask m belongs to the set. */
export type MaskSet = Uint32Array;

const WORD_BITS = 5;

/** Bit m is set where bit b of m is not: the masks of a word without node b, for each of the first five nodes. */
const WITHOUT = [0x5555_5555, 0x3333_3333, 0x0f0f_0f0f, 0x00ff_00ff, 0x0000_ffff] as const;

/** Returns an empty set of masks over `nodes` nodes. */
export function noMasks(nodes: number): MaskSet {
  invariant(nodes >= 1 && nodes <= MAX_NUMA_NODES, `a set of masks over ${nodes} NUMA nodes`);
  return new Uint32Array(Math.max(1, 2 ** (nodes - WORD_BITS)));
}

export const hasMask = (set: MaskSet, mask: NumaMask): boolean =>
  (((set[mask >>> WORD_BITS] ?? 0) >>> (mask & 31)) & 1) === 1;

/** Adds a mask to a set that its caller is still building. */
export function addMask(set: MaskSet, mask: NumaMask): void {
  const word = mask >>> WORD_BITS;
  set[word] = (set[word] ?? 0) | (1 << (mask & 31));
}

/** Word w holds the masks whose upper nodes are the bits of w: their number. */
const UPPER_NODES = Uint8Array.from({ length: 2 ** (MAX_NUMA_NODES - WORD_BITS) }, (_, word) => countNodes(word));
/** The masks of a word that have this many of the first five nodes. */
const OF_LOWER_NODES = Array.from({ length: WORD_BITS + 1 }, (_, size) =>
  Array.from({ length: 32 }, (__, low) => low).reduce(
    (bits, low) => bits | (countNodes(low) === size ? 1 << low : 0),
    0,
  ),
);

/** The masks of a word that have `size` nodes. */
const ofSize = (set: MaskSet, word: number, size: number): number =>
  (set[word] ?? 0) & (OF_LOWER_NODES[size - (UPPER_NODES[word] ?? 0)] ?? 0);

/** Returns the masks of `size` nodes in ascending order. */
export function masksOfSize(set: MaskSet, size: number): readonly NumaMask[] {
  const masks: NumaMask[] = [];
  for (let word = 0; word < set.length; word += 1) {
    for (let left = ofSize(set, word, size); left !== 0; left &= left - 1) {
      masks.push((word << WORD_BITS) | (31 - Math.clz32(left & -left)));
    }
  }
  return masks;
}

/** Returns the smallest number of nodes of a mask of the set, the empty mask excluded; undefined if it has none. */
export function smallestSize(set: MaskSet, nodes: number): number | undefined {
  for (let size = 1; size <= nodes; size += 1) {
    for (let word = 0; word < set.length; word += 1) if (ofSize(set, word, size) !== 0) return size;
  }
  return undefined;
}

/** Returns the masks that belong to every set; undefined for no sets. */
export const commonMasks = (sets: readonly MaskSet[]): MaskSet | undefined =>
  combine(sets, (left, right) => left & right);

/** Returns the masks that belong to any set; undefined for no sets. */
export const allMasks = (sets: readonly MaskSet[]): MaskSet | undefined => combine(sets, (left, right) => left | right);

function combine(sets: readonly MaskSet[], merge: (left: number, right: number) => number): MaskSet | undefined {
  const [first, ...others] = sets;
  if (first === undefined) return undefined;
  const combined = first.slice();
  for (const other of others) {
    for (let word = 0; word < combined.length; word += 1) {
      combined[word] = merge(combined[word] ?? 0, other[word] ?? 0);
    }
  }
  return combined;
}

/** Returns the masks that a mask of the set contains. Removing a node is a shift in a word, or to a lower word. */
export function containedMasks(set: MaskSet): MaskSet {
  const contained = set.map((bits) =>
    WITHOUT.reduce((all, masks, node) => all | ((all >>> (1 << node)) & masks), bits),
  );
  for (let distance = 1; distance < contained.length; distance *= 2) {
    for (let block = 0; block < contained.length; block += 2 * distance) {
      for (let word = block; word < block + distance; word += 1) {
        contained[word] = (contained[word] ?? 0) | (contained[word + distance] ?? 0);
      }
    }
  }
  return contained;
}
