import { describe, expect, it } from "vitest";
import { parseMountInfo } from "../../../../src/core/mount/mountInfo.ts";
import { type MountStep, mountStep } from "../../../../src/core/volume/mountStep.ts";
import type { FileSystem, VolumeLayout } from "../../../../src/core/volume/volumeLayout.ts";

type Wanted = Pick<VolumeLayout, "fileSystem" | "bound">;

const PATH = "/p";
const tmpfs: FileSystem = { source: "tmpfs", fsType: "tmpfs", options: ["size=65536", "noswap"] };
const nfs: FileSystem = { source: "server:/x", fsType: "nfs", options: ["ro"] };
const pages: FileSystem = { source: "nodev", fsType: "hugetlbfs", options: ["pagesize=2Mi"] };
const device = { source: "/disk", fsType: "ext4", options: ["defaults"], mountPoint: "/mounts/v" };
const bound = (readOnly: boolean) => ({ source: "/disk", readOnly, options: [], podsDir: "/pods", device });
const found = (line: string) => parseMountInfo(`41 22 0:33 ${line}`)[0];

describe("mountStep", () => {
  it.each<[string, Wanted, string | undefined, MountStep]>([
    ["nothing is to be mounted", {}, undefined, { kind: "nothing" }],
    ["a foreign mount is at a plain directory", {}, "/ /p rw - tmpfs tmpfs rw", { kind: "nothing" }],
    ["nothing is there yet", { fileSystem: tmpfs }, undefined, { kind: "mount", fileSystem: tmpfs }],
    ["it is there", { fileSystem: tmpfs }, "/ /p rw - tmpfs tmpfs rw,size=64k", { kind: "nothing" }],
    ["its size is another", { fileSystem: tmpfs }, "/ /p rw - tmpfs tmpfs rw,size=8k", { kind: "nothing" }],
    ["the server speaks a newer version", { fileSystem: nfs }, "/ /p ro - nfs4 server:/x ro", { kind: "nothing" }],
    ["pages are as asked", { fileSystem: pages }, "/ /p rw - hugetlbfs nodev rw,pagesize=2M", { kind: "nothing" }],
    [
      "pages have their size in KiB",
      { fileSystem: pages },
      "/ /p rw - hugetlbfs nodev rw,pagesize=2048k",
      { kind: "nothing" },
    ],
    [
      "pages have their size in bytes",
      { fileSystem: pages },
      "/ /p rw - hugetlbfs nodev rw,pagesize=2097152",
      { kind: "nothing" },
    ],
    [
      "pages have an unknown size",
      { fileSystem: pages },
      "/ /p rw - hugetlbfs nodev rw,pagesize=all",
      { kind: "nothing" },
    ],
    ["nothing is bound yet", { bound: bound(true) }, undefined, { kind: "bind", bound: bound(true) }],
    ["it is bound read-only", { bound: bound(true) }, "/disk /p ro - ext4 /dev/sda1 rw", { kind: "nothing" }],
    [
      "it is bound, writable still",
      { bound: bound(true) },
      "/disk /p rw - ext4 /dev/sda1 rw",
      { kind: "makeReadOnly" },
    ],
    ["it may be written", { bound: bound(false) }, "/disk /p rw - ext4 /dev/sda1 rw", { kind: "nothing" }],
    ["its source cannot be", { bound: bound(false) }, "/disk /p ro - ext4 /dev/sda1 ro", { kind: "nothing" }],
  ])("when %s", (_when, wanted, line, step) => {
    const entry = line === undefined ? undefined : found(line);
    expect(mountStep({ path: PATH, ...wanted }, entry)).toEqual({ ok: true, value: step });
  });

  it.each<[string, FileSystem, string, string]>([
    [
      "another file system",
      tmpfs,
      "/ /p rw - ext4 /dev/sdb rw",
      "cannot mount tmpfs at /p: ext4 of /dev/sdb is mounted there",
    ],
    [
      "NFS in place of memory",
      tmpfs,
      "/ /p rw - nfs4 server:/x rw",
      "cannot mount tmpfs at /p: nfs4 of server:/x is mounted there",
    ],
    [
      "memory in place of NFS",
      nfs,
      "/ /p rw - tmpfs tmpfs rw",
      "cannot mount nfs at /p: tmpfs of tmpfs is mounted there",
    ],
    [
      "pages of a size in GiB",
      pages,
      "/ /p rw - hugetlbfs nodev rw,pagesize=1G",
      "cannot mount hugetlbfs at /p: its page size is 1073741824 bytes",
    ],
    [
      "pages of a size in TiB",
      pages,
      "/ /p rw - hugetlbfs nodev rw,pagesize=1T",
      "cannot mount hugetlbfs at /p: its page size is 1099511627776 bytes",
    ],
    [
      "pages of another size",
      pages,
      "/ /p rw - hugetlbfs nodev rw,pagesize=1024M",
      "cannot mount hugetlbfs at /p: its page size is 1073741824 bytes",
    ],
  ])("keeps %s", (_what, fileSystem, line, message) => {
    expect(mountStep({ path: PATH, fileSystem }, found(line))).toMatchObject({
      ok: false,
      error: { code: "Conflict", message },
    });
  });
});
