/** CSI volumes as block devices over a real socket, on real loop devices: mapped, kept, shared, found again, released. */
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { lastValueFrom } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { podUid } from "../../src/core/ids.ts";
import { sha256 } from "../../src/core/sha256.ts";
import { type CsiDriverOptions, startCsiDriver, type TestCsiDriver } from "../support/csiDriver.ts";
import { CSI_NAME, type CsiNode, type CsiNodeOptions, startCsiNode } from "../support/csiNode.ts";
import { type LoopDevice, loopDevice, loopedPaths, missingForLoopDevices } from "../support/loopDevice.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { missingForMounts, type PrivateMounts, privateMounts } from "../support/privateMounts.ts";
import { waitFor } from "../support/waitFor.ts";

const AS_DEVICE = { volumeDevices: [{ name: "data", devicePath: "/dev/data" }] };
const OBJECTS = {
  persistentvolumeclaims: { metadata: { uid: "c1" }, spec: { volumeName: "pv1" }, status: { phase: "Bound" } },
  persistentvolumes: {
    metadata: { name: "pv1" },
    spec: {
      ...{ claimRef: { uid: "c1" }, accessModes: ["ReadWriteMany"], volumeMode: "Block", mountOptions: ["x"] },
      csi: { driver: CSI_NAME, volumeHandle: "h1", volumeAttributes: { a: "b" } },
    },
  },
};

describe.skipIf(mustSkip("CSI block volumes", [...missingForMounts(), ...missingForLoopDevices()]))(
  "CSI block volumes",
  () => {
    let place: PrivateMounts;
    let disk: LoopDevice;
    let driver: TestCsiDriver;
    let fault: CsiDriverOptions["fault"];
    const lives: CsiNode[] = [];
    beforeEach(async () => {
      [place, disk, fault] = [privateMounts(), loopDevice(), undefined];
      driver = await startCsiDriver(join(place.place, "csi.sock"), {
        device: () => disk.device,
        fault: (call) => fault?.(call),
      });
    });
    afterEach(async () => {
      for (const each of lives.splice(0)) each.kill();
      driver.stop();
      try {
        await driver.release();
      } finally {
        place.close();
        disk.detach();
      }
    });

    const live = async (options: Partial<CsiNodeOptions> = {}): Promise<CsiNode> => {
      const life = await startCsiNode({ place, objects: OBJECTS, ...options });
      lives.push(life);
      return life;
    };
    const rpcs = () => driver.calls.map(({ rpc }) => rpc);
    const at = (...names: readonly string[]): string => join(place.place, ...names);
    const DEVICES = "plugins/kubernetes.io/csi/volumeDevices";
    const mapped = (uid: string): string => at(DEVICES, "pv1/dev", uid);
    const link = (uid: string): string => at("pods", uid, "volumeDevices/kubernetes.io~csi/pv1");
    /** Mounts, loop devices, directories of volumes and links of pods. */
    const left = async (): Promise<readonly string[]> => {
      const table = (await fs.readFile("/proc/self/mountinfo", "utf8"))
        .split("\n")
        .map((line) => line.split(" ")[4] ?? "");
      const below = [...table, ...loopedPaths()].filter((path) => path.startsWith(`${place.place}/`));
      const dirs = await Promise.all(
        ["", "staging", "publish"].map((dir) => fs.readdir(at(DEVICES, dir)).catch(() => [])),
      );
      return [...below, ...dirs.flat().filter((name) => name !== "staging" && name !== "publish")];
    };

    it("of a driver that never registers leave nothing to give back to it", async () => {
      const { start, events } = await live({ capabilities: undefined });
      const pod = start("a", AS_DEVICE);
      await waitFor("the event", () => events.length > 0);
      expect(events[0]).toMatchObject({
        reason: "FailedMapVolume",
        message: expect.stringContaining(`MapVolume.SetUpDevice failed for volume "pv1"`) as unknown,
      });
      pod.end();
      await pod.gone();
      expect(await left()).toEqual([]);
    });

    it("are staged once, published for each pod, kept in use, and unstaged after the last", async () => {
      const { start, events } = await live();
      const [a, b] = [start("a", AS_DEVICE), start("b", AS_DEVICE)];
      await a.until("mounted");
      await b.until("mounted");
      expect(rpcs()).toEqual(["nodeStageVolume", "nodePublishVolume", "nodePublishVolume"]);
      const staging = at(DEVICES, "staging/pv1");
      const [staged, published] = driver.calls.map(({ request }) => request);
      expect(staged).toMatchObject({ stagingTargetPath: staging, volumeCapability: { block: {} } });
      expect(published).toMatchObject({
        ...{ stagingTargetPath: staging, targetPath: at(DEVICES, "publish/pv1/a"), volumeContext: { a: "b" } },
        volumeCapability: { block: {}, accessMode: { mode: 5 } },
      });
      expect(await fs.readFile(at(DEVICES, "pv1/data/vol_data.json"), "utf8")).toBe(
        `{"attachmentID":"csi-${sha256(`h1${CSI_NAME}n1`)}","driverName":"${CSI_NAME}","nodeName":"n1","specVolID":"pv1","volumeHandle":"h1"}\n`,
      );
      expect(await fs.readlink(link("a"))).toBe(at(DEVICES, "publish/pv1/a"));
      expect((await fs.stat(link("a"))).rdev).toBe((await fs.stat(disk.device)).rdev);
      expect((await fs.stat(mapped("b"))).rdev).toBe((await fs.stat(disk.device)).rdev);
      expect(
        loopedPaths()
          .filter((path) => path.startsWith(`${place.place}/`))
          .sort(),
      ).toEqual([mapped("a"), mapped("b")]);
      expect(events.slice(0, 2).map(({ type, reason, message }) => [type, reason, message])).toEqual([
        ["Normal", "SuccessfulMountVolume", expect.stringContaining(`globalMapPath "${at(DEVICES, "pv1/dev")}"`)],
        [
          "Normal",
          "SuccessfulMountVolume",
          expect.stringMatching(/^MapVolume.MapPodDevice succeeded for volume "pv1" volumeMapPath ".*~csi"$/),
        ],
      ]);
      a.end();
      await a.gone();
      expect(rpcs().slice(3)).toEqual(["nodeUnpublishVolume"]);
      expect(loopedPaths()).toContain(mapped("b"));
      b.end();
      await b.gone();
      expect(rpcs().slice(4)).toEqual(["nodeUnpublishVolume", "nodeUnstageVolume"]);
      expect(await left()).toEqual([]);
    });

    it("are found again after kill -9: mapped once, nothing left", async () => {
      const first = await live();
      await first.start("a", AS_DEVICE).until("mounted");
      const before = await left();
      first.kill();
      const second = await live();
      await second.start("a", AS_DEVICE).until("mounted");
      expect(await left()).toEqual(before);
      second.kill();
      const third = await live();
      await lastValueFrom(third.volumes.unpublish(podUid("a")), { defaultValue: undefined });
      await third.unstaged();
      expect([rpcs().slice(-2), await left()]).toEqual([["nodeUnpublishVolume", "nodeUnstageVolume"], []]);
    });

    it("are released whatever a kubelet had done before it was killed between its steps", async () => {
      fault = ({ rpc }) => (rpc === "nodePublishVolume" ? "hang" : undefined);
      const first = await live();
      first.start("a", AS_DEVICE);
      await waitFor("publish", () => rpcs().includes("nodePublishVolume"));
      first.kill();
      const second = await live();
      await lastValueFrom(second.volumes.unpublish(podUid("a")), { defaultValue: undefined });
      await second.unstaged();
      expect([rpcs().slice(-2), await left()]).toEqual([["nodeUnpublishVolume", "nodeUnstageVolume"], []]);
    });

    it.each([
      ["nodeStageVolume", "SetUpDevice", 3, []],
      ["nodePublishVolume", "MapPodDevice", 14, ["nodeUnpublishVolume", "nodeUnstageVolume"]],
    ])("tell of a failed %s, and release what may be there", async (rpc, step, code, ended) => {
      fault = (call) => (call.rpc === rpc ? { code, details: "no such disk" } : undefined);
      const { start, events } = await live();
      const pod = start("a", AS_DEVICE);
      await waitFor("the event", () => events[0]);
      expect([events[0]?.type, events[0]?.reason, events[0]?.message]).toEqual([
        ...["Warning", "FailedMapVolume"],
        expect.stringMatching(new RegExp(`^MapVolume.${step} failed for volume "pv1" : .*no such disk`)),
      ]);
      const called = rpcs().length;
      pod.end();
      await pod.gone();
      expect(
        rpcs()
          .slice(called)
          .filter((name) => name !== rpc),
      ).toEqual(ended);
      expect(await left()).toEqual([]);
    });

    it("are not forgotten when their driver only says that it has unpublished one, also while another pod has the volume", async () => {
      let lies = 1;
      fault = ({ rpc }) => (rpc === "nodeUnpublishVolume" && lies-- > 0 ? {} : undefined);
      const { start } = await live();
      const [a, b] = [start("a", AS_DEVICE), start("b", AS_DEVICE)];
      await a.until("mounted");
      await b.until("mounted");
      a.end();
      await a.gone();
      expect(rpcs().slice(3)).toEqual(["nodeUnpublishVolume", "nodeUnpublishVolume"]);
      b.end();
      await b.gone();
      expect(await left()).toEqual([]);
    });

    it("are refused as mounts", async () => {
      const { start, events } = await live();
      start("a", { volumeMounts: [{ name: "data", mountPath: "/data" }] });
      await waitFor("the event", () => events[0]);
      expect(events[0]?.message).toBe(
        "Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: volume data has volumeMode Block, but is specified in volumeMounts",
      );
      expect(rpcs()).toEqual([]);
    });
  },
);
