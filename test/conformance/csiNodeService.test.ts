/** The expectations of the CSI specification of a node service, on the test driver over its socket, with real mounts. */
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { lastValueFrom, type Observable } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { grpcStatusOf } from "../../src/core/csi/csiRequests.ts";
import { GrpcStatus } from "../../src/core/grpcStatus.ts";
import {
  NodeExpandVolumeRequest,
  NodePublishVolumeRequest,
  NodeStageVolumeRequest,
  VolumeCapability_AccessMode_Mode as Mode,
} from "../../src/gen/csi.ts";
import type { CsiClient } from "../../src/ports/csiDrivers.ts";
import { createCsiDrivers } from "../../src/sinks/csiDrivers.ts";
import { startCsiDriver, type TestCsiDriver } from "../support/csiDriver.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { missingForMounts, type PrivateMounts, privateMounts } from "../support/privateMounts.ts";
import { realClock } from "../support/realClock.ts";
import { recordingTelemetry } from "../support/recordingTelemetry.ts";

const capability = {
  mount: { fsType: "", mountFlags: [], volumeMountGroup: "" },
  accessMode: { mode: Mode.SINGLE_NODE_WRITER },
};

describe.skipIf(mustSkip("the node service of a CSI driver", missingForMounts()))("a node service", () => {
  let place: PrivateMounts;
  let driver: TestCsiDriver;
  let client: CsiClient;
  beforeEach(async () => {
    place = privateMounts();
    const endpoint = join(place.place, "csi.sock");
    driver = await startCsiDriver(endpoint, {
      capabilities: ["STAGE_UNSTAGE_VOLUME", "EXPAND_VOLUME", "GET_VOLUME_STATS"],
    });
    client = createCsiDrivers({ clock: realClock, telemetry: recordingTelemetry() }).at({ name: "csi", endpoint });
    await mkdir(stagingTargetPath(), { recursive: true });
  });
  afterEach(async () => {
    driver.stop();
    // The refused calls of this suite break rules.
    await driver.release().catch(() => undefined);
    place.close();
  });

  const stagingTargetPath = (): string => join(place.place, "stage");
  const targetPath = (): string => join(place.place, "target");
  const ask = <T>(call$: Observable<T>): Promise<T | { readonly status: unknown }> =>
    lastValueFrom(call$).catch((thrown: unknown) => ({ status: grpcStatusOf(thrown) }));
  const stage = (more: object = {}) =>
    NodeStageVolumeRequest.fromPartial({
      ...{ volumeId: "v", stagingTargetPath: stagingTargetPath(), volumeCapability: capability },
      ...more,
    });
  const publish = (more: object = {}) =>
    NodePublishVolumeRequest.fromPartial({ ...stage(), targetPath: targetPath(), ...more });
  const expand = (more: object = {}) =>
    NodeExpandVolumeRequest.fromPartial({
      ...{ volumeId: "v", volumePath: targetPath(), capacityRange: { requiredBytes: 9n } },
      ...more,
    });
  const mounted = async (): Promise<readonly (string | undefined)[]> =>
    (await readFile("/proc/self/mountinfo", "utf8"))
      .split("\n")
      .map((line) => line.split(" ")[4])
      .filter((path) => path?.startsWith(`${place.place}/`));

  it("names its node and its capabilities", async () => {
    expect(await ask(client.nodeGetInfo({}))).toMatchObject({ nodeId: expect.stringMatching(/./) as unknown });
    const { capabilities } = (await lastValueFrom(client.nodeGetCapabilities({}))) as {
      readonly capabilities: readonly unknown[];
    };
    expect(capabilities).toHaveLength(3);
  });

  const INVALID = { status: GrpcStatus.invalidArgument };
  it.each<[string, () => Observable<unknown>]>([
    ["a stage without a volume", () => client.nodeStageVolume(stage({ volumeId: "" }))],
    ["a stage without a path", () => client.nodeStageVolume(stage({ stagingTargetPath: "" }))],
    ["a stage without a capability", () => client.nodeStageVolume(stage({ volumeCapability: undefined }))],
    [
      "an unstage without a volume",
      () => client.nodeUnstageVolume({ volumeId: "", stagingTargetPath: stagingTargetPath() }),
    ],
    ["an unstage without a path", () => client.nodeUnstageVolume({ volumeId: "v", stagingTargetPath: "" })],
    ["a publication without a volume", () => client.nodePublishVolume(publish({ volumeId: "" }))],
    ["a publication without a path", () => client.nodePublishVolume(publish({ targetPath: "" }))],
    ["a publication without a capability", () => client.nodePublishVolume(publish({ volumeCapability: undefined }))],
    [
      "the end of a publication without a volume",
      () => client.nodeUnpublishVolume({ volumeId: "", targetPath: targetPath() }),
    ],
    ["the end of a publication without a path", () => client.nodeUnpublishVolume({ volumeId: "v", targetPath: "" })],
    ["an expansion without a volume", () => client.nodeExpandVolume(expand({ volumeId: "" }))],
    ["an expansion without a path", () => client.nodeExpandVolume(expand({ volumePath: "" }))],
    [
      "statistics without a volume",
      () => client.nodeGetVolumeStats({ volumeId: "", volumePath: targetPath(), stagingTargetPath: "" }),
    ],
    [
      "statistics without a path",
      () => client.nodeGetVolumeStats({ volumeId: "v", volumePath: "", stagingTargetPath: "" }),
    ],
  ])("refuses %s", async (_, call) => {
    expect([await ask(call()), await mounted()]).toEqual([INVALID, []]);
  });

  it("does not find the volume of an unknown path", async () => {
    const unknown = { volumeId: "v", volumePath: join(place.place, "nowhere") };
    expect(await ask(client.nodeExpandVolume(expand(unknown)))).toEqual({ status: GrpcStatus.notFound });
    const stats$ = client.nodeGetVolumeStats({ ...unknown, stagingTargetPath: "" });
    expect(await ask(stats$)).toEqual({ status: GrpcStatus.notFound });
  });

  it("repeats each step without another effect", async () => {
    const twice = async (call: () => Observable<unknown>): Promise<number> => {
      for (let count = 0; count < 2; count += 1) await lastValueFrom(call());
      return (await mounted()).length;
    };
    const target = { volumeId: "v", targetPath: targetPath() };
    const staged = { volumeId: "v", stagingTargetPath: stagingTargetPath() };
    expect([
      await twice(() => client.nodeStageVolume(stage())),
      await twice(() => client.nodePublishVolume(publish())),
      await twice(() => client.nodeExpandVolume(expand())),
      await twice(() => client.nodeUnpublishVolume(target)),
      await twice(() => client.nodeUnstageVolume(staged)),
    ]).toEqual([1, 2, 2, 1, 0]);
    expect(driver.brokenRules).toEqual([]);
  });
});
