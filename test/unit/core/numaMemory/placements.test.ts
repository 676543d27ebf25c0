/** Pods come and go on generated machines; a ledger that knows nothing of the manager checks each placement. */
import { expect, it } from "vitest";
import type { Pod } from "../../../../src/core/api.ts";
import { memoryManager } from "../../../../src/core/numaMemory/memoryManager.ts";
import { memoryPolicy, type MemoryPolicy } from "../../../../src/core/numaMemory/memoryPolicy.ts";
import { hardwareOf, type TopologyPolicy } from "../../../../src/core/topology/assignHardware.ts";
import type { MemoryBlock, PodHardware } from "../../../../src/core/topology/hardware.ts";
import { createPrng } from "../../../../src/sim/prng.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

const POLICIES: readonly TopologyPolicy["name"][] = ["none", "best-effort", "restricted", "single-numa-node"];

const blocksOf = (pods: Iterable<PodHardware>): readonly MemoryBlock[] =>
  [...pods].flatMap((pod) => [...pod.values()].flatMap(({ memory = [] }) => memory));

/** Nodes as text with what is left of their memory together, given that only these blocks count on exactly them. */
function roomOf(policy: MemoryPolicy, ids: readonly number[], blocks: readonly MemoryBlock[]): number | undefined {
  const touching = blocks.filter(({ nodes }) => nodes.some((id) => ids.includes(id)));
  if (touching.some(({ nodes }) => nodes.join() !== ids.join())) return undefined;
  const all = policy.nodes.filter(({ id }) => ids.includes(id));
  const allocatable = all.reduce((sum, { amounts }) => sum + (amounts.get("memory")?.allocatable ?? 0), 0);
  return allocatable - touching.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
}

/** Returns all sets of ids, smaller ones first. */
const subsetsOf = (ids: readonly number[]): readonly (readonly number[])[] =>
  Array.from({ length: 2 ** ids.length - 1 }, (_, mask) =>
    ids.filter((__, at) => (((mask + 1) >>> at) & 1) === 1),
  ).sort((a, b) => a.length - b.length);

/** Returns the bytes that a pod holds on one place if containers use again what ended init containers had. */
function peak(inits: readonly number[], containers: readonly number[]): number {
  return Math.max(
    0,
    ...inits,
    containers.reduce((sum, bytes) => sum + bytes, 0),
  );
}

function check(policy: MemoryPolicy, pods: ReadonlyMap<string, PodHardware>): void {
  const blocks = blocksOf(pods.values());
  for (const { nodes } of blocks) expect(roomOf(policy, nodes, blocks)).toBeGreaterThanOrEqual(0);
}

it.each(POLICIES)("memory of policy %s never exceeds its nodes, and is refused only if no nodes have room", (name) => {
  for (let seed = 1; seed <= 25; seed += 1) {
    const prng = createPrng(seed);
    const draw = (below: number): number => Math.floor(prng.next() * below);
    const ids = Array.from({ length: 1 + draw(5) }, (_, index) => index * (1 + (seed % 2)));
    const policy = memoryPolicy(
      ids.map((id) => ({ id, bytes: 40 + draw(100), hugepages: new Map() })),
      new Map([[0, new Map([["memory", draw(30)]])]]),
    );
    const topology = { nodes: ids.length, distances: undefined };
    const assign = hardwareOf({ name, scope: "container", topology }, [memoryManager(policy)]);
    const pods = new Map<string, PodHardware>();
    for (let step = 0; step < 25; step += 1) {
      if (pods.size > 0 && draw(3) === 0) pods.delete([...pods.keys()][draw(pods.size)] ?? "");
      const bytes = 1 + draw(draw(4) === 0 ? 200 : 60);
      const pod = podOfBytes([], [bytes]);
      const blocks = blocksOf(pods.values());
      const assigned = assign(pod, [...pods.values()], undefined);
      const fits = subsetsOf(ids).filter((some) => (roomOf(policy, some, blocks) ?? -1) >= bytes);
      if ("refusal" in assigned) {
        if (name === "none") expect(fits).toEqual([]);
        if (name === "single-numa-node") expect(fits.filter((some) => some.length === 1)).toEqual([]);
        continue;
      }
      const nodes = assigned.hardware.get("main-0")?.memory?.[0]?.nodes ?? [];
      if (name === "none") expect(nodes).toHaveLength(fits[0]?.length ?? 0);
      pods.set(`${step}`, assigned.hardware);
      check(policy, pods);
    }
  }
});

it("a pod holds on one node as much as its containers use at the same time", () => {
  const policy = memoryPolicy([{ id: 0, bytes: 1_000_000, hugepages: new Map() }], new Map());
  const topology = { nodes: 1, distances: undefined };
  const assign = hardwareOf({ name: "none", scope: "container", topology }, [memoryManager(policy)]);
  for (let seed = 1; seed <= 200; seed += 1) {
    const prng = createPrng(seed);
    const amounts = (): readonly number[] =>
      Array.from({ length: Math.floor(prng.next() * 4) }, () => 1 + Math.floor(prng.next() * 50));
    const [inits, containers] = [amounts(), [...amounts(), 1]];
    const assigned = assign(podOfBytes(inits, containers), [], undefined);
    const blocks = "hardware" in assigned ? blocksOf([assigned.hardware]) : [];
    expect(blocks.reduce((sum, { heldBytes }) => sum + heldBytes, 0)).toBe(peak(inits, containers));
  }
});

function podOfBytes(inits: readonly number[], containers: readonly number[]): Pod {
  const sized = (name: string, bytes: number) => {
    const amounts = { cpu: "1", memory: String(bytes) };
    return containerOf({ name, resources: { requests: amounts, limits: amounts } });
  };
  return podOf({
    spec: {
      initContainers: inits.map((bytes, index) => sized(`init-${index}`, bytes)),
      containers: containers.map((bytes, index) => sized(`main-${index}`, bytes)),
    },
  });
}

it("all sets of 16 nodes are looked at", () => {
  const policy = memoryPolicy(
    Array.from({ length: 16 }, (_, id) => ({ id, bytes: 100, hugepages: new Map([["hugepages-2Mi", 50]]) })),
    new Map(),
  );
  const amounts = { cpu: "1", memory: "700", "hugepages-2Mi": "700" };
  const pod = podOf({ spec: { containers: [containerOf({ resources: { requests: amounts, limits: amounts } })] } });
  const manager = memoryManager(policy);
  const [container = containerOf()] = pod.spec.containers;
  const hints = manager.hints(pod, container, { others: [], own: new Map() });
  // 700 bytes of memory need 14 of the nodes, of which 50 bytes each are left: 120 sets of 14, 16 of 15, all 16.
  const sizes = hints.map(
    (each) => each.kind === "numa" && each.preferred.reduce((sum, bits) => sum + popcount(bits), 0),
  );
  expect(sizes).toEqual([120, 120]);
});

const popcount = (bits: number): number => (bits >>> 0).toString(2).replaceAll("0", "").length;
