import { describe, expect, it } from "vitest";
import { startEvents } from "../../../src/core/node/nodeEvents.ts";

const reasons = (swapBytes: bigint, kernelVersion: string) =>
  startEvents("n1", { swapBytes, kernelVersion }).map(({ type, reason }) => `${type} ${reason}`);

describe("what a kubelet says of its node at its start", () => {
  it.each([
    [0n, "5.10.0", ["Normal Starting"]],
    [1n, "6.4.0-rc1", ["Normal Starting"]],
    [1n, "10.0", ["Normal Starting"]],
    [1n, "6.3.13", ["Normal Starting", "Warning PossibleMemoryBackedVolumesOnDisk"]],
  ])("with %d bytes of swap and kernel %s", (swapBytes, kernelVersion, expected) => {
    expect(reasons(swapBytes, kernelVersion)).toEqual(expected);
  });

  it("warns in upstream's words", () => {
    expect(startEvents("n1", { swapBytes: 1n, kernelVersion: "5.4" })[1]).toEqual({
      type: "Warning",
      reason: "PossibleMemoryBackedVolumesOnDisk",
      message:
        "The tmpfs noswap option is not supported. Memory-backed volumes (e.g. secrets, emptyDirs, etc.) might be swapped to disk and should no longer be considered secure.",
      object: { kind: "Node", namespace: "", name: "n1", uid: "", fieldPath: "" },
    });
  });
});
