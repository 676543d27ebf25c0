import { describe, expect, it } from "vitest";
import { alignedCpus, cpuHints } from "../../../../src/core/cpu/cpuHints.ts";
import type { CpuPolicy } from "../../../../src/core/cpu/cpuPolicy.ts";
import { cpusWithout } from "../../../../src/core/cpu/cpuSet.ts";
import { type CpuTopology, cpuTopology } from "../../../../src/core/cpu/cpuTopology.ts";
import { hasMask } from "../../../../src/core/topology/maskSet.ts";
import { machineOf } from "../../../support/cpuMachines.ts";

/** Two sockets of two nodes of two CPUs: node 0 has CPUs 0 and 1. */
const fourNodes = machineOf({ sockets: 2, nodesPerSocket: 2, coresPerCache: 2, threads: 1 });
const IDS = [0, 1, 2, 3];

const policyOf = (topology: CpuTopology, bySocket = false): CpuPolicy => ({
  topology,
  options: {
    fullCores: false,
    acrossNodes: false,
    bySocket,
    acrossCores: false,
    strictReservation: false,
    alignsByCache: false,
  },
  reserved: [],
  reservedCores: [],
});

/** Returns the masks as lists of possible and preferred ones, or the kind without masks. */
function hintsOf(...[policy, nodeIds, ...rest]: Parameters<typeof cpuHints>) {
  const hints = cpuHints(policy, nodeIds, ...rest);
  if (hints.kind !== "numa") return hints.kind;
  const masks = Array.from({ length: 2 ** nodeIds.length }, (_, mask) => mask);
  return {
    possible: masks.filter((mask) => hasMask(hints.possible, mask)).map((mask) => mask.toString(2)),
    preferred: masks.filter((mask) => hasMask(hints.preferred, mask)).map((mask) => mask.toString(2)),
  };
}

describe("cpuHints", () => {
  const two = machineOf({ sockets: 2, nodesPerSocket: 1, coresPerCache: 4, threads: 1 });

  it.each<[string, readonly number[], readonly number[], number, unknown]>([
    [
      "each node that has room, preferred if alone",
      [1, 2, 4, 5],
      [],
      2,
      { possible: ["1", "10", "11"], preferred: ["1", "10"] },
    ],
    ["only nodes with enough free CPUs", [1, 4, 5], [], 2, { possible: ["10", "11"], preferred: ["10"] }],
    ["exactly the free CPUs of a node", [1, 2, 3], [], 3, { possible: ["1", "11"], preferred: ["1"] }],
    [
      "all nodes, preferred if no node could ever serve",
      [0, 1, 2, 4, 5],
      [],
      5,
      { possible: ["11"], preferred: ["11"] },
    ],
    ["all nodes, not preferred if an empty node could serve", [1, 2, 5, 6], [], 4, { possible: ["11"], preferred: [] }],
    ["nothing for more CPUs than are free", [1, 2], [], 3, "nowhere"],
    ["the nodes of CPUs to be used again", [1, 2, 4, 5], [6], 2, { possible: ["10", "11"], preferred: ["10"] }],
    ["CPUs to be used again counted once", [1, 6], [6], 2, { possible: ["11"], preferred: [] }],
    ["all nodes of CPUs to be used again", [2, 3, 6, 7], [1, 5], 2, { possible: ["11"], preferred: [] }],
  ])("are %s", (_, available, reusable, count, expected) => {
    expect(hintsOf(policyOf(two), [0, 1], available, reusable, count)).toEqual(expected);
  });

  it("count nodes without CPUs among the masks, and number the others by their place in the list", () => {
    const sparse = cpuTopology([
      { cpu: 0, core: 0, socket: 0, node: 2, cache: 0 },
      { cpu: 1, core: 1, socket: 0, node: 7, cache: 1 },
    ]);
    expect(hintsOf(policyOf(sparse), [2, 5, 7], [0, 1], [], 1)).toEqual({
      possible: ["1", "11", "100", "101", "110", "111"],
      preferred: ["1", "100"],
    });
  });

  it("prefer with align-by-socket the nodes within as few sockets as an empty machine needs", () => {
    const available = cpusWithout(fourNodes.cpus, [0, 2, 4, 6]);
    const given = [IDS, available, [], 2] as const;
    expect(hintsOf(policyOf(fourNodes), ...given)).toMatchObject({ preferred: [] });
    expect(hintsOf(policyOf(fourNodes, true), ...given)).toMatchObject({ preferred: ["11", "1100"] });
    expect(hintsOf(policyOf(fourNodes, true), IDS, fourNodes.cpus, [], 6)).toEqual({
      possible: ["111", "1011", "1101", "1110", "1111"],
      preferred: ["111", "1011", "1101", "1110", "1111"],
    });
  });

  it("ignore sockets where a node spans several", () => {
    const wide = cpuTopology([
      { cpu: 0, core: 0, socket: 0, node: 0, cache: 0 },
      { cpu: 1, core: 1, socket: 1, node: 0, cache: 1 },
    ]);
    expect(hintsOf(policyOf(wide, true), [0, 1], [0, 1], [], 2)).toEqual({ possible: ["1", "11"], preferred: ["1"] });
  });
});

describe("alignedCpus", () => {
  it.each<[string, boolean, number, readonly number[]]>([
    ["of one node", false, 0b0010, [2, 3]],
    ["of several nodes", false, 0b1001, [0, 1, 6]],
    ["of the sockets of the nodes with align-by-socket", true, 0b0010, [0, 1, 2, 3]],
    ["of all sockets with align-by-socket", true, 0b1010, [0, 1, 2, 3, 4, 6]],
  ])("are the available ones %s", (_, bySocket, mask, expected) => {
    expect(alignedCpus(policyOf(fourNodes, bySocket), IDS, mask, [0, 1, 2, 3, 4, 6])).toEqual(expected);
  });

  it("number the nodes by their place in the list", () => {
    const far = cpuTopology([
      { cpu: 0, core: 0, socket: 0, node: 4, cache: 0 },
      { cpu: 1, core: 1, socket: 0, node: 9, cache: 1 },
    ]);
    expect(alignedCpus(policyOf(far), [4, 9], 0b10, [0, 1])).toEqual([1]);
  });
});
