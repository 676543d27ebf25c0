import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { monotonicMs } from "../../../../src/core/ids.ts";
import type { VolumeLayout } from "../../../../src/core/volume/volumeLayout.ts";
import {
  absentVolume,
  type ActualVolume,
  mountedVolume,
  volumeStep,
  type VolumeStep,
  type WantedVolume,
  withFailure,
} from "../../../../src/core/volume/volumePlan.ts";

const layout: VolumeLayout = {
  name: "v",
  plugin: "kubernetes.io/secret",
  path: "/p",
  isOwnDirectory: true,
  hasContent: true,
  isReadOnly: true,
  selinuxRelabel: true,
};
const [old, young] = [{ data: 1 }, { data: 2 }];
const wanted: WantedVolume = { layout, inputs: [old, "token"] };
const absent = absentVolume(layout);
const uncertain: ActualVolume = { ...absent, condition: "uncertain" };
const mounted: ActualVolume = { ...absent, condition: "mounted", inputs: [old, "token"] };
const outdated: ActualVolume = { ...mounted, inputs: [young, "token"] };
const NOW = monotonicMs(10_000);
const error = kubeletError("Io", "no");
const failing = (actual: ActualVolume, inputs = wanted.inputs) =>
  withFailure(actual, { operation: "setUp", error, inputs }, NOW);
const staying = (actual: ActualVolume) => withFailure(actual, { operation: "tearDown", error, inputs: [] }, NOW);
const larger: WantedVolume = { ...wanted, isLarger: true };
const small = withFailure(mounted, { operation: "expand", error, inputs: [] }, NOW);
const wait: VolumeStep = { kind: "wait", until: monotonicMs(10_500) };

describe("volumeStep", () => {
  it.each<[string, WantedVolume | undefined, ActualVolume | undefined, VolumeStep]>([
    ["nothing is wanted and nothing is there", undefined, undefined, { kind: "nothing" }],
    ["nothing exists", undefined, absent, { kind: "forget" }],
    ["a failed volume that does not exist is no longer needed", undefined, failing(absent), { kind: "forget" }],
    ["an uncertain volume is no longer needed", undefined, uncertain, { kind: "tearDown" }],
    ["it is no longer needed", undefined, mounted, { kind: "tearDown" }],
    ["tearing it down has just failed", undefined, staying(mounted), wait],
    ["a volume that just failed halfway is no longer needed", undefined, failing(uncertain), { kind: "tearDown" }],
    ["it is needed again while tearing it down fails", wanted, staying(uncertain), { kind: "setUp" }],
    ["it is needed", wanted, undefined, { kind: "setUp" }],
    ["an attempt left nothing behind", wanted, absent, { kind: "setUp" }],
    ["an earlier kubelet left it", wanted, uncertain, { kind: "setUp" }],
    ["it is as it should be", wanted, mounted, { kind: "nothing" }],
    ["its PersistentVolume has grown", larger, mounted, { kind: "expand" }],
    ["expanding it has just failed", larger, small, wait],
    ["expanding it has failed, and another pod has expanded it", wanted, small, { kind: "recovered" }],
    ["it has grown, but is not set up", larger, uncertain, { kind: "setUp" }],
    ["an object has changed", wanted, outdated, { kind: "setUp" }],
    ["it has just failed", wanted, failing(uncertain), wait],
    ["refilling it has just failed", wanted, failing(outdated), wait],
    ["it failed for want of what is there now", wanted, failing(absent, [undefined, "token"]), { kind: "setUp" }],
    [
      "it failed with an object that is back to what is in the files",
      wanted,
      failing(mounted, [young, "token"]),
      { kind: "recovered" },
    ],
  ])("when %s", (_when, want, actual, step) => {
    expect(volumeStep(want, actual, NOW)).toEqual(step);
  });

  it("retries when the delay has passed", () => {
    expect(volumeStep(wanted, failing(uncertain), monotonicMs(10_500))).toEqual({ kind: "setUp" });
    expect(volumeStep(undefined, staying(mounted), monotonicMs(10_500))).toEqual({ kind: "tearDown" });
  });
});

describe("withFailure", () => {
  it("doubles the delay from 500 ms to 2 min 2 s", () => {
    let actual = absent;
    const waits = Array.from({ length: 10 }, () => {
      actual = staying(actual);
      return (actual.failure?.againAt ?? 0) - NOW;
    });
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 122_000, 122_000]);
  });

  it("counts each operation separately", () => {
    expect(staying(failing(failing(uncertain))).failure?.againAt).toBe(10_500);
  });
});

it("a volume that is set up has what the last set up has found about its labels", () => {
  const fixed = mountedVolume(failing(uncertain), wanted.inputs, false);
  expect([fixed, mountedVolume(fixed, wanted.inputs, true)]).toEqual([{ ...mounted, hasFixedLabels: true }, mounted]);
});
