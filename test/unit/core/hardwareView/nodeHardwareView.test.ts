/** The map of a node's hardware, as data and as text. */
import { describe, expect, it } from "vitest";
import { cpuPolicy } from "../../../../src/core/cpu/cpuPolicy.ts";
import { cpuTopology } from "../../../../src/core/cpu/cpuTopology.ts";
import { changedDevices, type Device, NO_DEVICES } from "../../../../src/core/device/deviceState.ts";
import { type ClaimInfos, NO_CLAIMS } from "../../../../src/core/dra/claimInfo.ts";
import { hardwareText } from "../../../../src/core/hardwareView/hardwareText.ts";
import { MAX_CLAIMS, MAX_OWNERS } from "../../../../src/core/hardwareView/hardwareView.ts";
import { type HardwareViewInput, nodeHardwareView } from "../../../../src/core/hardwareView/nodeHardwareView.ts";
import { epochMs, podUid } from "../../../../src/core/ids.ts";
import { memoryPolicy } from "../../../../src/core/numaMemory/memoryPolicy.ts";
import { freshRecord } from "../../../../src/core/pod/podRecord.ts";
import { emptyRegistry, type Registry } from "../../../../src/core/pod/podRegistry.ts";
import type { TopologyPolicy } from "../../../../src/core/topology/assignHardware.ts";
import type { PodHardware } from "../../../../src/core/topology/hardware.ts";
import { nodeHardware } from "../../../../src/core/topology/nodeHardware.ts";
import { type MachineShape, placesOfMachine } from "../../../support/cpuMachines.ts";
import { podOf } from "../../../support/pods.ts";

const GI = 2 ** 30;
const OPTIONS = { fullCores: false, acrossNodes: false, bySocket: false, acrossCores: false };
const TOPOLOGY = { name: "single-numa-node", scope: "pod", topology: { nodes: 2, distances: undefined } } as const;

/** A machine of two NUMA nodes with static policies. */
function nodeOf(shape: MachineShape, reserved: readonly number[]) {
  const places = placesOfMachine(shape);
  const topology = cpuTopology(places);
  const cpus = cpuPolicy(topology, { ...OPTIONS, strictReservation: false, alignsByCache: false }, 1, reserved);
  const memory = topology.nodes.map((id) => ({ id, bytes: 16 * GI, hugepages: new Map([["hugepages-2Mi", GI]]) }));
  const policy: TopologyPolicy = TOPOLOGY;
  const settings = { liftsCpuQuota: true, reconcilePeriodMs: 10_000 };
  const reservedMemory = new Map([[0, new Map([["memory", GI]])]]);
  return {
    machine: {
      layout: {
        places,
        nodeIds: topology.nodes,
        offline: [90, 91],
        distances: [
          [10, 21],
          [21, 10],
        ],
      },
      memory,
    },
    hardware: nodeHardware({ cpus, memory: memoryPolicy(memory, reservedMemory) }, topology.nodes, policy, settings),
    topology: { nodeIds: topology.nodes, policy },
  };
}

function registryOf(pods: Readonly<Record<string, PodHardware>>): Registry {
  const records = Object.entries(pods).map(([name, hardware]) => {
    const uid = podUid(name);
    const spec = podOf({ name, namespace: "demo", uid: name });
    return [uid, { ...freshRecord({ uid, name, namespace: "demo" }), pod: spec, hardware }] as const;
  });
  return { ...emptyRegistry, isSettled: true, records: new Map(records) };
}

const gpus = (count: number, unhealthy: readonly number[] = []): readonly Device[] =>
  Array.from({ length: count }, (_, index) => ({
    id: `gpu-${index}`,
    isHealthy: !unhealthy.includes(index),
    nodes: [index % 2],
  }));
const ENDPOINT = { socket: "/gpu.sock", preStartRequired: false, prefersDevices: false };
const listing = (devices: readonly Device[]) =>
  changedDevices(NO_DEVICES, { kind: "listed", resource: "example.com/gpu", endpoint: ENDPOINT, devices });

const SMALL = nodeOf({ sockets: 2, nodesPerSocket: 1, cachesPerNode: 2, coresPerCache: 1, threads: 2 }, [0, 4]);
const block = (nodes: readonly number[], bytes: number) => ({ nodes, resource: "memory", bytes, heldBytes: bytes });
const CLAIMS: ClaimInfos = new Map([
  [
    "demo/nic",
    {
      ...{ namespace: "demo", name: "nic", uid: "c1", podUids: new Set(["web", "lost"]), isPrepared: true },
      drivers: new Map([
        ["net.example.com", [{ poolName: "rack", deviceName: "nic-0", requestNames: [], cdiDeviceIds: [] }]],
      ]),
    },
  ],
]);

const input = (more: Partial<HardwareViewInput> = {}): HardwareViewInput => ({
  now: epochMs(0),
  ...SMALL,
  registry: registryOf({
    web: new Map([
      ["main", { cpus: [1, 5], memory: [block([0], 4 * GI)] }],
      ["helper", { mask: 1 }],
    ]),
    train: new Map([["main", { devices: new Map([["example.com/gpu", ["gpu-0", "gpu-1", "gpu-2"]]]) }]]),
  }),
  devices: listing(gpus(8, [7])),
  claims: CLAIMS,
  hasExtendedClaims: false,
  nameOf: () => undefined,
  ...more,
});

describe("the map of the hardware", () => {
  it("has CPUs, memory, devices and claims with their owners", () => {
    const view = nodeHardwareView(input());
    const web = { namespace: "demo", pod: "web", container: "main" };
    expect(view.cpus).toEqual({
      ...{ online: "0-7", offline: "90-91", reserved: "0,4", shared: "0,2-4,6-7", sockets: 2, threadsPerCore: 2 },
    });
    expect(view.nodes[0]).toEqual({
      ...{ id: 0, sockets: [0], cpus: "0-1,4-5", cores: ["0,4", "1,5"], caches: ["0,4", "1,5"], distances: [10, 21] },
      owned: { first: [{ cpus: "1,5", owner: web }], more: 0 },
      memory: [
        {
          ...{ resource: "memory", total: 16 * GI, given: { reserved: GI, allocatable: 14 * GI, free: 10 * GI } },
          owned: { first: [{ bytes: 4 * GI, held: 4 * GI, nodes: [0], owner: web }], more: 0 },
        },
        {
          ...{ resource: "hugepages-2Mi", total: GI, given: { reserved: 0, allocatable: GI, free: GI } },
          owned: { first: [], more: 0 },
        },
      ],
    });
    expect(view.devices).toEqual([
      {
        ...{ resource: "example.com/gpu", plugin: "ready", total: 8, free: 4 },
        ...{ unhealthy: { first: ["gpu-7"], more: 0 }, unhealthyCount: 1, nodes: { 0: 4, 1: 4 } },
        owned: {
          first: [
            {
              ...{ ids: { first: ["gpu-[0-2]"], more: 0 }, count: 3, nodes: [0, 1] },
              owner: { namespace: "demo", pod: "train", container: "main" },
            },
          ],
          more: 0,
        },
      },
    ]);
    expect(view.claims.first).toEqual([
      {
        ...{ namespace: "demo", name: "nic", isPrepared: true },
        devices: { first: ["net.example.com/rack/nic-0"], more: 0 },
        owners: {
          first: [
            { namespace: "demo", pod: "web", container: "" },
            { namespace: "demo", pod: "UID lost", container: "" },
          ],
          more: 0,
        },
      },
    ]);
  });

  it("is aligned text", () => {
    expect(hardwareText(nodeHardwareView(input())).split("\n")).toEqual([
      "Policies: CPU static, memory Static, topology single-numa-node (scope pod), at",
      "  1970-01-01T00:00:00.000Z",
      "",
      "CPUs        0-7",
      "            2 sockets, 2 NUMA nodes, 2 threads per core",
      "reserved    0,4",
      "shared      0,2-4,6-7",
      "offline     90-91",
      "",
      "NUMA node 0, socket 0",
      "  CPUs      0-1,4-5",
      "  cores     0,4  1,5",
      "  caches    0,4  1,5",
      "  distances 10 21",
      "    CPU 1,5               demo/web main",
      "  memory  16Gi, 1Gi reserved, 4Gi given out, 10Gi free",
      "    4Gi                   demo/web main",
      "  hugepages-2Mi  1Gi, 0 reserved, 0 given out, 1Gi free",
      "",
      "NUMA node 1, socket 1",
      "  CPUs      2-3,6-7",
      "  cores     2,6  3,7",
      "  caches    2,6  3,7",
      "  distances 21 10",
      "  memory  16Gi, 0 reserved, 0 given out, 15Gi free",
      "  hugepages-2Mi  1Gi, 0 reserved, 0 given out, 1Gi free",
      "",
      "example.com/gpu  8 devices, 4 free, 1 unhealthy, plugin ready",
      "  NUMA      4 on 0, 4 on 1",
      "  unhealthy gpu-7",
      "    gpu-[0-2] (NUMA 0,1)  demo/train main",
      "",
      "Claim demo/nic",
      "  net.example.com/rack/nic-0",
      "    used by demo/web",
      "    used by demo/UID lost",
      "",
    ]);
  });

  it("shows the machine without static policies", () => {
    const { machine } = SMALL;
    const view = nodeHardwareView(input({ hardware: undefined, topology: undefined, machine, claims: NO_CLAIMS }));
    expect(view.policies).toEqual({ cpu: "none", memory: "None", topology: "none", scope: "container" });
    expect(view.cpus).toMatchObject({ reserved: "", shared: "0-7" });
    expect(view.nodes[1]?.memory).toEqual([
      { resource: "memory", total: 16 * GI, owned: { first: [], more: 0 } },
      { resource: "hugepages-2Mi", total: GI, owned: { first: [], more: 0 } },
    ]);
  });

  it("shows a machine whose CPUs are unknown", () => {
    const machine = { layout: undefined, memory: [{ id: 0, bytes: GI, hugepages: new Map() }] };
    const text = hardwareText(nodeHardwareView(input({ machine, hardware: undefined, devices: NO_DEVICES })));
    expect(text).toContain("The kernel does not say where the CPUs are.");
    expect(text).toContain("NUMA node 0, no CPUs\n  memory  1Gi\n");
  });

  it("breaks long lines below their text in a narrow terminal", () => {
    expect(hardwareText(nodeHardwareView(input()), 20).split("\n")).toEqual([
      "Policies: CPU",
      "  static, memory",
      "  Static, topology",
      "  single-numa-node",
      "  (scope pod), at",
      "  1970-01-01T00:00 …",
      "",
      "CPUs        0-7",
      "            2",
      "            sockets,",
      "            2 NUMA",
      "            nodes, 2",
      "            threads",
      "            per core",
      "reserved    0,4",
      "shared      0,2-4,",
      "            6-7",
      "offline     90-91",
      "",
      "NUMA node 0, socket",
      "  0",
      "  CPUs      0-1,4-5",
      "  cores     0,4  1,5",
      "  caches    0,4  1,5",
      "  distances 10 21",
      "    CPU 1,5",
      "        demo/web",
      "          main",
      "  memory  16Gi, 1Gi",
      "    reserved, 4Gi",
      "    given out, 10Gi",
      "    free",
      "    4Gi",
      "        demo/web",
      "          main",
      "  hugepages-2Mi",
      "    1Gi, 0 reserved,",
      "    0 given out, 1Gi",
      "    free",
      "",
      "NUMA node 1, socket",
      "  1",
      "  CPUs      2-3,6-7",
      "  cores     2,6  3,7",
      "  caches    2,6  3,7",
      "  distances 21 10",
      "  memory  16Gi, 0",
      "    reserved, 0",
      "    given out, 15Gi",
      "    free",
      "  hugepages-2Mi",
      "    1Gi, 0 reserved,",
      "    0 given out, 1Gi",
      "    free",
      "",
      "example.com/gpu  8",
      "  devices, 4 free, 1",
      "  unhealthy, plugin",
      "  ready",
      "  NUMA      4 on 0,",
      "            4 on 1",
      "  unhealthy gpu-7",
      "    gpu-[0-2] (NUMA",
      "      0,1)",
      "        demo/train",
      "          main",
      "",
      "Claim demo/nic",
      "  net.example.co",
      "    m/rack/nic-0",
      "    used by demo/web",
      "    used by demo/UID",
      "      lost",
      "",
    ]);
  });

  it("names pods of before a restart as the runtime does, else by UID", () => {
    const hardware = new Map([["main", { cpus: [1] }]]);
    const restored = new Map(["a", "b"].map((uid) => [podUid(uid), { hardware }])) as never;
    const nameOf = (uid: string) => (uid === "a" ? { namespace: "demo", name: "old" } : undefined);
    const view = nodeHardwareView(input({ registry: { ...emptyRegistry, restored }, nameOf }));
    expect(view.nodes[0]?.owned.first.map(({ owner }) => `${owner.namespace}/${owner.pod}`)).toEqual([
      "demo/old",
      "/UID b",
    ]);
  });

  it("shows devices of a resource whose plugin never came back", () => {
    const [view] = nodeHardwareView(input({ devices: NO_DEVICES })).devices;
    expect(view).toMatchObject({ resource: "example.com/gpu", plugin: "gone", total: 0, owned: { more: 0 } });
  });
});

describe("the bounds of the map", () => {
  const large = nodeOf({ sockets: 2, nodesPerSocket: 1, coresPerCache: 256, threads: 2 }, [0]);
  const pods = Object.fromEntries(
    Array.from({ length: 400 }, (_, index): [string, PodHardware] => [
      `p${index}`,
      new Map([
        [
          "main",
          {
            cpus: [index + 1, index + 513],
            memory: [block([index % 2], 1_000)],
            devices: new Map([["example.com/gpu", Array.from({ length: 20 }, (__, n) => `gpu-${index + n * 400}`)]]),
          },
        ],
      ]),
    ]),
  );
  const claims: ClaimInfos = new Map(
    Array.from({ length: MAX_CLAIMS + 5 }, (_, index) => [
      `demo/c${index}`,
      {
        ...{ namespace: "demo", name: `c${index}`, uid: "u", podUids: new Set<string>(), isPrepared: false },
        drivers: new Map([
          [
            "d",
            Array.from({ length: 100 }, (__, n) => ({
              ...{ poolName: "p", deviceName: `${n}`, requestNames: [], cdiDeviceIds: [] },
            })),
          ],
        ]),
      },
    ]),
  );
  const view = nodeHardwareView(
    input({ ...large, registry: registryOf(pods), devices: listing(gpus(10_000)), claims }),
  );

  it("hold for 400 pods, 10,000 devices and 1,024 CPUs", () => {
    expect(view.claims).toMatchObject({ first: { length: MAX_CLAIMS }, more: 5 });
    expect(view.claims.first[0]?.devices).toMatchObject({ first: { length: 64 }, more: 36 });
    expect(view.devices[0]).toMatchObject({ total: 10_000, free: 2_000, owned: { first: { length: 400 }, more: 0 } });
    expect(JSON.stringify(view).length).toBeLessThan(1_500_000);
  });

  it.each([40, 80, 120])("hold for the text of a terminal with %i columns", (columns) => {
    const lines = hardwareText(view, columns).split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
    expect(lines).toContain("    and 336 more");
  });

  it("leave out containers beyond the limit, with their number", () => {
    const many = Array.from({ length: MAX_OWNERS + 7 }, (_, index): [string, PodHardware] => [
      `p${index}`,
      new Map([["main", { cpus: [1] }]]),
    ]);
    const { nodes } = nodeHardwareView(input({ registry: registryOf(Object.fromEntries(many)) }));
    expect(nodes[0]?.owned).toMatchObject({ first: { length: MAX_OWNERS }, more: 7 });
  });
});
