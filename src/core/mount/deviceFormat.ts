/**
 * Arguments and outputs of the tools that probe and format block devices. Upstream: SafeFormatAndMount of
 * k8s.io/mount-utils.
 */

/** Exit code of blkid(8) when it finds nothing: the device is blank. */
export const BLKID_NOTHING = 2;

/** Returns the arguments with which blkid(8) probes file system and partition table, bypassing its cache. */
export const blkidArgs = (device: string): readonly string[] => [
  "-p",
  "-s",
  "TYPE",
  "-s",
  "PTTYPE",
  "-o",
  "export",
  device,
];

/** Format of a device with partitions: it cannot be mounted and must not be formatted. */
const PARTITIONS = "unknown data, probably partitions";

/** Returns the file system type in blkid(8)'s `KEY=value` output; undefined for other output. */
export function formatOf(said: string): string | undefined {
  const lines = said.split("\n").filter((line) => line !== "");
  const pairs = lines.map((line) => line.split("="));
  if (pairs.some(({ length }) => length !== 2)) return undefined;
  const found = new Map(pairs.map(([key = "", value = ""]) => [key, value]));
  return found.get("PTTYPE") ? PARTITIONS : (found.get("TYPE") ?? "");
}

/** Returns the arguments of mkfs without confirmation; ext3 and ext4 reserve no blocks for root. */
export function mkfsArgs(fsType: string, device: string): readonly string[] {
  if (fsType === "ext4" || fsType === "ext3") return ["-F", "-m0", device];
  return fsType === "xfs" ? ["-f", device] : [device];
}

/**
 * Exit code of fsck(8) for unrepaired damage. Higher codes mean that it could not run, which does not prevent mounting.
 */
export const FSCK_DAMAGED = 4;

/** Returns the tool that grows a mounted file system to the size of its device; undefined: it has none. */
export function growTool(
  format: string,
  device: string,
  mountPoint: string,
): { readonly program: string; readonly args: readonly string[] } | undefined {
  switch (format) {
    case "ext3":
    case "ext4":
      return { program: "resize2fs", args: [device] };
    case "xfs":
      return { program: "xfs_growfs", args: ["-d", mountPoint] };
    case "btrfs":
      return { program: "btrfs", args: ["filesystem", "resize", "max", mountPoint] };
    default:
      return undefined;
  }
}
