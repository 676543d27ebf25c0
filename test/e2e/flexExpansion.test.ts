/** Expansion of flexVolumes by a driver, a shell script, and without its help on a real loop device that grows. */
import { execFileSync } from "node:child_process";
import { statfsSync } from "node:fs";
import { join } from "node:path";
import { of, type Subscription } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { VolumesDeps } from "../../src/pipelines/volumes/volumes.ts";
import { FLEX_SUCCESS, FLEX_UNKNOWN, flexCalls, installFlex, liveWithFlex } from "../support/flexNode.ts";
import { type LoopDevice, loopDevice, mayGrowMounted, missingForLoopDevices } from "../support/loopDevice.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { missingForMounts, type PrivateMounts, privateMounts } from "../support/privateMounts.ts";
import { waitFor } from "../support/waitFor.ts";

const MEGABYTE = 2 ** 20;
/** A driver that mounts a tmpfs for each pod, with these calls and abilities. */
const mounting = (cases: string, requiresFSResize = true): string =>
  `init) echo '{"status":"Success","capabilities":{"attach":false,"requiresFSResize":${requiresFSResize}}}';;
mount) mount -t tmpfs flex "$2" && ${FLEX_SUCCESS};;
unmount) umount "$2" && ${FLEX_SUCCESS};;
${cases}
*) ${FLEX_UNKNOWN};;`;

describe.skipIf(mustSkip("expansion", [...missingForMounts(), ...missingForLoopDevices()]))("a flexVolume", () => {
  let place: PrivateMounts;
  let patches: unknown[];
  /** Size of the PersistentVolume; its claim has 16Mi. */
  let size: string;
  let status: object;
  const running: Subscription[] = [];
  beforeEach(() => {
    [place, patches, size, status] = [privateMounts(), [], "16Mi", {}];
  });
  afterEach(() => {
    for (const each of running.splice(0)) each.unsubscribe();
    place.close();
  });
  const objects: Readonly<Record<string, () => object>> = {
    persistentvolumeclaims: () => ({
      metadata: { namespace: "default", name: "c", uid: "c1", resourceVersion: "7" },
      spec: { volumeName: "pv1", resources: { requests: { storage: size } } },
      status: { phase: "Bound", capacity: { storage: "16Mi" }, ...status },
    }),
    persistentvolumes: () => ({
      metadata: { name: "pv1" },
      spec: {
        claimRef: { uid: "c1" },
        flexVolume: { driver: "acme/disk", fsType: "ext4" },
        capacity: { storage: size },
      },
    }),
  };
  const api = {
    get: (resource: string) => of(objects[resource]?.()),
    patch: (resource: string, _ref: object, { body }: { readonly body: unknown }) => {
      patches.push(body);
      return of(objects[resource]?.());
    },
  } as unknown as VolumesDeps["claims"];
  const live = () => liveWithFlex({ mounts: place, running, api, syncPeriodMs: 100 });
  /** The controller has called expandvolume. */
  const grow = (): void => {
    size = "32Mi";
    status = {
      allocatedResourceStatuses: { storage: "NodeResizePending" },
      allocatedResources: { storage: "32Mi" },
    };
  };
  const expansions = () => flexCalls(place).filter((call) => call.startsWith("expand"));
  const path = "pods/a/volumes/acme~disk/pv1";

  it("is expanded by its driver while containers use it, and its claim follows", async () => {
    installFlex(place, mounting(`expandfs) ${FLEX_SUCCESS};;`));
    const { start, events, drivers } = await live();
    await waitFor("the driver", () => drivers.value.size > 0);
    const pod = start("a");
    await pod.until("mounted");
    grow();
    await waitFor("the claim", () => patches.length === 2);
    expect(expansions()).toEqual([`expandfs OPTIONS  ${path} ${32 * MEGABYTE} ${16 * MEGABYTE}`]);
    expect(patches[1]).toMatchObject({ status: { capacity: { storage: "32Mi" }, allocatedResourceStatuses: null } });
    expect(events[0]?.trim()).toBe('MountVolume.NodeExpandVolume succeeded for volume "pv1"');
  });

  it("says in its claim that its driver has failed", async () => {
    installFlex(place, mounting(`expandfs) echo '{"status":"Failure","message":"too large"}'; exit 1;;`));
    const { start, drivers } = await live();
    await waitFor("the driver", () => drivers.value.size > 0);
    await start("a").until("mounted");
    grow();
    await waitFor("the claim", () => patches.length >= 2);
    expect(patches[1]).toMatchObject({
      status: {
        conditions: [
          {
            type: "NodeResizeError",
            message: "failed to expand pvc with expandfs command failed, status: Failure, reason: too large",
          },
        ],
      },
    });
  });

  it("is left alone where its driver has no file system to expand", async () => {
    installFlex(place, mounting(`expandfs) ${FLEX_SUCCESS};;`, false));
    const { start, drivers } = await live();
    await waitFor("the driver", () => drivers.value.size > 0);
    grow();
    const pod = start("a");
    await pod.until("mounted");
    pod.end();
    await pod.gone();
    expect([expansions(), patches]).toEqual([[], []]);
  });

  describe.skipIf(!mayGrowMounted())("on a device", () => {
    let disk: LoopDevice;
    beforeEach(() => {
      disk = loopDevice(16);
      execFileSync("mkfs.ext4", ["-q", disk.device]);
    });
    afterEach(() => {
      for (const each of running.splice(0)) each.unsubscribe();
      place.close();
      disk.detach();
      // The hook of the outer suite closes one too.
      place = privateMounts();
    });

    it("is expanded by the tools of the node where its driver has no such call", async () => {
      installFlex(
        place,
        `init) ${FLEX_SUCCESS};;
attach) echo '{"status":"Success","device":"${disk.device}"}';;
mountdevice) mount ${disk.device} "$2" && ${FLEX_SUCCESS};;
*) ${FLEX_UNKNOWN};;`,
      );
      const { start, drivers } = await live();
      await waitFor("the driver", () => drivers.value.size > 0);
      const pod = start("a");
      await pod.until("mounted");
      const blocks = () => statfsSync(join(place.place, path)).blocks;
      const before = blocks();
      disk.grow(32);
      grow();
      await waitFor("the claim", () => patches.length === 2);
      expect(expansions()).toEqual([`expandfs OPTIONS ${disk.device} ${path} ${32 * MEGABYTE} ${16 * MEGABYTE}`]);
      expect(blocks()).toBeGreaterThan(before * 1.5);
      pod.end();
      await pod.gone();
    });
  });
});
