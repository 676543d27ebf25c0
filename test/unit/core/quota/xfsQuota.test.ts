/** Outputs are of xfs_quota 6.13 on Linux 6.12. */
import { describe, expect, it } from "vitest";
import { parseMountInfo } from "../../../../src/core/mount/mountInfo.ts";
import {
  assignCommands,
  isCounting,
  mayCount,
  mountLine,
  quotaArgs,
  usageOf,
} from "../../../../src/core/quota/xfsQuota.ts";

const [ext4, xfs, tmpfs] = parseMountInfo(
  [
    "283 29 254:16 / /var/my\\040pods rw,relatime - ext4 /dev/vdb rw,prjquota",
    "292 29 254:32 / /q/xfs rw,relatime - xfs /dev/vdc rw,attr2,prjquota",
    "30 29 0:26 / /tmp rw - tmpfs tmpfs rw",
  ].join("\n"),
);

const STATE = `Project quota state on /q/xfs (/dev/vdc)
  Accounting: ON
  Enforcement: ON
  Inode: #131 (1 blocks, 1 extents)
`;

describe("xfs_quota", () => {
  it("supports only xfs and ext4", () => {
    expect([ext4, xfs, tmpfs].map((mount) => mount && mayCount(mount))).toEqual([true, true, false]);
  });

  it("gets a mount table with one mount", () => {
    expect(ext4 && mountLine(ext4)).toBe("/dev/vdb /var/my\\040pods ext4 rw,prjquota 0 0\n");
    expect(quotaArgs("/t/mounts", "/q/xfs", "state -p")).toEqual([
      ...["-t", "/t/mounts", "-P/dev/null", "-D/dev/null", "-x", "-f"],
      ...["-c", "state -p", "/q/xfs"],
    ]);
  });

  it.each([
    [STATE, true],
    [STATE.replaceAll("ON", "OFF"), false],
    ["", false],
  ])("reports whether the file system counts: %s %s", (said, expected) => {
    expect(isCounting(said)).toBe(expected);
  });

  it.each([
    [ext4, "288230376151711743"],
    [xfs, "9223372036854775807"],
  ])("sets the highest limit of the file system: %j", (mount, limit) => {
    expect(mount && assignCommands("/d", 1_048_577, mount)).toEqual([
      `limit -p bhard=${limit} bsoft=${limit} 1048577`,
      "project -s -p /d 1048577",
    ]);
  });

  it.each([
    [
      "of ext4",
      "/dev/vdb                   312 281474976710655 281474976710655   00 [--------] /q/ext4\n/dev/vdb                     4          0          0   00 [--------] /q/ext4\n",
      { bytes: 312n * 1024n, inodes: 4n },
    ],
    [
      "of an empty project of ext4",
      "/dev/vdb                     0          0          0   00 [--------] /q\n/dev/vdb                     0          0          0   00 [--------] /q\n",
      { bytes: 0n, inodes: 0n },
    ],
    ["of an empty project of xfs", "", { bytes: 0n, inodes: 0n }],
    ["of half an answer", "/dev/vdb                   312          0          0   00 [--------] /q\n", undefined],
    ["of something else", "xfs_quota: cannot find mount point\nfor path\n", undefined],
  ])("reports the usage of a project: %s", (_what, said, expected) => {
    expect(usageOf(said)).toEqual(expected);
  });
});
