import { describe, expect, it } from "vitest";
import { startEvents } from "../../../../src/core/node/nodeEvents.ts";

const reasons = (swapBytes: bigint, kernelVersion: string, cgroupVersion?: 1 | 2) =>
  startEvents("n1", { swapBytes, kernelVersion, cgroupVersion }).map(({ type, reason }) => `${type} ${reason}`);

describe("start-up events of a node", () => {
  it.each([
    [0n, "5.10.0", ["Normal Starting"]],
    [1n, "6.4.0-rc1", ["Normal Starting"]],
    [1n, "10.0", ["Normal Starting"]],
    [1n, "6", ["Normal Starting", "Warning PossibleMemoryBackedVolumesOnDisk"]],
    [1n, "unknown", ["Normal Starting", "Warning PossibleMemoryBackedVolumesOnDisk"]],
    [1n, "6.3.13", ["Normal Starting", "Warning PossibleMemoryBackedVolumesOnDisk"]],
  ])("with %d bytes of swap and kernel %s", (swapBytes, kernelVersion, expected) => {
    expect(reasons(swapBytes, kernelVersion)).toEqual(expected);
  });

  it("warn about cgroup v1", () => {
    expect([1, 2, undefined].map((version) => reasons(0n, "5.4", version as 1 | 2 | undefined))).toEqual([
      ["Normal Starting", "Warning CgroupV1"],
      ["Normal Starting"],
      ["Normal Starting"],
    ]);
  });

  it("have upstream's texts for warnings", () => {
    const object = { kind: "Node", namespace: "", name: "n1", uid: "", fieldPath: "" };
    expect(startEvents("n1", { swapBytes: 1n, kernelVersion: "5.4", cgroupVersion: 1 }).slice(1)).toEqual([
      {
        type: "Warning",
        reason: "PossibleMemoryBackedVolumesOnDisk",
        message:
          "The tmpfs noswap option is not supported. Memory-backed volumes (e.g. secrets, emptyDirs, etc.) might be swapped to disk and should no longer be considered secure.",
        object,
      },
      {
        type: "Warning",
        reason: "CgroupV1",
        message:
          "cgroup v1 detected. cgroup v1 support is deprecated and will be removed in a future release. Please migrate to cgroup v2. More information at https://git.k8s.io/enhancements/keps/sig-node/5573-remove-cgroup-v1",
        object,
      },
    ]);
  });
});
