/** Simulated CSI drivers: their mounts, one call for a volume at a time, calls whose caller or driver is gone. */
import { BehaviorSubject, Subject } from "rxjs";
import { beforeEach, describe, expect, it } from "vitest";
import type { SimPluginFate } from "../../../src/sim/hardware/pluginCall.ts";
import type { SimPluginProcess } from "../../../src/sim/hardware/simPluginProcess.ts";
import { createSimHost, type SimHost } from "../../../src/sim/host/simHost.ts";
import { createPrng } from "../../../src/sim/prng.ts";
import type { UntimedObservation } from "../../../src/sim/simObservation.ts";
import { createSimCsiDrivers } from "../../../src/sim/storage/simCsiDrivers.ts";
import { createSimVolumeSizes, FIRST_SIZE } from "../../../src/sim/storage/simVolumeSizes.ts";
import { createHeapScheduler, type HeapScheduler } from "../../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../../src/sim/time/simClock.ts";
import { toKubeletError } from "../../../src/core/errors.ts";
import { NodeExpandVolumeRequest, NodePublishVolumeRequest, NodeStageVolumeRequest } from "../../../src/gen/csi.ts";

const DISK = "disk.csi.example.com";
const SOCKET = "/disk.sock";
const STAGE = "/kubelet/stage";
const TARGET = "/kubelet/pod/mount";

describe("simulated CSI drivers", () => {
  let scheduler: HeapScheduler;
  let host: SimHost;
  let fates: SimPluginFate[];
  let seen: string[];
  let process: { -readonly [Key in "isUp" | "starts"]: SimPluginProcess[Key] } & { died$: Subject<void> };
  let answers: string[];
  beforeEach(() => {
    scheduler = createHeapScheduler();
    host = createSimHost({ clock: createSimClock(scheduler), prng: createPrng(1) });
    [fates, seen, answers] = [[], [], []];
    process = { isUp: true, starts: 1, died$: new Subject<void>() };
    host.files.put(`${STAGE}/x`, "");
    host.files.drop(`${STAGE}/x`);
    host.files.put("/kubelet/pod/vol_data.json", "");
  });
  const sizes = createSimVolumeSizes();
  const boots = new BehaviorSubject("boot 1");
  const client = () =>
    createSimCsiDrivers({
      clock: createSimClock(scheduler),
      faults: () => fates.shift() ?? { kind: "answer" },
      machine: () => host,
      sizes,
      bootId: () => boots.value,
      processAt: (socket) => (process.isUp && socket === SOCKET ? (process as unknown as SimPluginProcess) : undefined),
      nodeIdOf: () => "node-0",
      see: (observation: UntimedObservation) => {
        if (observation.kind === "csi") seen.push(`${observation.rpc} ${observation.what}`);
      },
    }).at({ name: DISK, endpoint: SOCKET });
  const stage = NodeStageVolumeRequest.fromPartial({ volumeId: "v", stagingTargetPath: STAGE });
  const publish = NodePublishVolumeRequest.fromPartial({ volumeId: "v", stagingTargetPath: STAGE, targetPath: TARGET });
  const ask = (call$: ReturnType<ReturnType<typeof client>["nodeStageVolume"]>) =>
    call$.subscribe({
      next: () => answers.push("ok"),
      error: (thrown: unknown) => answers.push(toKubeletError(thrown).message),
    });
  const pass = (ms = 1_000): void => {
    const endMs = scheduler.now() + ms;
    while (scheduler.runNext(endMs));
    scheduler.advanceTo(endMs);
  };
  const mounts = () => host.mounts.all().map(({ mountPoint }) => mountPoint);

  it("mount a volume for the node, then for a pod", () => {
    const driver = client();
    ask(driver.nodePublishVolume(publish));
    pass();
    ask(driver.nodeStageVolume(stage));
    pass();
    ask(driver.nodePublishVolume(publish));
    pass();
    expect(answers).toEqual([`v is not staged at ${STAGE}`, "ok", "ok"]);
    expect([mounts(), host.files.read(`${TARGET}/data`)]).toEqual([[STAGE, TARGET], "v"]);
    ask(driver.nodeUnpublishVolume({ volumeId: "v", targetPath: TARGET }));
    pass();
    ask(driver.nodeUnstageVolume({ volumeId: "v", stagingTargetPath: STAGE }));
    pass();
    expect([mounts(), host.files.at(TARGET), host.files.at(STAGE)?.kind]).toEqual([[], undefined, "directory"]);
  });

  it("give a pod the device of a staged block volume", () => {
    const block = { block: {}, mount: undefined, accessMode: undefined };
    const target = "/kubelet/pod/device";
    const give = () => ask(client().nodePublishVolume({ ...publish, targetPath: target, volumeCapability: block }));
    give();
    pass();
    const driver = client();
    ask(driver.nodeStageVolume({ ...stage, volumeCapability: block }));
    pass();
    ask(driver.nodePublishVolume({ ...publish, targetPath: target, volumeCapability: block }));
    pass();
    expect([answers, mounts(), host.files.read(target)]).toEqual([
      [`v is not staged at ${STAGE}`, "ok", "ok"],
      [target],
      "v",
    ]);
    ask(driver.nodeUnpublishVolume({ volumeId: "v", targetPath: target }));
    ask(driver.nodeUnstageVolume({ volumeId: "v", stagingTargetPath: STAGE }));
    pass();
    ask(driver.nodeUnstageVolume({ volumeId: "v", stagingTargetPath: STAGE }));
    pass();
    expect([mounts(), host.files.at(target), host.files.at(`${STAGE}/data`)]).toEqual([[], undefined, undefined]);
  });

  it("expand a published volume to its size", () => {
    const driver = client();
    const expand = (bytes: bigint) =>
      ask(
        driver.nodeExpandVolume(
          NodeExpandVolumeRequest.fromPartial({
            volumeId: "v",
            volumePath: STAGE,
            capacityRange: { requiredBytes: bytes },
          }),
        ),
      );
    expand(FIRST_SIZE);
    pass();
    ask(driver.nodeStageVolume(stage));
    pass();
    expand(FIRST_SIZE);
    pass();
    expand(FIRST_SIZE + 1n);
    pass();
    fates = [{ kind: "fail", status: 9 }];
    expand(FIRST_SIZE);
    pass();
    expect([answers, sizes.isInUse("v")]).toEqual([
      [`v is not at ${STAGE}`, "ok", "ok", `v has ${FIRST_SIZE} bytes`, "ill"],
      true,
    ]);
    expand(FIRST_SIZE);
    pass();
    expect(sizes.isInUse("v")).toBe(false);
  });

  it("refuse a second call for a volume", () => {
    fates = [{ kind: "delay", ms: 500 }];
    const driver = client();
    ask(driver.nodeStageVolume(stage));
    ask(driver.nodeStageVolume(stage));
    pass();
    expect(answers).toEqual(["an operation with the given volume already exists", "ok"]);
  });

  it("go on when their caller has left", () => {
    ask(client().nodeStageVolume(stage)).unsubscribe();
    pass();
    expect([mounts(), seen]).toEqual([[STAGE], ["asked", "ended", "done"].map((what) => `NodeStageVolume ${what}`)]);
  });

  it("forget a call when they end", () => {
    fates = [{ kind: "delay", ms: 500 }];
    ask(client().nodeStageVolume(stage));
    process.isUp = false;
    process.died$.next();
    pass();
    expect([mounts(), answers]).toEqual([[], ["the plugin ended"]]);
  });

  it.each<[string, SimPluginFate, readonly string[], string]>([
    ["fails", { kind: "fail", status: 13 }, [], "ill"],
    ["fails after its effect", { kind: "loseReply" }, [STAGE], "ill"],
    ["fails wrongly", { kind: "lie", which: 0 }, [STAGE], "failed, although it is done"],
  ])("mount or do not when a stage %s", (_, fate, mounted, message) => {
    fates = [fate];
    ask(client().nodeStageVolume(stage));
    pass();
    expect([mounts(), answers]).toEqual([mounted, [message]]);
  });

  it("give a stuck call up after its deadline", () => {
    fates = [{ kind: "hang" }];
    const driver = client();
    ask(driver.nodeStageVolume(stage));
    pass(179_000);
    ask(driver.nodeStageVolume(stage));
    pass(2_000);
    ask(driver.nodeStageVolume(stage));
    pass();
    expect(answers).toEqual([
      expect.stringContaining("120000"),
      "an operation with the given volume already exists",
      "ok",
    ]);
  });

  it("see that the content of a mounted volume is gone", () => {
    const driver = client();
    ask(driver.nodeStageVolume(stage));
    pass();
    host.files.drop(`${STAGE}/data`);
    ask(driver.nodeUnstageVolume({ volumeId: "v", stagingTargetPath: STAGE }));
    pass();
    expect(seen).toContain("NodeUnstageVolume lost");
  });
});
