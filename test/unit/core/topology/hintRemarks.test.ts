/** Why the topology manager finds no place, as the timeline of the pod tells it. */
import { describe, expect, it } from "vitest";
import { hintRemarks } from "../../../../src/core/topology/hintRemarks.ts";
import { ANYWHERE, NOWHERE, numaHints, ofResource } from "../../../../src/core/topology/topologyHint.ts";

/** Hints by the bits of their masks. */
const hints = (resource: string, preferred: readonly number[], others: readonly number[] = [], nodes = 2) =>
  ofResource(
    resource,
    numaHints(
      [
        ...preferred.map((mask) => ({ mask, isPreferred: true })),
        ...others.map((mask) => ({ mask, isPreferred: false })),
      ],
      nodes,
    ),
  );
const policyOf = (name: "restricted" | "single-numa-node", nodes = 2, ids?: readonly number[]) => ({
  name,
  topology: { nodes, distances: undefined, ...(ids && { ids }) },
});
const textOf = (remarks: ReturnType<typeof hintRemarks>) => remarks.map(({ message }) => message);

describe("the remarks of a refused pod", () => {
  it("have the hints of every resource, and the two that exclude each other", () => {
    const given = [ofResource("example.com/nic", ANYWHERE), hints("cpu", [1], [3]), hints("example.com/gpu", [2], [3])];
    expect(hintRemarks("main", given, policyOf("restricted"))).toEqual([
      { what: "TopologyHints", message: "main: cpu prefers {0}; also fits {0-1}" },
      { what: "TopologyHints", message: "main: example.com/gpu prefers {1}; also fits {0-1}" },
      {
        what: "TopologyMerge",
        message:
          "main: policy restricted: cpu, example.com/gpu prefer no common set of NUMA nodes; " +
          "the best common set, {0}, is not preferred by all",
      },
    ]);
  });

  it.each([
    ["nothing is free", [ofResource("example.com/gpu", NOWHERE)], "no NUMA nodes have enough free for example.com/gpu"],
    ["a resource prefers nothing", [hints("cpu", [], [3])], "cpu prefers no set of NUMA nodes"],
  ])("say if %s", (_, given, reason) => {
    expect(textOf(hintRemarks("main", given, policyOf("restricted"))).at(-1)).toBe(
      `main: policy restricted: ${reason}`,
    );
  });

  it("say which resource needs several nodes if one is demanded", () => {
    const given = [hints("cpu", [1, 2]), hints("memory", [3])];
    expect(textOf(hintRemarks("all containers", given, policyOf("single-numa-node"))).at(-1)).toBe(
      "all containers: policy single-numa-node: memory prefers no single NUMA node",
    );
  });

  it("name NUMA nodes by their ids", () => {
    const [first] = textOf(hintRemarks("main", [hints("cpu", [1, 2])], policyOf("restricted", 2, [0, 8])));
    expect(first).toBe("main: cpu prefers {0} {8}; also fits none");
  });

  it("are cut with a count: 65,535 sets and 40 resources", () => {
    const all = Array.from({ length: 2 ** 16 - 1 }, (_, index) => index + 1);
    const given = Array.from({ length: 40 }, (_, index) =>
      hints(`example.com/r${index}`, index === 0 ? [1] : all, [], 16),
    );
    const remarks = textOf(hintRemarks("main", [...given, hints("cpu", [2], [], 16)], policyOf("restricted", 16)));
    expect(remarks).toHaveLength(18);
    expect(remarks[1]).toBe("main: example.com/r1 prefers {0} {1} {2} {3} {4} {5} and 65529 more; also fits none");
    expect(remarks[16]).toBe("main: and 25 more resources");
    expect(remarks[17]).toMatch(/r0, .* and 35 more prefer no common set of NUMA nodes/);
    expect(Math.max(...remarks.map((text) => text.length))).toBeLessThan(512);
  });
});
