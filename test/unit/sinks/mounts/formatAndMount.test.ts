/** Disks that are formatted, checked and mounted, with tools that only write down how they are called. */
import { describe, expect, it } from "vitest";
import { isKubeletError, type KubeletError, kubeletError, toKubeletError } from "../../../../src/core/errors.ts";
import { formatAndMount } from "../../../../src/sinks/mounts/formatAndMount.ts";
import type { Tool, ToolEnd } from "../../../../src/sinks/mounts/mountTool.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const DEVICE = "/dev/sdb";
const TARGET = "/mnt/pv1";
const EXT4: ToolEnd = { status: 0, said: "DEVNAME=/dev/sdb\nTYPE=ext4\n" };
const BLANK: ToolEnd = { status: 2, said: "" };
const CLEAN: ToolEnd = { status: 0, said: "clean" };

/** How each tool ends, by its program; without an entry, well and silent. */
type Endings = Readonly<Record<string, ToolEnd | KubeletError>>;

/** Mounts the disk, and returns the commands, the log and the error's code and text. */
async function mounting(endings: Endings, options: readonly string[] = [], fsType = "ext4") {
  const { log, lines } = recordingTelemetry();
  const commands: string[] = [];
  const tools: Tool[] = [];
  const run = (tool: Tool): Promise<ToolEnd> => {
    commands.push([tool.program, ...tool.args].join(" "));
    tools.push(tool);
    const end = endings[tool.program] ?? { status: 0, said: "" };
    return isKubeletError(end) ? Promise.reject(end) : Promise.resolve(end);
  };
  const error = await formatAndMount({ source: DEVICE, target: TARGET, fsType, options }, run, log).then(
    () => undefined,
    (thrown: unknown) => {
      const { code, message } = toKubeletError(thrown);
      return `${code}: ${message}`;
    },
  );
  const programs = commands.map((command) => command.split(" ")[0]);
  return { commands, programs, tools, error, lines };
}

describe("a disk with a file system", () => {
  it("is checked before it is mounted", async () => {
    const { commands, tools, error, lines } = await mounting({ blkid: EXT4, fsck: CLEAN }, ["noatime", "discard"]);
    expect(commands).toEqual([
      "blkid -p -s TYPE -s PTTYPE -o export /dev/sdb",
      "fsck -a /dev/sdb",
      "mount -t ext4 -o noatime,discard -- /dev/sdb /mnt/pv1",
    ]);
    expect(tools.map(({ what, statuses }) => [what, statuses])).toEqual([
      ["look at /dev/sdb", [0, 2]],
      ["check /dev/sdb", "all"],
      ["mount /dev/sdb at /mnt/pv1", undefined],
    ]);
    expect([error, lines]).toEqual([undefined, []]);
  });

  it("is not checked when it is mounted read-only", async () => {
    const { programs, error } = await mounting({ blkid: EXT4 }, ["ro"]);
    expect([programs, error]).toEqual([["blkid", "mount"], undefined]);
  });

  it("is mounted without options when none are given", async () => {
    const { commands } = await mounting({ blkid: EXT4 });
    expect(commands.at(-1)).toBe("mount -t ext4 -- /dev/sdb /mnt/pv1");
  });

  it("of another type is left to mount(8), with a warning", async () => {
    const { programs, lines } = await mounting({ blkid: EXT4 }, [], "xfs");
    expect(programs).toEqual(["blkid", "fsck", "mount"]);
    expect(lines).toEqual([
      {
        level: "warn",
        message: "A disk has another format than it is mounted as",
        fields: { device: DEVICE, found: "ext4" },
      },
    ]);
  });

  it.each([1, 3, 8])("is mounted after a check that ended with %i, which is logged", async (status) => {
    const { programs, lines } = await mounting({ blkid: EXT4, fsck: { status, said: "fixed" } });
    expect(programs).toEqual(["blkid", "fsck", "mount"]);
    expect(lines).toEqual([
      { level: "info", message: "Checked a disk", fields: { device: DEVICE, status, said: "fixed" } },
    ]);
  });

  it("is not mounted with damage that fsck cannot repair", async () => {
    const { programs, error } = await mounting({ blkid: EXT4, fsck: { status: 4, said: "bad block" } });
    expect([programs, error]).toEqual([
      ["blkid", "fsck"],
      "Io: 'fsck' found errors on device /dev/sdb but could not correct them: bad block",
    ]);
  });

  it("is mounted without a check when fsck cannot run", async () => {
    const missing = kubeletError("NotFound", "cannot run fsck: ENOENT");
    const { programs, error, lines } = await mounting({ blkid: EXT4, fsck: missing });
    expect([programs, error]).toEqual([["blkid", "fsck", "mount"], undefined]);
    expect(lines).toEqual([
      {
        level: "warn",
        message: "Mounting a disk that could not be checked",
        fields: { device: DEVICE, error: missing },
      },
    ]);
  });
});

describe("a blank disk", () => {
  it("is formatted before it is mounted", async () => {
    const { commands, tools, error } = await mounting({ blkid: BLANK }, ["noatime"]);
    expect(commands.slice(1)).toEqual(["mkfs.ext4 -F -m0 /dev/sdb", "mount -t ext4 -o noatime -- /dev/sdb /mnt/pv1"]);
    expect([tools[1]?.what, error]).toEqual(["format /dev/sdb", undefined]);
  });

  it("is refused read-only", async () => {
    const { programs, error } = await mounting({ blkid: BLANK }, ["ro"]);
    expect([programs, error]).toEqual([
      ["blkid"],
      "InvalidArgument: cannot mount unformatted disk /dev/sdb as we are manipulating it in read-only mode",
    ]);
  });

  it("is not mounted when the format fails", async () => {
    const { programs, error } = await mounting(
      { blkid: BLANK, "mkfs.xfs": kubeletError("Io", "no space") },
      ["a", "b"],
      "xfs",
    );
    expect([programs, error]).toEqual([
      ["blkid", "mkfs.xfs"],
      'Io: format of disk "/dev/sdb" failed: type:("xfs") target:("/mnt/pv1") options:("a,b") no space',
    ]);
  });
});

it("a disk is not touched when blkid answers nonsense", async () => {
  const { programs, error } = await mounting({ blkid: { status: 0, said: "what=is=this" } });
  expect([programs, error]).toEqual([
    ["blkid"],
    "Io: failed to get disk format of disk /dev/sdb: blkid returns invalid output: what=is=this",
  ]);
});

it.each([
  ["the disk", DEVICE],
  ["the mount point", TARGET],
])("a mount that fails because %s is missing says NotFound", async (_what, missing) => {
  const commands: string[] = [];
  const run = ({ program, args }: Tool): Promise<ToolEnd> => {
    commands.push(program);
    if (program === "blkid") return Promise.resolve(EXT4);
    if (program === "mount") return Promise.reject(kubeletError("Io", "mount failed"));
    const isMissing = program === "stat" && args.at(-1) === missing;
    return Promise.resolve(isMissing ? { status: 1, said: "stat: No such file or directory" } : CLEAN);
  };
  const request = { source: DEVICE, target: TARGET, fsType: "ext4", options: [] };
  const mounted = formatAndMount(request, run, recordingTelemetry().log);
  await expect(mounted).rejects.toMatchObject({ code: "NotFound", message: "mount failed" });
});
