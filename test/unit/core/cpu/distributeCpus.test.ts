import { describe, expect, it } from "vitest";
import { cpusWithout } from "../../../../src/core/cpu/cpuSet.ts";
import { distributeCpus } from "../../../../src/core/cpu/distributeCpus.ts";
import { placesOf } from "../../../../src/core/cpu/cpuTopology.ts";
import { createPrng } from "../../../../src/sim/prng.ts";
import { machineOf } from "../../../support/cpuMachines.ts";

const OPTIONS = { acrossCores: false, alignsByCache: false };
/** Four nodes of four cores: node 0 has CPUs 0 to 3 and 16 to 19. */
const machine = machineOf({ sockets: 2, nodesPerSocket: 2, coresPerCache: 4, threads: 2 });

/** Returns how many CPUs each node gives. */
function perNode(available: readonly number[], count: number, groupSize: number): readonly number[] {
  const taken = placesOf(machine, distributeCpus(machine, available, count, groupSize, OPTIONS) ?? []);
  return machine.nodes.map((node) => taken.filter((place) => place.node === node).length);
}

describe("distributeCpus", () => {
  it.each<[string, readonly number[], number, number, readonly number[]]>([
    ["one node if it has room", machine.cpus, 8, 1, [8, 0, 0, 0]],
    ["two nodes evenly rather than filling one", machine.cpus, 12, 1, [6, 6, 0, 0]],
    ["three nodes evenly", machine.cpus, 18, 1, [6, 6, 6, 0]],
    ["an uneven number, the rest from one of the nodes", machine.cpus, 11, 1, [6, 5, 0, 0]],
    ["the nodes that leave the machine most balanced", cpusWithout(machine.cpus, [0, 1, 16, 17]), 12, 1, [0, 6, 6, 0]],
    ["whole cores only", machine.cpus, 14, 2, [8, 6, 0, 0]],
    ["as takeCpus does for a number that is not whole cores", machine.cpus, 9, 2, [8, 1, 0, 0]],
  ])("takes %s", (_, available, count, groupSize, expected) => {
    expect(perNode(available, count, groupSize)).toEqual(expected);
  });

  it("leaves the CPUs of the nodes as even as any choice of as many nodes would", () => {
    const rng = createPrng(11);
    const freeOn = (cpus: readonly number[]): readonly number[] =>
      machine.nodes.map((node) => placesOf(machine, cpus).filter((place) => place.node === node).length);
    const squares = (amounts: readonly number[]): number => amounts.reduce((sum, amount) => sum + amount ** 2, 0);
    const pairs = machine.nodes.flatMap((a, i) => machine.nodes.slice(i + 1).map((b) => [a, b]));
    for (let round = 0; round < 100; round += 1) {
      const available = machine.cpus.filter(() => rng.chance(0.9));
      const taken = distributeCpus(machine, available, 10, 1, OPTIONS) ?? [];
      const free = freeOn(available);
      const choices = pairs
        .map((pair) => free.map((amount, node) => (pair.includes(node) ? amount - 5 : amount)))
        .filter((left) => left.every((amount) => amount >= 0));
      if (choices.length === 0) continue;
      expect(squares(freeOn(cpusWithout(available, taken)))).toBe(Math.min(...choices.map(squares)));
    }
  });

  it("takes nothing if there are too few", () => {
    expect(distributeCpus(machine, [0, 1], 3, 1, OPTIONS)).toBeUndefined();
  });

  it("takes as many available CPUs as asked for", () => {
    const rng = createPrng(9);
    for (let round = 0; round < 200; round += 1) {
      const available = machine.cpus.filter(() => rng.chance(0.6));
      const count = rng.int(0, available.length);
      const taken = distributeCpus(machine, available, count, rng.int(1, 2), OPTIONS) ?? [];
      expect(new Set(taken).size).toBe(count);
      expect(cpusWithout(taken, available)).toEqual([]);
    }
  });
});
