import { describe, expect, it } from "vitest";
import { republishInputs, untilRepublish } from "../../../../src/core/csi/republish.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { monotonicMs } from "../../../../src/core/ids.ts";
import type { VolumeLayout } from "../../../../src/core/volume/volumeLayout.ts";
import { type ActualVolume, volumeStep, withFailure } from "../../../../src/core/volume/volumePlan.ts";

const PERIOD_MS = 60_000;
const DRIVER = { name: "d" };
const RESTARTED = { name: "d" };

const volume = (condition: ActualVolume["condition"], inputs: ActualVolume["inputs"]): ActualVolume => ({
  ...{ plugin: "kubernetes.io/csi", name: "v", path: "/v", isOwnDirectory: true, condition, inputs },
});
const mounted = volume("mounted", [DRIVER, 1_000]);
const failed = (actual: ActualVolume, atMs: number) =>
  withFailure(
    actual,
    { operation: "setUp", error: kubeletError("Unavailable", "no"), inputs: [DRIVER, atMs] },
    monotonicMs(atMs),
  );

/** Returns the step that the volume takes at this time. */
function stepOf(actual: ActualVolume | undefined, atMs: number, driver: unknown = DRIVER): string {
  const now = monotonicMs(atMs);
  const inputs = republishInputs(driver, actual, now, PERIOD_MS);
  return volumeStep({ layout: {} as VolumeLayout, inputs }, actual, now).kind;
}

describe("a volume whose driver wants to publish it again", () => {
  it.each<[string, ActualVolume | undefined, number, unknown, string]>([
    ["is published first", undefined, 0, DRIVER, "setUp"],
    ["is published when it may be mounted", volume("uncertain", []), 0, DRIVER, "setUp"],
    ["stays until the period is over", mounted, 60_999, DRIVER, "nothing"],
    ["is published again after the period", mounted, 61_000, DRIVER, "setUp"],
    ["stays when its driver registers again", mounted, 60_999, RESTARTED, "nothing"],
    ["waits after a failure", failed(mounted, 61_000), 61_499, DRIVER, "wait"],
    ["is tried again after the delay", failed(mounted, 61_000), 61_500, DRIVER, "setUp"],
    ["is tried again when its driver registers", failed(mounted, 61_000), 61_001, RESTARTED, "setUp"],
    ["waits after a first failure", failed(volume("uncertain", []), 10), 11, DRIVER, "wait"],
  ])("%s", (_, actual, atMs, driver, step) => {
    expect(stepOf(actual, atMs, driver)).toBe(step);
  });

  it("names the time until it is due", () => {
    const due = (actual: ActualVolume | undefined, atMs: number) =>
      untilRepublish(actual, monotonicMs(atMs), PERIOD_MS);
    expect([due(undefined, 0), due(mounted, 1_000), due(mounted, 60_999), due(mounted, 99_000)]).toEqual([
      undefined,
      60_000,
      1,
      0,
    ]);
  });
});
