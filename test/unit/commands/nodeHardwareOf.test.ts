/** The managers of hardware, from configuration and machine. */
import { describe, expect, it } from "vitest";
import { KUBELET_FLAGS } from "../../../src/cli/flags.ts";
import { loadKubeletOptions } from "../../../src/cli/loadKubeletOptions.ts";
import { parseFlags } from "../../../src/cli/parseKubeletFlags.ts";
import { kubeletConfigOf } from "../../../src/commands/kubeletConfigOf.ts";
import { simMachine } from "../../../src/sim/host/simMachine.ts";
import type { CpuLayout, Machine } from "../../../src/ports/host.ts";
import { type MachineShape, placesOfMachine } from "../../support/cpuMachines.ts";
import { HEADER, memoryReaders } from "../cli/memoryReaders.ts";

/** Two nodes of four CPUs. */
const TWO_NODES: MachineShape = { sockets: 2, nodesPerSocket: 1, coresPerCache: 4, threads: 1 };
const layoutOf = (shape: MachineShape): CpuLayout => {
  const places = placesOfMachine(shape);
  const nodeIds = [...new Set(places.map(({ node }) => node))];
  return { places, nodeIds, distances: nodeIds.map((a) => nodeIds.map((b) => (a === b ? 10 : 20))) };
};

async function configOf(
  file: string,
  cpuLayout: CpuLayout | undefined = layoutOf(TWO_NODES),
  more: Partial<Machine> = {},
) {
  const readers = memoryReaders({ "/k.yaml": HEADER + file });
  const loaded = await loadKubeletOptions(parseFlags(["--config=/k.yaml"], KUBELET_FLAGS), readers);
  if (!loaded.ok) throw new Error(loaded.errors.join("\n"));
  return kubeletConfigOf(loaded.options, simMachine({ cpuLayout, ...more }), "1.2.3");
}

const STATIC = "cpuManagerPolicy: static\n";
const RESERVED = `${STATIC}reservedSystemCPUs: "0,4"\n`;

describe("nodeHardwareOf", () => {
  it("gives containers no hardware with policy none", async () => {
    expect((await configOf("")).hardware).toBeUndefined();
  });

  it("reserves the CPUs that the administrator names, which replace the amounts of cpu", async () => {
    const config = await configOf(`${RESERVED}systemReserved: { cpu: "3" }\nkubeReserved: { cpu: "1", memory: 1Gi }\n`);
    expect(config.hardware?.cpus?.reserved).toEqual([0, 4]);
    expect(config.allocatable["cpu"]).toBe("6");
  });

  it("reserves as many whole CPUs as both reservations together need", async () => {
    const config = await configOf(`${STATIC}systemReserved: { cpu: 600m }\nkubeReserved: { cpu: 500m }\n`);
    expect(config.hardware?.cpus?.reserved).toEqual([0, 1]);
  });

  it("reads the options of the policies", async () => {
    const options = `cpuManagerPolicyOptions: { full-pcpus-only: "true", strict-cpu-reservation: "false" }\n`;
    const { hardware } = await configOf(RESERVED + options);
    expect(hardware?.cpus?.options).toEqual({
      fullCores: true,
      acrossNodes: false,
      bySocket: false,
      acrossCores: false,
      strictReservation: false,
      alignsByCache: false,
    });
  });

  it.each<[string, string, MachineShape | "unknown", string]>([
    ["nothing is reserved", STATIC, TWO_NODES, "cpuManagerPolicy: static needs a CPU in reservedSystemCPUs"],
    [
      "the machine lacks a reserved CPU",
      `${STATIC}reservedSystemCPUs: "0,8"\n`,
      TWO_NODES,
      "this machine has no CPU 8",
    ],
    ["the kernel does not say where CPUs are", RESERVED, "unknown", "the kernel does not say where the CPUs are"],
    [
      "the machine has too many NUMA nodes",
      `${RESERVED}topologyManagerPolicy: restricted\n`,
      { ...TWO_NODES, sockets: 9 },
      "this machine has 9 NUMA nodes, and at most 8 are allowed",
    ],
  ])("refuses to start if %s", async (_, file, shape, message) => {
    const layout = shape === "unknown" ? undefined : layoutOf(shape);
    const loaded = layout === undefined ? configWithout(file) : configOf(file, layout);
    await expect(loaded).rejects.toThrow(message);
  });

  it("allows more NUMA nodes if the option says so", async () => {
    const policy = "topologyManagerPolicy: restricted\n";
    const options = 'topologyManagerPolicyOptions: { max-allowable-numa-nodes: "9" }\n';
    const config = await configOf(RESERVED + policy + options, layoutOf({ ...TWO_NODES, sockets: 9 }));
    expect(config.hardware?.cpus?.topology.nodes).toHaveLength(9);
  });
});

describe("the memory manager", () => {
  const reserve = (amount: string): string =>
    `memoryManagerPolicy: Static\nevictionHard: { memory.available: 100Mi }\nkubeReserved: { memory: 1Gi }\n` +
    `reservedMemory: [{ numaNode: 0, limits: { memory: ${amount} } }]\n`;

  it("takes a machine that reports no NUMA nodes for one", async () => {
    const { hardware } = await configWithout(reserve("1124Mi"));
    const [node, ...others] = hardware?.memory?.nodes ?? [];
    expect([hardware?.cpus, others, node?.id]).toEqual([undefined, [], 0]);
    const [total, systemReserved] = [32 * 2 ** 30, 1124 * 2 ** 20];
    expect(node?.amounts).toEqual(
      new Map([["memory", { total, systemReserved, allocatable: total - systemReserved }]]),
    );
  });

  it("gives the nodes of the CPUs their memory, also none", async () => {
    const numaMemory = [{ id: 1, bytes: 2 ** 34, hugepages: new Map([["hugepages-2Mi", 2 ** 30]]) }];
    const { hardware } = await configOf(RESERVED + reserve("1124Mi"), undefined, { numaMemory });
    const allocatable = hardware?.memory?.nodes.map(({ amounts }) => amounts.get("memory")?.allocatable);
    expect([allocatable, hardware?.cpus?.reserved]).toEqual([
      [0, 2 ** 34 - 2 ** 30],
      [0, 4],
    ]);
  });

  it.each([
    [reserve("1Gi"), 'reservedMemory: the total amount "1Gi" of type "memory" is not equal to the value "1124Mi"'],
    ["memoryManagerPolicy: BestEffort\n", 'must be one of None, Static, got "BestEffort": this policy is for Windows'],
  ])("refuses %j", async (file, message) => {
    await expect(configWithout(file)).rejects.toThrow(message);
  });
});

async function configWithout(file: string) {
  const readers = memoryReaders({ "/k.yaml": HEADER + file });
  const loaded = await loadKubeletOptions(parseFlags(["--config=/k.yaml"], KUBELET_FLAGS), readers);
  if (!loaded.ok) throw new Error(loaded.errors.join("\n"));
  return kubeletConfigOf(loaded.options, simMachine(), "1.2.3");
}

describe("options of the policies", () => {
  it.each([
    ['cpuManagerPolicyOptions: { full-pcpus-only: "true" }\n', "needs cpuManagerPolicy static"],
    [`${RESERVED}cpuManagerPolicyOptions: { fast: "true" }\n`, "is unknown; options are full-pcpus-only"],
    [`${RESERVED}cpuManagerPolicyOptions: { full-pcpus-only: "yes" }\n`, 'must be true or false, got "yes"'],
    [
      `${RESERVED}cpuManagerPolicyOptions: { align-by-socket: "true" }\n`,
      "needs the feature gate CPUManagerPolicyAlphaOptions",
    ],
    [
      `${RESERVED}cpuManagerPolicyOptions: { prefer-align-cpus-by-uncorecache: "true", distribute-cpus-across-numa: "true" }\n`,
      "cannot be used together with distribute-cpus-across-numa",
    ],
    [
      `${RESERVED}featureGates: { CPUManagerPolicyAlphaOptions: true }\ntopologyManagerPolicy: single-numa-node\n` +
        `cpuManagerPolicyOptions: { align-by-socket: "true" }\n`,
      "cannot be used together with topologyManagerPolicy single-numa-node",
    ],
    [
      `topologyManagerPolicy: restricted\ntopologyManagerPolicyOptions: { max-allowable-numa-nodes: "7" }\n`,
      'must be a number of at least 8, got "7"',
    ],
    [
      `topologyManagerPolicy: restricted\ntopologyManagerPolicyOptions: { max-allowable-numa-nodes: "17" }\n`,
      'must be at most 16, got "17"',
    ],
    [
      `topologyManagerPolicy: restricted\ntopologyManagerPolicyOptions: { prefer-closest-numa-nodes: "2" }\n`,
      'must be true or false, got "2"',
    ],
    [
      `topologyManagerPolicy: restricted\ntopologyManagerPolicyOptions: { nearest: "true" }\n`,
      "is unknown; options are prefer-closest-numa-nodes, max-allowable-numa-nodes",
    ],
  ])("refuse %j", async (file, message) => {
    await expect(configOf(file)).rejects.toThrow(message);
  });
});
