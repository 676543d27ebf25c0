/** What is on a block device, and what makes a file system there. Counterpart: SafeFormatAndMount of k8s.io/mount-utils. */

/** Exit status of blkid(8) when it finds nothing: the device is blank. */
export const BLKID_NOTHING = 2;

/** Asks blkid(8) for file system and partition table, past its cache. */
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

/** Of a device with partitions: no file system to mount, and nothing to format over. */
const PARTITIONS = "unknown data, probably partitions";

/** The file system by what blkid(8) exports as `KEY=value` lines; undefined when it says something else. */
export function formatOf(said: string): string | undefined {
  const lines = said.split("\n").filter((line) => line !== "");
  const pairs = lines.map((line) => line.split("="));
  if (pairs.some(({ length }) => length !== 2)) return undefined;
  const found = new Map(pairs.map(([key = "", value = ""]) => [key, value]));
  return found.get("PTTYPE") ? PARTITIONS : (found.get("TYPE") ?? "");
}

/** Makes a file system without asking; of ext3 and ext4 without the blocks kept back for root. */
export function mkfsArgs(fsType: string, device: string): readonly string[] {
  if (fsType === "ext4" || fsType === "ext3") return ["-F", "-m0", device];
  return fsType === "xfs" ? ["-f", device] : [device];
}

/** Exit status of fsck(8) with damage left. Higher ones say that it could not look, which keeps nobody from mounting. */
export const FSCK_DAMAGED = 4;
