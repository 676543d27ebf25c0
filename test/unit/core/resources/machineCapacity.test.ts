import { expect, it } from "vitest";
import { internalCapacity, machineCapacity } from "../../../../src/core/resources/machineCapacity.ts";

it("huge pages are counted by size, in the order of their names, beside the file system and memory", () => {
  const hugepages = [
    { resource: "hugepages-2Mi", bytes: 2n ** 21n, count: 3n },
    { resource: "hugepages-1Gi", bytes: 2n ** 30n, count: 2n },
  ];
  const capacity = machineCapacity({ cpuCount: 4, memoryBytes: 2n ** 33n, rootFsBytes: 2n ** 40n, hugepages }, 110);
  expect(Object.entries(capacity)).toEqual([
    ["cpu", "4"],
    ["ephemeral-storage", "1Ti"],
    ["hugepages-1Gi", "2Gi"],
    ["hugepages-2Mi", "6Mi"],
    ["memory", "8Gi"],
    ["pods", "110"],
  ]);
});

it("processes are part of the internal capacity where their maximum is known", () => {
  expect([internalCapacity({ cpu: "1" }, 99n), internalCapacity({ cpu: "1" }, undefined)]).toEqual([
    { cpu: "1", pid: "99" },
    { cpu: "1" },
  ]);
});
