import { describe, expect, it } from "vitest";
import { monotonicMs } from "../../../../src/core/ids.ts";
import { observationsOf, type PressureFigures } from "../../../../src/core/eviction/observations.ts";

const space = (availableBytes: bigint, inodesFree: bigint) => ({
  capacityBytes: 100n,
  usedBytes: 0n,
  inodes: 50n,
  availableBytes,
  inodesFree,
});
const reported = (figures: PressureFigures) =>
  [...observationsOf(figures, monotonicMs(0))].map(
    ([signal, { available, capacity }]) => `${signal} ${available}/${capacity}`,
  );

describe("observationsOf", () => {
  it.each<[string, PressureFigures, readonly string[]]>([
    ["nothing that was measured", {}, []],
    [
      "memory: what is neither free nor in use does not count",
      { memory: { availableBytes: 30n, workingSetBytes: 60n } },
      ["memory.available 30/90"],
    ],
    ["pods below their limit", { pods: { memoryLimit: 80, workingSet: 100 } }, ["allocatableMemory.available -20/80"]],
    ["pods without a limit", { pods: { memoryLimit: 0, workingSet: 100 } }, []],
    ["pods whose memory is unknown", { pods: { memoryLimit: 80 } }, []],
    ["process ids", { pids: { max: 32n, running: 30n } }, ["pid.available 2/32"]],
    [
      "disks",
      { nodeFs: space(1n, 2n), imageFs: space(3n, 4n) },
      ["nodefs.available 1/100", "nodefs.inodesFree 2/50", "imagefs.available 3/100", "imagefs.inodesFree 4/50"],
    ],
    [
      "layers apart from images",
      { containerFs: space(5n, 6n) },
      ["containerfs.available 5/100", "containerfs.inodesFree 6/50"],
    ],
  ])("%s", (_, figures, signals) => {
    expect(reported(figures)).toEqual(signals);
  });
});
