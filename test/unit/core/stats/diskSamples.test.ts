import { expect, it } from "vitest";
import { podUid } from "../../../../src/core/ids.ts";
import { claimSamples, logSamples } from "../../../../src/core/stats/diskSamples.ts";
import { createDiskGauges } from "../../../../src/pipelines/stats/diskGauges.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const used = { bytes: 7n, inodes: 2n };
const space = { capacityBytes: 100n, availableBytes: 90n, usedBytes: 7n, inodes: 10n, inodesFree: 8n };
const pvcRef = { name: "disk", namespace: "demo" };
const samplesOf = (...[volume]: Parameters<typeof claimSamples>) =>
  claimSamples(volume).map(({ name, value }) => [name.replace("kubelet_volume_stats_", ""), value]);

it("reports known figures of a claim, and none of other volumes", () => {
  const volume = { name: "v", isEphemeral: false, used, space };
  expect(samplesOf({ ...volume, pvcRef })).toEqual([
    ["used_bytes", 7n],
    ["inodes_used", 2n],
    ["capacity_bytes", 100n],
    ["available_bytes", 90n],
    ["inodes", 10n],
    ["inodes_free", 8n],
  ]);
  expect(samplesOf({ ...volume, pvcRef, space: undefined })).toEqual([
    ["used_bytes", 7n],
    ["inodes_used", 2n],
  ]);
  expect(samplesOf(volume)).toEqual([]);
});

it.each([
  [true, 1n],
  [false, 0n],
])("reports health of a claim's volume that is abnormal: %s", (abnormal, value) => {
  const volume = { name: "v", isEphemeral: false, used, space, pvcRef, condition: { abnormal, message: "m" } };
  expect(samplesOf(volume).at(-1)).toEqual(["health_status_abnormal", value]);
});

it("labels log samples with their container while it runs", () => {
  const { metrics, samples } = recordingTelemetry();
  const tell = createDiskGauges(metrics);
  const ofStates = (a: "running" | "exited") => ({
    ...{ podUid: podUid("u"), namespace: "demo", name: "web" },
    containers: [{ name: "a", state: a } as const, { name: "b", state: "running" } as const],
  });
  const name = (container: string) =>
    `kubelet_container_log_filesystem_used_bytes{uid="u",namespace="demo",pod="web",container="${container}"}`;
  const logs = new Map([
    ["a", used],
    ["b", { bytes: 9n, inodes: 1n }],
    ["init", used],
  ]);
  tell(logSamples(ofStates("running"), logs));
  expect([...samples]).toEqual([
    [name("a"), 7],
    [name("b"), 9],
  ]);
  tell(logSamples(ofStates("exited"), logs));
  expect([...samples]).toEqual([[name("b"), 9]]);
});
