/** Devices of the checkpoint beside the other hardware that pods keep. */
import { describe, expect, it } from "vitest";
import type { AllocationRecord } from "../../../../src/core/allocation/allocationFile.ts";
import {
  NO_ALLOCATIONS,
  withDeviceAllocation,
  withKeptDevices,
} from "../../../../src/core/device/deviceAllocations.ts";
import { podUid } from "../../../../src/core/ids.ts";
import type { PodHardware } from "../../../../src/core/topology/hardware.ts";
import { ContainerAllocateResponse } from "../../../../src/gen/devicePlugin.ts";

const GPU = "example.com/gpu";
const uid = podUid("p");
const response = ContainerAllocateResponse.fromPartial({});
const prepared = withDeviceAllocation(NO_ALLOCATIONS, uid, ["main", GPU], {
  ...{ ids: new Map([[0, ["a"]]]), response, isStale: false },
});
const cpus: PodHardware = new Map([
  ["main", { cpus: [1, 3] }],
  ["side", { cpus: [5] }],
]);
const both: PodHardware = new Map([
  ["main", { cpus: [1, 3], devices: new Map([[GPU, ["a"]]]) }],
  ["side", { cpus: [5] }],
]);

describe("withKeptDevices", () => {
  it("leaves a pod of another kubelet its CPUs beside its devices", () => {
    const kept = withKeptDevices({ allocations: new Map(), inherited: new Map([[uid, cpus]]) }, prepared);
    expect(kept).toEqual({ allocations: new Map(), inherited: new Map([[uid, both]]) });
  });

  it("adds the devices of an own pod to its allocation", () => {
    const record: AllocationRecord = { allocation: { containers: {} }, resizing: false, hardware: cpus };
    const kept = withKeptDevices({ allocations: new Map([[uid, record]]), inherited: new Map() }, prepared);
    expect(kept).toEqual({ allocations: new Map([[uid, { ...record, hardware: both }]]), inherited: new Map() });
  });
});
