import { describe, expect, it } from "vitest";
import { formatQuantity } from "../../../../src/core/quantity.ts";
import { machineCapacity } from "../../../../src/core/resources/machineCapacity.ts";
import { nodeAllocatable, reservationFault, resourcesForPods } from "../../../../src/core/resources/nodeAllocatable.ts";

const capacity = {
  cpu: "2",
  "ephemeral-storage": "264212084Ki",
  "hugepages-1Gi": "0",
  "hugepages-2Mi": "0",
  memory: "24684096Ki",
  pods: "110",
};

describe("nodeAllocatable", () => {
  it("reserves the hard eviction thresholds, percentages to the byte of 32-bit floats", () => {
    const evictionHard = { "memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "15%" };
    expect(nodeAllocatable({ capacity, evictionHard })).toEqual({
      ...capacity,
      "ephemeral-storage": "267847642337",
      memory: "24581696Ki",
    });
  });

  it("subtracts reservations, never below 0", () => {
    const reserved = { kubeReserved: { cpu: "500m", memory: "1Gi" }, systemReserved: { cpu: "700m", pods: "200" } };
    expect(nodeAllocatable({ capacity, ...reserved })).toEqual({
      ...capacity,
      cpu: "800m",
      memory: "23635520Ki",
      pods: "0",
    });
  });

  it("subtracts huge pages from memory", () => {
    const pages = { memory: "4Gi", "hugepages-2Mi": "1Gi" };
    expect(nodeAllocatable({ capacity: pages })).toEqual({ memory: "3Gi", "hugepages-2Mi": "1Gi" });
  });

  it("rejects reservations above capacity, eviction included", () => {
    const [has, evictionHard] = [{ cpu: "2", memory: "2Gi" }, { "memory.available": "100Mi" }];
    const fault = (kubeReserved: Record<string, string>, systemReserved: Record<string, string>) =>
      reservationFault({ capacity: has, kubeReserved, systemReserved, evictionHard });
    expect(fault({ memory: "1Gi", cpu: "1" }, { memory: "924Mi", cpu: "1", pid: "9" })).toBeUndefined();
    expect(fault({ memory: "1Gi" }, { memory: "925Mi", cpu: "2500m" })).toBe(
      "invalid Node Allocatable configuration. " +
        'Resource "cpu" has a reservation of 2500m but capacity of 2. Expected capacity >= reservation. ' +
        'Resource "memory" has a reservation of 2049Mi but capacity of 2Gi. Expected capacity >= reservation.',
    );
  });

  it("ignores malformed thresholds", () => {
    expect(nodeAllocatable({ capacity, evictionHard: { "memory.available": "x%" } })).toEqual(capacity);
  });

  it("limits pods to unreserved resources, whatever eviction reserves", () => {
    const left = resourcesForPods({
      capacity: { cpu: "2", memory: "2Gi" },
      kubeReserved: { memory: "1Gi" },
      evictionHard: { "memory.available": "100Mi" },
    });
    expect([...left].map(([name, amount]) => [name, formatQuantity(amount)])).toEqual([
      ["cpu", "2"],
      ["memory", "1Gi"],
    ]);
  });
});

describe("machineCapacity", () => {
  it("returns the machine as Kubernetes resources", () => {
    const machine = {
      cpuCount: 2,
      memoryBytes: 24_684_096n * 1024n,
      rootFsBytes: 264_212_084n * 1024n,
      hugepages: [
        { resource: "hugepages-2Mi", bytes: 2n ** 21n, count: 0n },
        { resource: "hugepages-1Gi", bytes: 2n ** 30n, count: 0n },
      ],
    };
    expect(machineCapacity(machine, 110)).toEqual(capacity);
    expect(machineCapacity({ ...machine, rootFsBytes: undefined, hugepages: [] }, 10)).toEqual({
      cpu: "2",
      memory: "24684096Ki",
      pods: "10",
    });
  });
});
