import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../src/core/api.ts";
import { cpuPolicy } from "../../../../src/core/cpu/cpuPolicy.ts";
import { cpuSet } from "../../../../src/core/cpu/cpuSet.ts";
import { type ClaimInfo, claimKey, NO_CLAIMS } from "../../../../src/core/dra/claimInfo.ts";
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
  hasExtendedClaims: false,
});
const namesIn = (...records: readonly PodRecord[]): readonly string[] =>
  listPodResources(registryOf(...records)).podResources.map(({ name }) => name);

describe("the list of pod resources", () => {
  it("has the CPUs that each container has for itself", () => {
    const hardware = new Map([["main", { cpus: cpuSet([3, 1]) }]]);
    const pod = podOf({ name: "a", uid: "a", spec: { containers: CONTAINERS } });
    expect(listPodResources(registryOf(recordOf(pod, { hardware }))).podResources).toEqual([
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
    const [found] = listPodResources(registryOf(recordOf(pod))).podResources;
    expect(found?.containers.map(({ name }) => name)).toEqual(["proxy", "main", "shared"]);
  });

  it("has the pods that were admitted and have not ended", () => {
    const states = ["syncing", "terminating", "terminated", "rejected", "waiting"] as const;
    const records = states.map((state) => recordOf(podOf({ name: state, uid: state }), { state }));
    expect(namesIn(...records)).toEqual(["syncing", "terminating"]);
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
          { poolName: "node", deviceName: "gpu-1", requestNames: [], cdiDeviceIds: ["v/gpu=1"] },
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
    listPodResources({ ...registryOf(recordOf(pod)), claims: new Map([[claimKey(info), info]]) }).podResources[0]
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
            { driverName: "driver.example", poolName: "node", deviceName: "gpu-1", cdiDevices: [{ name: "v/gpu=1" }] },
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

  it("are those of an ended pod without an active one", () => {
    expect(cpusOf(first)).toEqual([[1n]]);
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
    expect(allocatableResources(undefined).cpuIds).toEqual([]);
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
    expect(allocatableResources(hardware).cpuIds).toEqual([1n, 2n, 3n]);
  });
});
