import { describe, expect, it } from "vitest";
import { type CpuTopology, cpuTopology, idsOf, placesOf } from "../../../../src/core/cpu/cpuTopology.ts";
import { cpusWithout } from "../../../../src/core/cpu/cpuSet.ts";
import { takeCpus, type TakeOptions } from "../../../../src/core/cpu/takeCpus.ts";
import { createPrng } from "../../../../src/sim/prng.ts";
import { machineOf, placesOfMachine } from "../../../support/cpuMachines.ts";

const PACKED: TakeOptions = { acrossCores: false, alignsByCache: false };
/** CPUs 0 to 3 are the first threads of four cores, 4 to 7 the second ones. */
const oneSocket = machineOf({ sockets: 1, nodesPerSocket: 1, coresPerCache: 4, threads: 2 });
/** Socket 0 has CPUs 0 to 2 and 6 to 8, socket 1 the others. */
const twoSockets = machineOf({ sockets: 2, nodesPerSocket: 1, coresPerCache: 3, threads: 2 });
/** Each socket has two nodes of two cores: node 0 has CPUs 0, 1, 8 and 9. */
const fourNodes = machineOf({ sockets: 2, nodesPerSocket: 2, coresPerCache: 2, threads: 2 });
/** A socket with two caches of two cores. */
const twoCaches = machineOf({ sockets: 1, nodesPerSocket: 1, cachesPerNode: 2, coresPerCache: 2, threads: 2 });

describe("takeCpus", () => {
  it.each<[string, CpuTopology, readonly number[], number, readonly number[]]>([
    ["no CPU for a request of none", oneSocket, [], 0, []],
    ["both threads of a core", oneSocket, oneSocket.cpus, 2, [0, 4]],
    ["a whole core and a thread of the next", oneSocket, oneSocket.cpus, 3, [0, 1, 4]],
    ["a single CPU from a core that is in use", oneSocket, cpusWithout(oneSocket.cpus, [6]), 1, [2]],
    ["a whole core rather than threads of two", oneSocket, [0, 1, 2, 3, 7], 2, [3, 7]],
    ["a whole socket", twoSockets, twoSockets.cpus, 6, [0, 1, 2, 6, 7, 8]],
    ["cores from the socket that has fewer free", twoSockets, cpusWithout(twoSockets.cpus, [3, 9]), 2, [4, 10]],
    [
      "the free socket whole, and the rest from the other",
      twoSockets,
      cpusWithout(twoSockets.cpus, [0]),
      8,
      [1, 3, 4, 5, 7, 9, 10, 11],
    ],
    ["a whole node of a socket", fourNodes, fourNodes.cpus, 4, [0, 1, 8, 9]],
    ["a whole node where no socket is free", fourNodes, cpusWithout(fourNodes.cpus, [0, 4]), 4, [2, 3, 10, 11]],
  ])("takes %s", (_, topology, available, count, expected) => {
    expect(takeCpus(topology, available, count, PACKED)).toEqual(expected);
  });

  it("takes nothing if there are too few", () => {
    expect(takeCpus(oneSocket, [0, 1], 3, PACKED)).toBeUndefined();
  });

  it("takes threads of different cores if CPUs are to be spread across cores", () => {
    expect(takeCpus(oneSocket, oneSocket.cpus, 4, { ...PACKED, acrossCores: true })).toEqual([0, 1, 2, 3]);
  });

  it.each<[string, readonly number[], number, readonly number[], readonly number[]]>([
    ["a whole cache", [2, 3, 4, 5, 6, 7, 0], 4, [2, 3, 6, 7], [0, 2, 4, 6]],
    ["the rest from one cache", [1, 2, 3, 5, 6, 7], 4, [2, 3, 6, 7], [1, 2, 5, 6]],
    ["an odd number of CPUs of one cache", [1, 2, 3, 5, 6, 7], 3, [2, 3, 6], [1, 2, 5]],
  ])("takes %s if CPUs are to be aligned by cache", (_, available, count, aligned, unaligned) => {
    expect(takeCpus(twoCaches, available, count, { ...PACKED, alignsByCache: true })).toEqual(aligned);
    expect(takeCpus(twoCaches, available, count, PACKED)).toEqual(unaligned);
  });

  it("takes no CPU twice on a machine whose sockets differ in size", () => {
    const places = placesOfMachine({ sockets: 2, nodesPerSocket: 1, coresPerCache: 4, threads: 1 });
    // CPU 7 is offline: socket 1 has three CPUs, as many as socket 0 has free.
    const uneven = cpuTopology(places.slice(0, 7));
    expect(takeCpus(uneven, [1, 2, 3, 4, 5, 6], 3, PACKED)).toEqual([4, 5, 6]);
    expect(takeCpus(uneven, [1, 2, 3, 4], 3, PACKED)).not.toContain(0);
  });

  it("takes as many available CPUs as asked for, on as few cores as possible, on any machine", () => {
    const rng = createPrng(7);
    for (let round = 0; round < 300; round += 1) {
      const shape = {
        sockets: rng.int(1, 8),
        nodesPerSocket: rng.int(1, 3),
        cachesPerNode: rng.int(1, 2),
        coresPerCache: rng.int(1, 4),
        threads: rng.int(1, 2),
      };
      const online = placesOfMachine(shape).filter(() => !rng.chance(0.1));
      if (online.length === 0) continue;
      const topology = cpuTopology(online);
      const available = topology.cpus.filter(() => rng.chance(0.7));
      const count = rng.int(0, topology.cpus.length);
      const options = { acrossCores: rng.chance(0.3), alignsByCache: rng.chance(0.3) };
      const taken = takeCpus(topology, available, count, options);
      if (count > available.length) {
        expect(taken).toBeUndefined();
        continue;
      }
      expect(taken).toHaveLength(count);
      expect(cpusWithout(taken ?? [], available)).toEqual([]);
      if (options.acrossCores || options.alignsByCache) continue;
      // At most one core gives only some of its free threads, unless no core has all its threads free.
      const free = placesOf(topology, available);
      const partly = idsOf(placesOf(topology, taken ?? []), "core").filter((core) => {
        const threads = online.filter((place) => place.core === core).length;
        const isWhole = free.filter((place) => place.core === core).length === threads;
        return isWhole && threads > placesOf(topology, taken ?? []).filter((place) => place.core === core).length;
      });
      expect(partly.length).toBeLessThanOrEqual(1);
    }
  });
});
