/** Local volumes that are block devices, on a loop device: what is on them, who has them, and what becomes of the rest. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { lastValueFrom, of } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { mountAt } from "../../src/core/mount/mountInfo.ts";
import {
  type LoopDevice,
  loopDevice,
  loopedPaths,
  mayGrowMounted,
  missingForLoopDevices,
} from "../support/loopDevice.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { containerOf, podOf } from "../support/pods.ts";
import { missingForMounts, privateMounts, type PrivateMounts } from "../support/privateMounts.ts";
import { type Death, liveOnce, type VolumeLivesOptions } from "../support/volumeLives.ts";
import { realFiles, realVolumeFiles } from "../support/realFiles.ts";

const POD = "kubelet/pods/uid-1/volumes/kubernetes.io~local-volume/pv1";
const OTHER = "kubelet/pods/uid-2/volumes/kubernetes.io~local-volume/pv1";
const DEVICE = "kubelet/plugins/kubernetes.io/local-volume/mounts/pv1";

interface Claimed {
  readonly mountOptions?: readonly string[];
  readonly readOnly?: boolean;
}

const missing = [...missingForMounts(), ...missingForLoopDevices()];
const mayGrow = mayGrowMounted();

/** A master boot record with one Linux partition. */
function partitionTable(): Buffer {
  const sector = Buffer.alloc(512);
  sector.set([0, 0, 2, 0, 0x83, 0, 0, 0, 1, 0, 0, 0, 0, 8, 0, 0], 446);
  sector.set([0x55, 0xaa], 510);
  return sector;
}

describe.skipIf(mustSkip("disks of local volumes", missing))("a local volume that is a block device", () => {
  let on: PrivateMounts;
  let disk: LoopDevice;
  beforeEach(async () => {
    on = privateMounts();
    disk = loopDevice();
    await fs.mkdir(join(on.place, "kubelet"));
  });
  afterEach(() => {
    on.close();
    disk.detach();
  });

  const at = (...names: readonly string[]): string => join(on.place, ...names);
  const apiOf = (mountOptions: readonly string[]): VolumeLivesOptions["api"] => ({
    get: ((resource: string) =>
      of(
        resource === "persistentvolumes"
          ? { metadata: { name: "pv1" }, spec: { claimRef: { uid: "c" }, local: { path: disk.device }, mountOptions } }
          : { metadata: { name: "local", uid: "c" }, spec: { volumeName: "pv1" }, status: { phase: "Bound" } },
      )) as unknown as NonNullable<VolumeLivesOptions["api"]>["get"],
  });
  const live = ({ mountOptions = [], readOnly = false }: Claimed, death?: Death, whenMounted = async () => {}) =>
    liveOnce(
      {
        machine: { files: realFiles(), mounts: on.mounts, volumeFiles: realVolumeFiles() },
        rootDir: at("kubelet"),
        pod: podOf({
          spec: {
            volumes: [{ name: "v", persistentVolumeClaim: { claimName: "local", readOnly } }],
            containers: [containerOf({ volumeMounts: [{ name: "v", mountPath: "/v" }] })],
          },
        }),
        objects: [],
        api: apiOf(mountOptions),
        whenMounted,
      },
      death,
    );
  const optionsAt = async (name: string): Promise<readonly string[] | undefined> =>
    mountAt(await lastValueFrom(on.mounts.list()), at(name))?.options;

  it("is formatted once, and its files stay for the next pod", async () => {
    await live({}, undefined, () => fs.writeFile(at(POD, "precious"), "data"));
    expect([await optionsAt(DEVICE), await fs.readdir(at("kubelet/pods"))]).toEqual([undefined, []]);
    await live({}, undefined, async () => {
      expect(await fs.readFile(at(POD, "precious"), "utf8")).toBe("data");
    });
    expect(await fs.readdir(at(DEVICE, ".."))).toEqual([]);
  });

  describe("with an ext4 file system", () => {
    /** Makes the device larger than its file system, and returns the size before. */
    const outgrown = async (): Promise<number> => {
      const request = { source: disk.device, target: at("kubelet"), fsType: "ext4", options: [] };
      await lastValueFrom(on.mounts.formatAndMount(request), { defaultValue: undefined });
      const { blocks } = await fs.statfs(at("kubelet"));
      disk.grow(32);
      return blocks;
    };
    const grow = () =>
      lastValueFrom(on.mounts.growFileSystem({ device: disk.device, mountPoint: at("kubelet") }), {
        defaultValue: undefined,
      });

    it.runIf(mayGrow)("is as large as its device after both have grown", async () => {
      const before = await outgrown();
      await grow();
      expect((await fs.statfs(at("kubelet"))).blocks).toBeGreaterThan(before * 1.5);
    });

    it.skipIf(mayGrow)("without CAP_SYS_RESOURCE reports that the kernel refuses to grow it", async () => {
      await outgrown();
      await expect(grow()).rejects.toMatchObject({ message: expect.stringContaining("Permission denied") as unknown });
    });
  });

  it("of a format that cannot grow says so", async () => {
    execFileSync("mkswap", [disk.device], { stdio: "ignore" });
    const grown = lastValueFrom(on.mounts.growFileSystem({ device: disk.device, mountPoint: at("kubelet") }));
    await expect(grown).rejects.toMatchObject({
      message: `ResizeFS.Resize - resize of format swap is not supported for device ${disk.device} mounted at ${at("kubelet")}`,
    });
  });

  it("without a format needs no growth", async () => {
    const grown$ = on.mounts.growFileSystem({ device: disk.device, mountPoint: at("kubelet") });
    expect(await lastValueFrom(grown$, { defaultValue: "done" })).not.toBe("");
  });

  it("has one loop device until it is detached", async () => {
    const path = at("kubelet/disk");
    await fs.writeFile(path, Buffer.alloc(2 ** 20));
    const attach = () => lastValueFrom(on.mounts.attachLoop(path), { defaultValue: undefined });
    await attach();
    await attach();
    expect(loopedPaths().filter((each) => each === path)).toEqual([path]);
    for (const _again of [1, 2]) await lastValueFrom(on.mounts.detachLoops(path), { defaultValue: undefined });
    expect(loopedPaths()).not.toContain(path);
    await expect(lastValueFrom(on.mounts.attachLoop(at("none")))).rejects.toMatchObject({ code: "NotFound" });
  });

  it("stays mounted for another pod that has it", async () => {
    await live({}, "mounted");
    await fs.mkdir(at(OTHER), { recursive: true });
    await lastValueFrom(on.mounts.bind({ source: at(DEVICE), target: at(OTHER) }));
    await live({});
    expect(await optionsAt(DEVICE)).toContain("rw");
    await lastValueFrom(on.mounts.unmount(at(OTHER)));
    await live({});
    expect(await optionsAt(DEVICE)).toBeUndefined();
  });

  it("is mounted with the options of its volume, at the pod as well", async () => {
    await live({ mountOptions: ["noatime", "noexec"], readOnly: false }, undefined, async () => {
      for (const place of [DEVICE, POD]) {
        expect(await optionsAt(place)).toEqual(expect.arrayContaining(["rw", "noatime", "noexec"]));
      }
    });
  });

  it("is read-only for a claim that is", async () => {
    execFileSync("mkfs.ext4", ["-q", disk.device]);
    await live({ readOnly: true, mountOptions: ["nosuid"] }, undefined, async () => {
      expect(await optionsAt(POD)).toEqual(expect.arrayContaining(["ro", "nosuid"]));
    });
  });

  it("is repaired before it is mounted, when it can be", async () => {
    execFileSync("mkfs.ext4", ["-q", disk.device]);
    // Mark the file system as not cleanly unmounted, like after a crash.
    execFileSync("debugfs", ["-w", "-R", "set_super_value state 0", disk.device], { stdio: "ignore" });
    await live({}, "mounted");
    const said = execFileSync("dumpe2fs", ["-h", disk.device], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    expect(said).not.toMatch(/Filesystem state: +not clean/);
  });

  it.each<[string, readonly string[], () => void, RegExp]>([
    [
      "blank and read-only",
      ["ro"],
      () => {},
      /^cannot mount unformatted disk \/dev\/loop\d+ as we are manipulating it in read-only mode$/,
    ],
    [
      "full of partitions",
      [],
      () => writeFileSync(disk.device, partitionTable()),
      /^mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t ext4 \/dev\/loop\d+ /,
    ],
  ])("is left as it is when it is %s", async (_what, options, prepare, message) => {
    prepare();
    const before = await fs.readFile(disk.device);
    const request = { source: disk.device, target: at("kubelet"), fsType: "ext4", options };
    const mounted = lastValueFrom(on.mounts.formatAndMount(request));
    await expect(mounted).rejects.toMatchObject({ message: expect.stringMatching(message) as unknown });
    expect((await fs.readFile(disk.device)).equals(before)).toBe(true);
  });
});
