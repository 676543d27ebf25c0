/** Volumes on disks of the network with real mounts; a tmpfs stands for the file system of the disk. */
import { existsSync } from "node:fs";
import { EMPTY, NEVER, of, type Subscription, throwError } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { kubeletError } from "../../src/core/errors.ts";
import type { HostDisks } from "../../src/ports/hostDisks.ts";
import { liveOnDisks, mountsBelow } from "../support/diskNode.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { containerOf } from "../support/pods.ts";
import { missingForMounts, type PrivateMounts, privateMounts } from "../support/privateMounts.ts";
import { waitFor } from "../support/waitFor.ts";

const IN_USE = "kubernetes.io/fc/[5006]:0";

describe.skipIf(mustSkip("volumes on disks", missingForMounts()))("volumes on disks of the network", () => {
  let place: PrivateMounts;
  let removed: string[] = [];
  let links: readonly string[] = [];
  /** Whether mounting a disk dies half-way. */
  let isStuck = false;
  /** Whether a device cannot be removed. */
  let isBusy = false;
  const running: Subscription[] = [];
  beforeEach(() => {
    place = privateMounts();
    [removed, isStuck, isBusy] = [[], false, false];
    links = ["fc-0x5006-lun-0"];
  });
  afterEach(() => {
    for (const each of running.splice(0)) each.unsubscribe();
    place.close();
  });
  const left = () => mountsBelow(place.place);

  const live = async (isAttachedByController = false) => {
    const disks: HostDisks = {
      links: () => of(links),
      deviceOf: (path) => of(path.startsWith("/dev/disk") ? "/dev/sdz" : path),
      multipathOf: () => of(undefined),
      membersOf: () => of([]),
      rescan: () => EMPTY,
      flush: () => EMPTY,
      removeMultipath: () => EMPTY,
      remove: (device) => {
        if (isBusy) return throwError(() => kubeletError("Io", "device busy"));
        removed.push(device);
        return EMPTY;
      },
    };
    const mounts = {
      ...place.mounts,
      formatAndMount: ({ source, target }: { readonly source: string; readonly target: string }) =>
        isStuck ? NEVER : place.mounts.mount({ source, target, fsType: "tmpfs", options: [] }),
    };
    const node = await liveOnDisks({ rootDir: place.place, mounts, disks, isAttachedByController, running });
    const spec = {
      volumes: [{ name: "data", fc: { targetWWNs: ["5006"], lun: 0 } }],
      containers: [containerOf({ volumeMounts: [{ name: "data", mountPath: "/data" }] })],
    };
    return { ...node, start: (uid: string) => node.start(uid, spec) };
  };

  it("are mounted once for the node, bound for each pod, and removed after the last", async () => {
    const { start, inUse } = await live();
    const [a, b] = [start("a"), start("b")];
    await a.until("mounted");
    await b.until("mounted");
    expect([left(), inUse.value, removed]).toEqual([3, [IN_USE], []]);
    a.end();
    await a.gone();
    expect([left(), removed]).toEqual([2, []]);
    b.end();
    await b.gone();
    expect([left(), inUse.value, removed]).toEqual([0, [], ["/dev/sdz"]]);
  });

  it("report a disk that does not exist, and find it later", async () => {
    links = [];
    const { start, events } = await live();
    const pod = start("a");
    await waitFor("the event", () => events.length > 0);
    expect(events[0]).toBe('MountVolume.WaitForAttach failed for volume "data" : no fc disk found');
    links = ["pci-0000:05:00.0-fc-0x5006-lun-0"];
    await pod.until("mounted");
    pod.end();
    await pod.gone();
    expect(left()).toBe(0);
  });

  it("wait until the controller has attached them, and are found again after kill -9", async () => {
    const first = await live(true);
    const before = first.start("a");
    await waitFor("the wait", () => before.waits() !== undefined);
    expect([left(), first.inUse.value]).toEqual([0, [IN_USE]]);
    const volumesAttached = [{ name: IN_USE, devicePath: "" }];
    first.node.set({ metadata: { name: "n1" }, status: { volumesInUse: [IN_USE], volumesAttached } });
    await before.until("mounted");
    before.kill();
    const second = await live(true);
    expect(second.inUse.value).toEqual([IN_USE]);
    await second.giveBack("a");
    expect([left(), second.inUse.value, removed]).toEqual([0, [], ["/dev/sdz"]]);
  });

  it("let their pod go although the disk stays, and are removed by the next kubelet", async () => {
    isBusy = true;
    const first = await live();
    const pod = first.start("a");
    await pod.until("mounted");
    pod.end();
    await pod.until("unmounted");
    const path = `${place.place}/plugins/kubernetes.io/fc/5006-lun-0`;
    expect(await first.unstage()).toEqual([{ volume: path, path, reason: expect.stringContaining("device busy") }]);
    expect([first.inUse.value, removed]).toEqual([[IN_USE], []]);
    isBusy = false;
    const second = await live();
    expect(second.inUse.value).toEqual([IN_USE]);
    expect(await second.unstage()).toEqual([]);
    expect([second.inUse.value, removed, existsSync(path), left()]).toEqual([[], ["/dev/sdz"], false, 0]);
  });

  it("are taken over by a pod that comes while the disk stays", async () => {
    isBusy = true;
    const { start, inUse, unstage } = await live();
    const a = start("a");
    await a.until("mounted");
    a.end();
    await a.until("unmounted");
    const b = start("b");
    await b.until("mounted");
    isBusy = false;
    expect([await unstage(), inUse.value, left()]).toEqual([[], [IN_USE], 2]);
    b.end();
    await b.gone();
    expect([inUse.value, left()]).toEqual([[], 0]);
  });

  it("are removed after kill -9 between scan and mount", async () => {
    isStuck = true;
    const first = await live();
    const before = first.start("a");
    await waitFor("the record", () => existsSync(`${place.place}/plugins/kubernetes.io/fc/5006-lun-0`));
    before.kill();
    const second = await live();
    expect([second.inUse.value, left()]).toEqual([[IN_USE], 0]);
    await second.giveBack("a");
    expect([second.inUse.value, removed]).toEqual([[], ["/dev/sdz"]]);
  });
});
