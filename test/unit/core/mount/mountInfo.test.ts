import { describe, expect, it } from "vitest";
import {
  hasFileLabels,
  isRemote,
  mountAt,
  seenBelow,
  mountedAtOrBelow,
  mountHolding,
  parseMountInfo,
} from "../../../../src/core/mount/mountInfo.ts";

const TABLE = [
  String.raw`22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro`,
  String.raw`41 22 0:33 / /var/lib/kubelet/pods/u/volumes/kubernetes.io~empty-dir/m rw,relatime shared:7 master:2 - tmpfs tmpfs rw,size=65536k,inode64`,
  String.raw`42 22 8:1 /data/with\040blank\011tab /mnt/with\040blank\012line\134slash\043hash ro,nosuid unbindable - ext4 /dev/sda1 rw`,
  String.raw`43 22 0:40 / /mnt/nfs rw propagate_from:3 master:9 - nfs4 server:/export/a\040b rw,vers=4.2,addr=192.0.2.7`,
  String.raw`44 22 0:4 net:[4026532281] /run/netns/x rw - nsfs nsfs rw`,
  String.raw`45 22 0:50 / /mnt/empty rw - fuse  rw`,
  "",
];

describe("the mount table", () => {
  const entries = parseMountInfo(TABLE.join("\n"));

  it("is parsed only at the mount points that are wanted, after their escapes", () => {
    const wanted = ["/mnt/with blank\nline\\slash#hash", "/mnt/nfs"];
    const found = parseMountInfo(TABLE.join("\n"), (mountPoint) => wanted.includes(mountPoint));
    expect(found).toEqual(entries.filter(({ id }) => id === 42 || id === 43));
  });

  it("is parsed field by field, with optional fields, octal escapes and an empty source", () => {
    expect(entries).toEqual([
      {
        id: 22,
        parentId: 1,
        device: "8:1",
        root: "/",
        mountPoint: "/",
        options: ["rw", "relatime"],
        propagation: { sharedWith: 1, isUnbindable: false },
        fsType: "ext4",
        source: "/dev/sda1",
        superOptions: ["rw", "errors=remount-ro"],
      },
      {
        id: 41,
        parentId: 22,
        device: "0:33",
        root: "/",
        mountPoint: "/var/lib/kubelet/pods/u/volumes/kubernetes.io~empty-dir/m",
        options: ["rw", "relatime"],
        propagation: { sharedWith: 7, receivesFrom: 2, isUnbindable: false },
        fsType: "tmpfs",
        source: "tmpfs",
        superOptions: ["rw", "size=65536k", "inode64"],
      },
      {
        id: 42,
        parentId: 22,
        device: "8:1",
        root: "/data/with blank\ttab",
        mountPoint: "/mnt/with blank\nline\\slash#hash",
        options: ["ro", "nosuid"],
        propagation: { isUnbindable: true },
        fsType: "ext4",
        source: "/dev/sda1",
        superOptions: ["rw"],
      },
      {
        id: 43,
        parentId: 22,
        device: "0:40",
        root: "/",
        mountPoint: "/mnt/nfs",
        options: ["rw"],
        propagation: { receivesFrom: 9, isUnbindable: false },
        fsType: "nfs4",
        source: "server:/export/a b",
        superOptions: ["rw", "vers=4.2", "addr=192.0.2.7"],
      },
      {
        id: 44,
        parentId: 22,
        device: "0:4",
        root: "net:[4026532281]",
        mountPoint: "/run/netns/x",
        options: ["rw"],
        propagation: { isUnbindable: false },
        fsType: "nsfs",
        source: "nsfs",
        superOptions: ["rw"],
      },
      {
        id: 45,
        parentId: 22,
        device: "0:50",
        root: "/",
        mountPoint: "/mnt/empty",
        options: ["rw"],
        propagation: { isUnbindable: false },
        fsType: "fuse",
        source: "",
        superOptions: ["rw"],
      },
    ]);
  });

  it("skips truncated lines", () => {
    expect(parseMountInfo("22 1 8:1 / / rw,relatime shared:1\n22 1")).toEqual([]);
  });

  it.each([
    ["/mnt/nfs", 43],
    ["/mnt/nf", undefined],
    ["/var/lib/kubelet", 41],
    ["/", 22],
    ["/run/netns/x/y", undefined],
  ])("finds the mount at or below %s", (path, id) => {
    expect(mountedAtOrBelow(entries, path)?.id).toBe(id);
  });

  it.each([
    ["/mnt/nfs", 43, true],
    ["/mnt/nfs/below/it", 43, true],
    ["/mnt/empty/x", 45, true],
    ["/mnt/nfsx", 22, false],
    ["/", 22, false],
    ["/var/lib/kubelet/pods/u/volumes/kubernetes.io~empty-dir/m/file", 41, false],
  ])("finds the mount that holds %s, and whether it is remote", (path, id, remote) => {
    const found = mountHolding(entries, path);
    expect([found?.id, found && isRemote(found)]).toEqual([id, remote]);
  });

  it("returns the topmost of several mounts at one path", () => {
    const [root] = entries;
    const over = root === undefined ? [] : [root, { ...root, id: 99 }];
    expect([mountAt(over, "/")?.id, mountAt(entries, "/mnt")?.id]).toEqual([99, undefined]);
  });
});

describe("the mount table of a node with pods", () => {
  const POD = "/var/lib/kubelet/pods/u";
  const entries = parseMountInfo(
    [
      "1 1 8:1 / / rw - ext4 /dev/sda1 rw",
      // The root of a container: layers with colons and escapes in the options of the file system.
      String.raw`50 1 0:60 / /run/containerd/c/rootfs rw,relatime - overlay overlay rw,lowerdir=/l/2:/l/a\040b,upperdir=/u,workdir=/w`,
      // A disk, bound into a volume, of which a part is bound again, of which a part is bound into the container.
      "60 1 8:17 / /mnt/disk rw shared:30 - xfs /dev/sdb1 rw",
      `61 1 8:17 /data ${POD}/volumes/kubernetes.io~local-volume/pv1 rw shared:30 - xfs /dev/sdb1 rw`,
      `62 1 8:17 /data/part ${POD}/volume-subpaths/pv1/main/0 ro shared:30 master:31 - xfs /dev/sdb1 rw`,
      // The bound file was removed since; its name looks like that of a removed file.
      `63 1 8:17 /data/gone//deleted ${POD}/volume-subpaths/pv1/main/1 rw - xfs /dev/sdb1 rw`,
      `64 1 8:1 /etc/a//deleted//deleted ${POD}/etc-hosts rw - ext4 /dev/sda1 rw`,
      // A tmpfs over another, the mount point of the first deleted in another namespace.
      `70 1 0:70 / ${POD}/volumes/kubernetes.io~empty-dir/m rw - tmpfs tmpfs rw,size=8192k`,
      `71 70 0:71 / ${POD}/volumes/kubernetes.io~empty-dir/m rw - tmpfs tmpfs rw,size=4096k,noswap`,
      String.raw`72 1 0:72 / ${POD}/volumes/kubernetes.io~empty-dir/gone\040m//deleted rw - tmpfs tmpfs rw`,
    ].join("\n"),
  );
  const idAt = (path: string) => mountAt(entries, path)?.id;

  it("distinguishes binds of binds by their file system and root", () => {
    const shown = entries
      .filter(({ device }) => device === "8:17")
      .map(({ id, root, options, propagation }) => [id, root, options[0], propagation]);
    expect(shown).toEqual([
      [60, "/", "rw", { sharedWith: 30, isUnbindable: false }],
      [61, "/data", "rw", { sharedWith: 30, isUnbindable: false }],
      [62, "/data/part", "ro", { sharedWith: 30, receivesFrom: 31, isUnbindable: false }],
      [63, "/data/gone//deleted", "rw", { isUnbindable: false }],
    ]);
  });

  it("finds other paths below a directory that show the same directory, but not the path itself", () => {
    const placed = (id: number) => entries.find((entry) => entry.id === id)?.mountPoint ?? "";
    expect(seenBelow(entries, `${placed(60)}/data`, POD)).toEqual([placed(61)]);
    expect(seenBelow(entries, placed(61), "/elsewhere")).toEqual([]);
  });

  it("finds mounts of deleted files at their paths, and none at deleted paths", () => {
    expect([idAt(`${POD}/volume-subpaths/pv1/main/1`), idAt(`${POD}/etc-hosts`)]).toEqual([63, 64]);
    expect(idAt(`${POD}/volumes/kubernetes.io~empty-dir/gone m`)).toBeUndefined();
    expect(mountedAtOrBelow(entries, `${POD}/volumes/kubernetes.io~empty-dir/gone m`)?.id).toBe(72);
  });

  it("returns the upper of two mounts, and the layers of a container", () => {
    expect(idAt(`${POD}/volumes/kubernetes.io~empty-dir/m`)).toBe(71);
    expect(mountAt(entries, "/run/containerd/c/rootfs")?.superOptions).toEqual([
      "rw",
      "lowerdir=/l/2:/l/a b",
      "upperdir=/u",
      "workdir=/w",
    ]);
  });

  it("finds all mounts of a pod below its directory", () => {
    const below = entries.filter(({ mountPoint }) => mountPoint.startsWith(`${POD}/`)).map(({ id }) => id);
    expect([below, mountedAtOrBelow(entries, POD)?.id]).toEqual([[61, 62, 63, 64, 70, 71, 72], 61]);
  });
});

describe("hasFileLabels", () => {
  const entries = parseMountInfo(`21 1 254:1 / / rw,relatime - ext4 /dev/vda1 rw,seclabel
22 21 0:30 / /k/nfs rw - nfs srv:/x rw
23 21 0:31 / /k/one rw - ext4 /dev/sdb rw,context="system_u:object_r:container_file_t:s0:c1,c2"
24 21 0:32 / /k/memory rw,seclabel - tmpfs tmpfs rw`);
  it.each([
    ["has them on a file system with labels", "/k/data", true],
    ["has them with the option at the mount itself", "/k/memory/a", true],
    ["has none on a file system without labels", "/k/nfs/a", false],
    ["has none on a file system with one label", "/k/one", false],
  ])("%s", (_, path, expected) => expect(hasFileLabels(entries, path)).toBe(expected));

  it("has none without a mount", () => expect(hasFileLabels([], "/k")).toBe(false));
});
