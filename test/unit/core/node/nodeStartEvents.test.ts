import { describe, expect, it } from "vitest";
import { startEvents } from "../../../../src/core/node/nodeEvents.ts";

const reasons = (isSwapOn: boolean, tmpfsNoSwap: boolean, cgroupVersion?: 1 | 2) =>
  startEvents("n1", { isSwapOn, tmpfsNoSwap, cgroupVersion }).map(({ type, reason }) => `${type} ${reason}`);

describe("start-up events of a node", () => {
  it.each([
    [false, false, ["Normal Starting"]],
    [true, true, ["Normal Starting"]],
    [true, false, ["Normal Starting", "Warning PossibleMemoryBackedVolumesOnDisk"]],
  ])("with swap on: %s, and a tmpfs that stays out of it: %s", (isSwapOn, tmpfsNoSwap, expected) => {
    expect(reasons(isSwapOn, tmpfsNoSwap)).toEqual(expected);
  });

  it("warn about cgroup v1", () => {
    expect([1, 2, undefined].map((version) => reasons(false, false, version as 1 | 2 | undefined))).toEqual([
      ["Normal Starting", "Warning CgroupV1"],
      ["Normal Starting"],
      ["Normal Starting"],
    ]);
  });

  it("have upstream's texts for warnings", () => {
    const object = { kind: "Node", namespace: "", name: "n1", uid: "", fieldPath: "" };
    expect(startEvents("n1", { isSwapOn: true, tmpfsNoSwap: false, cgroupVersion: 1 }).slice(1)).toEqual([
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
