/**
 * SELinux labels of disks of the network; a tmpfs stands for the file system of the disk, and its label is
 * remembered aside. The device is that of no other test, since all share the mount table.
 */
import { EMPTY, map, of, type Subscription } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { HostDisks } from "../../src/ports/hostDisks.ts";
import type { MountRequest, Mounts } from "../../src/ports/mounts.ts";
import { liveOnDisks, mountsBelow } from "../support/diskNode.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { containerOf } from "../support/pods.ts";
import { missingForMounts, type PrivateMounts, privateMounts } from "../support/privateMounts.ts";
import { waitFor } from "../support/waitFor.ts";

const FILES = "system_u:object_r:container_file_t";
const DISKS: HostDisks = {
  links: () => of(["fc-0x5006-lun-0"]),
  deviceOf: (path) => of(path.startsWith("/dev/disk") ? "/dev/sdlabel" : path),
  multipathOf: () => of(undefined),
  membersOf: () => of([]),
  rescan: () => EMPTY,
  flush: () => EMPTY,
  removeMultipath: () => EMPTY,
  remove: () => EMPTY,
};

describe.skipIf(mustSkip("volumes on disks", missingForMounts()))(
  "a disk of the network on a node with SELinux",
  () => {
    let place: PrivateMounts;
    /** Options of each mount of the disk. */
    let options: (readonly string[])[];
    const running: Subscription[] = [];
    beforeEach(() => {
      place = privateMounts();
      options = [];
    });
    afterEach(() => {
      for (const each of running.splice(0)) each.unsubscribe();
      place.close();
    });

    const live = async (accessMode = "ReadWriteMany", allModes = true) => {
      const labelOf = (target: string) => (target.includes("/fc/") ? (options.at(-1) ?? []) : []);
      const mounts: Mounts = {
        ...place.mounts,
        formatAndMount: (request: MountRequest) => {
          options.push(request.options);
          // This kernel has no SELinux: it does not know the option.
          return place.mounts.mount({ ...request, fsType: "tmpfs", options: [] });
        },
        list: () =>
          place.mounts
            .list()
            .pipe(
              map((entries) =>
                entries.map((each) => ({ ...each, superOptions: [...each.superOptions, ...labelOf(each.mountPoint)] })),
              ),
            ),
      };
      const fc = { targetWWNs: ["5006"], lun: 0, fsType: "tmpfs" };
      const node = await liveOnDisks({
        ...{ rootDir: place.place, mounts, disks: DISKS, running },
        persistentVolume: { accessModes: [accessMode], mountOptions: ["noatime"], fc },
        selinux: { fileLabel: `${FILES}:s0`, allModes },
      });
      const start = (uid: string, level: string) =>
        node.start(uid, {
          volumes: [{ name: "data", persistentVolumeClaim: { claimName: "claim" } }],
          containers: [containerOf({ volumeMounts: [{ name: "data", mountPath: "/data" }] })],
          securityContext: { seLinuxOptions: { level } },
        });
      return { ...node, start };
    };
    const option = (level: string) => `context="${FILES}:${level}"`;
    const conflict = `conflicting SELinux labels of volume pv1: "${FILES}:s0:c1" and "${FILES}:s0:c2"`;

    it.each<[string, boolean, readonly string[]]>([
      ["ReadWriteOncePod", false, [option("s0:c1"), "noatime"]],
      ["ReadWriteOnce", false, ["noatime"]],
      ["ReadWriteOnce", true, [option("s0:c1"), "noatime"]],
    ])("is mounted by its access mode %s, and the gate: %s", async (accessMode, allModes, expected) => {
      const { start } = await live(accessMode, allModes);
      const pod = start("a", "s0:c1");
      await pod.until("mounted");
      expect(options).toEqual([expected]);
      pod.end();
      await pod.gone();
      expect(mountsBelow(place.place)).toBe(0);
    });

    it("is unmounted for a pod with another label, and mounted again with that", async () => {
      const { start, events } = await live();
      const [a, c] = [start("a", "s0:c1"), start("c", "s0:c1")];
      for (const pod of [a, c]) await pod.until("mounted");
      const b = start("b", "s0:c2");
      await waitFor("the event", () => events.length > 0);
      expect(events[0]).toContain(conflict);
      a.end();
      await a.gone();
      expect(options).toHaveLength(1);
      c.end();
      await b.until("mounted");
      expect(options).toEqual([
        [option("s0:c1"), "noatime"],
        [option("s0:c2"), "noatime"],
      ]);
      b.end();
      await b.gone();
      expect(mountsBelow(place.place)).toBe(0);
    });

    it("stays with the pod that has it over kill -9, by the options of its mount", async () => {
      const first = await live();
      const before = first.start("a", "s0:c1");
      await before.until("mounted");
      before.kill();
      const second = await live();
      const b = second.start("b", "s0:c2");
      await waitFor("the event", () => second.events.length > 0);
      expect(second.events[0]).toContain(conflict);
      const a = second.start("a", "s0:c1");
      await a.until("mounted");
      expect(options).toHaveLength(1);
      a.end();
      await b.until("mounted");
      expect(options.at(-1)).toEqual([option("s0:c2"), "noatime"]);
    });
  },
);
