import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../src/core/api.ts";
import { cpuPolicy } from "../../../../src/core/cpu/cpuPolicy.ts";
import { cpuSet } from "../../../../src/core/cpu/cpuSet.ts";
import { type ClaimInfo, claimKey, NO_CLAIMS } from "../../../../src/core/dra/claimInfo.ts";
import { NO_ALLOCATIONS, NO_NODE, withDeviceAllocation } from "../../../../src/core/device/deviceAllocations.ts";
import { changedDevices, NO_DEVICES } from "../../../../src/core/device/deviceState.ts";
import { podUid } from "../../../../src/core/ids.ts";
import { memoryPolicy } from "../../../../src/core/numaMemory/memoryPolicy.ts";
import { freshRecord, identityOf } from "../../../../src/core/pod/podRecord.ts";
import type { PodRecord } from "../../../../src/core/pod/podRegistry.ts";
import {
  allocatableResources,
  getPodResources,
  inV1Alpha1,
  listPodResources,
  type ResourceHolders,
} from "../../../../src/core/podResources/podResources.ts";
import { ContainerDevices, ContainerResources, PodResources } from "../../../../src/gen/podResources.ts";
import { ContainerAllocateResponse } from "../../../../src/gen/devicePlugin.ts";
import type { PodHardware } from "../../../../src/core/topology/hardware.ts";
import { nodeHardware } from "../../../../src/core/topology/nodeHardware.ts";
import { machineOf } from "../../../support/cpuMachines.ts";
import { podOf } from "../../../support/pods.ts";

const CONTAINERS = [{ name: "main" }, { name: "shared" }];
const recordOf = (pod: Pod, more: Partial<PodRecord> = {}): PodRecord => ({
  ...freshRecord(identityOf(pod)),
  pod,
  allocated: pod,
  state: "syncing",
  ...more,
});
const registryOf = (...records: readonly PodRecord[]): ResourceHolders => ({
  records: new Map(records.map((record) => [record.identity.uid, record])),
  claims: NO_CLAIMS,
  devices: NO_DEVICES,
  deviceAllocations: undefined,
  hasExtendedClaims: false,
});
const list = (...records: readonly PodRecord[]) => listPodResources(registryOf(...records), false).podResources;

describe("the list of pod resources", () => {
  it("has the CPUs that each container has for itself", () => {
    const hardware = new Map([["main", { cpus: cpuSet([3, 1]) }]]);
    const pod = podOf({ name: "a", uid: "a", spec: { containers: CONTAINERS } });
    expect(list(recordOf(pod, { hardware }))).toEqual([
      PodResources.create({
        name: "a",
        namespace: pod.metadata.namespace,
        containers: [
          ContainerResources.create({ name: "main", cpuIds: [1n, 3n] }),
          ContainerResources.create({ name: "shared" }),
        ],
      }),
    ]);
  });

  it("has sidecars before containers, and no other init container", () => {
    const initContainers = [{ name: "setup" }, { name: "proxy", restartPolicy: "Always" }];
    const pod = podOf({ name: "a", uid: "a", spec: { initContainers, containers: CONTAINERS } });
    const [found] = list(recordOf(pod));
    expect(found?.containers.map(({ name }) => name)).toEqual(["proxy", "main", "shared"]);
  });

  it("has the pods that were admitted and have not ended", () => {
    const states = ["syncing", "terminating", "terminated", "rejected", "waiting"] as const;
    const records = states.map((state) => recordOf(podOf({ name: state, uid: state }), { state }));
    expect(list(...records).map(({ name }) => name)).toEqual(["syncing", "terminating"]);
  });

  it("has all pods without KubeletPodResourcesListUseActivePods", () => {
    const states = ["syncing", "terminated", "rejected"] as const;
    const records = states.map((state) => recordOf(podOf({ name: state, uid: state }), { state }));
    expect(listPodResources(registryOf(...records), true).podResources.map(({ name }) => name)).toEqual(states);
  });
});

describe("the claims of a container", () => {
  const claim: ClaimInfo = {
    namespace: "demo",
    name: "gpus",
    uid: "claim-1",
    podUids: new Set(["a"]),
    drivers: new Map([
      [
        "driver.example",
        [
          { poolName: "node", deviceName: "gpu-0", requestNames: [], cdiDeviceIds: ["v/gpu=0", "v/common=all"] },
          { poolName: "node", deviceName: "gpu-1", shareId: "s-1", requestNames: [], cdiDeviceIds: ["v/gpu=1"] },
        ],
      ],
    ]),
    isPrepared: true,
  };
  const pod = podOf({
    name: "a",
    uid: "a",
    namespace: "demo",
    spec: {
      resourceClaims: [{ name: "devices", resourceClaimName: "gpus" }],
      containers: [
        {
          name: "main",
          resources: {
            claims: [
              { name: "devices", request: "x" },
              { name: "devices", request: "y" },
            ],
          },
        },
        { name: "other" },
      ],
    },
  });
  const listed = (info: ClaimInfo) =>
    listPodResources({ ...registryOf(recordOf(pod)), claims: new Map([[claimKey(info), info]]) }, false).podResources[0]
      ?.containers;

  it("appear once, each device with its own CDI devices", () => {
    expect(listed(claim)?.map(({ dynamicResources }) => dynamicResources)).toEqual([
      [
        {
          claimName: "gpus",
          claimNamespace: "demo",
          claimResources: [
            {
              driverName: "driver.example",
              poolName: "node",
              deviceName: "gpu-0",
              cdiDevices: [{ name: "v/gpu=0" }, { name: "v/common=all" }],
            },
            {
              ...{ driverName: "driver.example", poolName: "node", deviceName: "gpu-1", shareId: "s-1" },
              cdiDevices: [{ name: "v/gpu=1" }],
            },
          ],
        },
      ],
      [],
    ]);
  });

  it("do not appear before the pod uses them", () => {
    expect(listed({ ...claim, podUids: new Set(["b"]) })?.[0]?.dynamicResources).toEqual([]);
  });
});

describe("the resources of one pod", () => {
  const first = recordOf(podOf({ name: "same", uid: "old" }), {
    state: "terminated",
    hardware: new Map([["main", { cpus: cpuSet([1]) }]]),
  });
  const second = recordOf(podOf({ name: "same", uid: "new" }), {
    hardware: new Map([["main", { cpus: cpuSet([2]) }]]),
  });
  const cpusOf = (...records: readonly PodRecord[]) =>
    getPodResources(registryOf(...records), first.identity.namespace, "same")?.containers.map(({ cpuIds }) => cpuIds);

  it("are those of the active pod of that name", () => {
    expect(cpusOf(first, second)).toEqual([[2n]]);
  });

  it("do not exist for a pod that has ended", () => {
    expect(cpusOf(first)).toBeUndefined();
  });

  it.each([
    ["namespace", "other", "same"],
    ["name", first.identity.namespace, "other"],
  ])("do not exist for another %s", (_, namespace, name) => {
    expect(getPodResources(registryOf(second), namespace, name)).toBeUndefined();
  });
});

describe("the answer in v1alpha1", () => {
  it("has the devices of each container, and nothing else", () => {
    const devices = [
      ContainerDevices.create({ resourceName: "vendor/gpu", deviceIds: ["g0"], topology: { nodes: [{ ID: 0n }] } }),
    ];
    const containers = [ContainerResources.create({ name: "main", devices, cpuIds: [1n] })];
    expect(inV1Alpha1({ podResources: [PodResources.create({ name: "a", namespace: "demo", containers })] })).toEqual({
      podResources: [
        {
          name: "a",
          namespace: "demo",
          containers: [{ name: "main", devices: [{ resourceName: "vendor/gpu", deviceIds: ["g0"] }] }],
        },
      ],
    });
  });
});

describe("what pods can have for themselves", () => {
  it("is no CPU without the static policy", () => {
    expect(allocatableResources(undefined, NO_DEVICES).cpuIds).toEqual([]);
  });

  it("is every CPU but the reserved ones", () => {
    const machine = machineOf({ sockets: 1, nodesPerSocket: 1, coresPerCache: 4, threads: 1 });
    const options = { fullCores: false, acrossNodes: false, bySocket: false, acrossCores: false };
    const cpus = cpuPolicy(machine, { ...options, strictReservation: false, alignsByCache: false }, 1, []);
    if (cpus === undefined) throw new Error("too many CPUs are reserved");
    const topology = { nodes: 1, distances: undefined };
    const policy = { name: "none", scope: "container", topology } as const;
    const settings = { liftsCpuQuota: false, reconcilePeriodMs: 1_000 };
    const hardware = nodeHardware({ cpus, memory: undefined }, machine.nodes, policy, settings);
    expect(allocatableResources(hardware, NO_DEVICES).cpuIds).toEqual([1n, 2n, 3n]);
  });

  it("is every healthy device, and the memory that no node keeps for the system", () => {
    const state = changedDevices(NO_DEVICES, {
      ...{ kind: "listed", resource: GPU, endpoint },
      devices: [
        { id: "a", isHealthy: true, nodes: [1] },
        { id: "b", isHealthy: false, nodes: [] },
        { id: "c", isHealthy: true, nodes: [] },
      ],
    });
    const memory = memoryPolicy(
      [{ id: 2, bytes: 1_000, hugepages: new Map([["hugepages-2Mi", 0]]) }],
      new Map([[2, new Map([["memory", 100]])]]),
    );
    const { devices, memory: blocks } = allocatableResources({ cpus: undefined, memory }, state);
    expect(devices).toEqual([deviceOf("a", 1), deviceOf("c")]);
    expect(blocks).toEqual([{ memoryType: "memory", size: 900n, topology: { nodes: [{ ID: 2n }] } }]);
  });
});

const GPU = "vendor.example/gpu";
const endpoint = { socket: "/gpu.sock", preStartRequired: false, prefersDevices: false };
const deviceOf = (id: string, node?: number): ContainerDevices =>
  ContainerDevices.create({
    ...{ resourceName: GPU, deviceIds: [id] },
    topology: node === undefined ? undefined : { nodes: [{ ID: BigInt(node) }] },
  });

describe("the devices and the memory of a container", () => {
  const hardware: PodHardware = new Map([
    [
      "main",
      {
        devices: new Map([[GPU, ["a", "b"]]]),
        memory: [
          { nodes: [0, 1], resource: "memory", bytes: 4_096, heldBytes: 4_096 },
          { nodes: [1], resource: "hugepages-2Mi", bytes: 2_097_152, heldBytes: 2_097_152 },
        ],
      },
    ],
  ]);
  const record = recordOf(podOf({ name: "a", uid: "a", spec: { containers: CONTAINERS } }), { hardware });
  const mainOf = (more: Partial<ResourceHolders>) =>
    listPodResources({ ...registryOf(record), ...more }, false).podResources[0]?.containers[0];

  it("appear with their NUMA nodes: an entry for each node of a device, and for each kind of memory", () => {
    const allocation = {
      ids: new Map([
        [0, ["a"]],
        [1, ["a"]],
        [NO_NODE, ["b"]],
      ]),
      response: ContainerAllocateResponse.fromPartial({}),
      isStale: false,
    };
    const deviceAllocations = withDeviceAllocation(NO_ALLOCATIONS, podUid("a"), ["main", GPU], allocation);
    const main = mainOf({ deviceAllocations });
    expect(main?.devices).toEqual([deviceOf("a", 0), deviceOf("a", 1), deviceOf("b")]);
    expect(main?.memory).toEqual([
      { memoryType: "memory", size: 4_096n, topology: { nodes: [{ ID: 0n }, { ID: 1n }] } },
      { memoryType: "hugepages-2Mi", size: 2_097_152n, topology: { nodes: [{ ID: 1n }] } },
    ]);
  });

  it("appear with the nodes that the plugin lists before it has prepared them", () => {
    const devices = changedDevices(NO_DEVICES, {
      ...{ kind: "listed", resource: GPU, endpoint },
      devices: [{ id: "b", isHealthy: true, nodes: [3] }],
    });
    expect(mainOf({ devices })?.devices).toEqual([deviceOf("a"), deviceOf("b", 3)]);
  });
});
