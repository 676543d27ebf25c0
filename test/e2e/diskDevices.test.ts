/** Block volumes on iSCSI and Fibre Channel disks with real mounts; a loop device stands for the disk. */
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { EMPTY, lastValueFrom, NEVER, of, type Subscription } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { HostDisks } from "../../src/ports/hostDisks.ts";
import { liveOnDisks, mountsBelow } from "../support/diskNode.ts";
import { fakeIscsi } from "../support/fakeIscsi.ts";
import { type LoopDevice, loopDevice, loopedPaths, missingForLoopDevices } from "../support/loopDevice.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { containerOf } from "../support/pods.ts";
import { missingForMounts, type PrivateMounts, privateMounts } from "../support/privateMounts.ts";
import { waitFor } from "../support/waitFor.ts";

const IQN = "iqn.2003-01.org.example:disks";
const A = "10.0.0.1:3260";

/** How a kind is attached, and where upstream has its devices. */
interface Kind {
  readonly plugin: string;
  readonly inUse: string;
  /** Below the directory of the plugin's devices. */
  readonly directory: string;
  readonly persistentVolume: object;
}

const ISCSI: Kind = {
  plugin: "iscsi",
  inUse: `kubernetes.io/iscsi/10.0.0.1:${IQN}:0`,
  directory: `iface-default/${A}-${IQN}-lun-0`,
  persistentVolume: { iscsi: { targetPortal: "10.0.0.1", iqn: IQN, lun: 0, iscsiInterface: "default" } },
};
const FC: Kind = {
  ...{ plugin: "fc", inUse: "kubernetes.io/fc/[5006]:0", directory: "5006-lun-0" },
  persistentVolume: { fc: { targetWWNs: ["5006"], lun: 0 } },
};

const spec = {
  volumes: [{ name: "data", persistentVolumeClaim: { claimName: "claim" } }],
  containers: [containerOf({ volumeDevices: [{ name: "data", devicePath: "/dev/data" }] })],
};

const missing = [...missingForMounts(), ...missingForLoopDevices()];

describe.skipIf(mustSkip("devices on disks of the network", missing)).each([ISCSI, FC])(
  "block volumes on $plugin disks",
  (kind) => {
    let place: PrivateMounts;
    let disk: LoopDevice;
    let removed: string[] = [];
    let initiator: ReturnType<typeof fakeIscsi>;
    /** Whether attaching a loop device dies half-way. */
    let isStuck = false;
    const running: Subscription[] = [];
    beforeEach(() => {
      place = privateMounts();
      disk = loopDevice();
      [removed, isStuck] = [[], false];
      initiator = fakeIscsi({ iqn: IQN, portals: { [A]: disk.device } });
    });
    afterEach(async () => {
      for (const each of running.splice(0)) each.unsubscribe();
      for (const path of looped()) await lastValueFrom(place.mounts.detachLoops(path), { defaultValue: undefined });
      place.close();
      disk.detach();
    });

    const fcDisks = (): HostDisks => ({
      links: () => of(["fc-0x5006-lun-0"]),
      deviceOf: (path) => of(path.startsWith("/dev/disk") ? disk.device : path),
      multipathOf: () => of(undefined),
      membersOf: () => of([]),
      ...{ rescan: () => EMPTY, flush: () => EMPTY, removeMultipath: () => EMPTY },
      remove: (device) => {
        removed.push(device);
        return EMPTY;
      },
    });
    const live = async (isAttachedByController = false) => {
      const disks = kind === ISCSI ? initiator.disks : fcDisks();
      const mounts = { ...place.mounts, ...(isStuck && { attachLoop: () => NEVER }) };
      const node = await liveOnDisks({
        ...{ rootDir: place.place, mounts, disks, initiator: initiator.port, isAttachedByController, running },
        persistentVolume: { volumeMode: "Block", ...kind.persistentVolume },
      });
      return { ...node, start: (uid: string) => node.start(uid, spec) };
    };
    const devices = () => `${place.place}/plugins/kubernetes.io/${kind.plugin}/volumeDevices`;
    const mapDir = () => `${devices()}/${kind.directory}`;
    const link = (uid: string) => `${place.place}/pods/${uid}/volumeDevices/kubernetes.io~${kind.plugin}/pv1`;
    const looped = () => loopedPaths().filter((path) => path.startsWith(place.place));
    /** The device that the bound one is. */
    const boundAs = (uid: string): boolean => statSync(`${mapDir()}/${uid}`).rdev === statSync(disk.device).rdev;
    const isDetached = (): boolean =>
      kind === ISCSI
        ? initiator.sessions.size === 0 && initiator.calls.includes(`remove ${disk.device}`)
        : removed.length === 1;
    const nothingIsLeft = () => {
      expect([mountsBelow(place.place), looped(), existsSync(mapDir()), isDetached()]).toEqual([0, [], false, true]);
      const pods = readdirSync(`${place.place}/pods`, { recursive: true, encoding: "utf8" });
      expect(pods.filter((path) => path.endsWith("pv1"))).toEqual([]);
    };

    it("are at upstream's places, each in use by a loop device, and detached after the last pod", async () => {
      const { start, inUse, events } = await live();
      const [a, b] = [start("a"), start("b")];
      await a.until("mounted");
      await b.until("mounted");
      expect([readlinkSync(link("a")), boundAs("a"), boundAs("b"), inUse.value]).toEqual([
        disk.device,
        true,
        true,
        [kind.inUse],
      ]);
      expect(looped().sort()).toEqual([`${mapDir()}/a`, `${mapDir()}/b`]);
      expect(events[0]).toBe(`MapVolume.MapPodDevice succeeded for volume "pv1" globalMapPath "${mapDir()}"`);
      if (kind === ISCSI) expect(readFileSync(`${mapDir()}/iscsi.json`, "utf8")).toContain(`"Iqn":"${IQN}"`);
      a.end();
      await a.gone();
      expect([mountsBelow(place.place), looped(), isDetached(), inUse.value]).toEqual([
        1,
        [`${mapDir()}/b`],
        false,
        [kind.inUse],
      ]);
      b.end();
      await b.gone();
      nothingIsLeft();
      expect(inUse.value).toEqual([]);
    });

    it("wait until the controller has attached them", async () => {
      const { start, node, inUse } = await live(true);
      const pod = start("a");
      await waitFor("the wait", () => pod.waits() !== undefined);
      expect([mountsBelow(place.place), inUse.value]).toEqual([0, [kind.inUse]]);
      const volumesAttached = [{ name: kind.inUse, devicePath: "" }];
      node.set({ metadata: { name: "n1" }, status: { volumesInUse: [kind.inUse], volumesAttached } });
      await pod.until("mounted");
    });

    it.each([
      ["after a kill", false],
      ["after a kill between bind and loop device", true],
    ])("are found again %s", async (_when, isCutShort) => {
      isStuck = isCutShort;
      const before = (await live()).start("a");
      await waitFor("the device", () => existsSync(link("a")) && mountsBelow(place.place) === 1);
      if (!isCutShort) await before.until("mounted");
      before.kill();
      isStuck = false;
      const second = await live();
      expect(second.inUse.value).toEqual([kind.inUse]);
      const again = second.start("a");
      await again.until("mounted");
      expect([mountsBelow(place.place), looped()]).toEqual([1, [`${mapDir()}/a`]]);
      again.kill();
      const third = await live();
      await third.giveBack("a");
      nothingIsLeft();
      expect(third.inUse.value).toEqual([]);
    });

    it("of an upstream kubelet are found by their mount, and those of its other pods stay", async () => {
      const [own, other] = [`${mapDir()}/a`, `${mapDir()}/other`];
      mkdirSync(mapDir(), { recursive: true });
      mkdirSync(dirname(link("a")), { recursive: true });
      symlinkSync(disk.device, link("a"));
      for (const target of [own, other]) {
        writeFileSync(target, "");
        await lastValueFrom(place.mounts.bind({ source: disk.device, target }), { defaultValue: undefined });
      }
      await lastValueFrom(place.mounts.attachLoop(own), { defaultValue: undefined });
      const { inUse, giveBack } = await live();
      expect(inUse.value).toContain(kind.inUse);
      await giveBack("a");
      expect([looped(), existsSync(own), lstatSync(other).isBlockDevice(), isDetached()]).toEqual([
        [],
        false,
        true,
        false,
      ]);
    });
  },
);
