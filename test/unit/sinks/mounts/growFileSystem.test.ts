/** File systems that grow, with tools that only write down how they are called. */
import { describe, expect, it, vi } from "vitest";
import { isKubeletError, type KubeletError, kubeletError, toKubeletError } from "../../../../src/core/errors.ts";
import { growFileSystem } from "../../../../src/sinks/mounts/growFileSystem.ts";
import { runTool, type Tool, type ToolEnd } from "../../../../src/sinks/mounts/mountTool.ts";

const REQUEST = { device: "/dev/sdb", mountPoint: "/mnt/pv1" };
const BLANK: ToolEnd = { status: 2, said: "" };
const formatted = (type: string): ToolEnd => ({ status: 0, said: `DEVNAME=/dev/sdb\nTYPE=${type}\n` });

/** Grows the file system; returns the commands after that of blkid, and the error. */
async function growing(format: ToolEnd | KubeletError, grow?: (tool: Tool) => Promise<ToolEnd>) {
  const commands: string[] = [];
  const run = (tool: Tool): Promise<ToolEnd> => {
    if (tool.program === "blkid") return isKubeletError(format) ? Promise.reject(format) : Promise.resolve(format);
    commands.push([tool.program, ...tool.args].join(" "));
    return grow?.(tool) ?? Promise.resolve({ status: 0, said: "" });
  };
  const error = await growFileSystem(REQUEST, run).then(
    () => undefined,
    (thrown: unknown) => {
      const { code, message } = toKubeletError(thrown);
      return `${code}: ${message}`;
    },
  );
  return { commands, error };
}

describe("a mounted file system", () => {
  it.each([
    ["xfs", "xfs_growfs -d /mnt/pv1"],
    ["ext3", "resize2fs /dev/sdb"],
    ["ext4", "resize2fs /dev/sdb"],
    ["btrfs", "btrfs filesystem resize max /mnt/pv1"],
  ])("of the format %s grows with %s", async (format, command) => {
    expect(await growing(formatted(format))).toEqual({ commands: [command], error: undefined });
  });

  it("of another format is refused", async () => {
    expect(await growing(formatted("vfat"))).toEqual({
      commands: [],
      error:
        "InvalidArgument: ResizeFS.Resize - resize of format vfat is not supported for device /dev/sdb mounted at /mnt/pv1",
    });
  });

  it("on a blank device is left alone", async () => {
    expect(await growing(BLANK)).toEqual({ commands: [], error: undefined });
  });

  it("whose tool is not installed is refused by the name of the tool", async () => {
    vi.stubEnv("PATH", "/nowhere");
    try {
      const signal = new AbortController().signal;
      const { error } = await growing(formatted("xfs"), (tool) => runTool({ ...tool, signal }));
      expect(error).toBe("NotFound: resize of device /dev/sdb failed: xfs_growfs is not installed on this node");
    } finally {
      vi.unstubAllEnvs();
    }
    const { error } = await growing(kubeletError("NotFound", "cannot run blkid: ENOENT"));
    expect(error).toBe(
      "NotFound: ResizeFS.Resize - error checking format for device /dev/sdb: blkid is not installed on this node",
    );
  });

  it("whose tool fails has the reason of the tool", async () => {
    const failed = kubeletError("Io", "exit status 1: xfs_growfs: /mnt/pv1 is not a mounted XFS filesystem");
    const { error } = await growing(formatted("xfs"), () => Promise.reject(failed));
    expect(error).toBe(
      "Io: resize of device /dev/sdb failed: exit status 1: xfs_growfs: /mnt/pv1 is not a mounted XFS filesystem",
    );
  });
});
