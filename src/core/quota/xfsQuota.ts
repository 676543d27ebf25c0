/**
 * How xfs_quota(8) is asked about projects of xfs and ext4, and what it says. Limits that nobody reaches make it count and
 * refuse nothing. Counterpart: quota_common_linux_impl.go of pkg/volume/util/fsquota.
 */
import type { MountEntry } from "../mount/mountInfo.ts";

/** File systems with project quotas that upstream asks. */
const SUPPORTED: Readonly<Record<string, { readonly maxBytes: bigint }>> = {
  xfs: { maxBytes: (1n << 63n) - 1n },
  ext4: { maxBytes: (1n << 58n) - 1n },
};

/** Whether the file system may have project quotas at all. */
export const mayCount = ({ fsType }: Pick<MountEntry, "fsType">): boolean => Object.hasOwn(SUPPORTED, fsType);

/** One line of a table of mounts as xfs_quota reads it: no other mount is looked at, of which one may hang. */
export const mountLine = ({ source, mountPoint, fsType, superOptions }: MountEntry): string =>
  `${[source, mountPoint, fsType, superOptions.join(",")].map(escaped).join(" ")} 0 0\n`;

const escaped = (field: string): string =>
  field.replace(/[ \t\n\\]/g, (found) => `\\${(found.codePointAt(0) ?? 0).toString(8).padStart(3, "0")}`);

/** Arguments: `commands` on the file system mounted there, ids as numbers alone. */
export const quotaArgs = (
  mountsFile: string,
  mountPoint: string,
  ...commands: readonly string[]
): readonly string[] => [
  ...["-t", mountsFile, "-P/dev/null", "-D/dev/null", "-x", "-f"],
  ...commands.flatMap((command) => ["-c", command]),
  mountPoint,
];

export const STATE = "state -p";

/** Whether it counts, by what `STATE` prints. */
export const isCounting = (said: string): boolean => said.includes("Accounting: ON");

/** Commands that make the directory one of this project, without a limit to be felt. */
export const assignCommands = (directory: string, id: number, { fsType }: Pick<MountEntry, "fsType">) => {
  const { maxBytes = 0n } = SUPPORTED[fsType] ?? {};
  return [`limit -p bhard=${maxBytes} bsoft=${maxBytes} ${id}`, `project -s -p ${directory} ${id}`] as const;
};

/** Takes the limit of a project away, and with it the last trace once its files are gone. */
export const clearCommand = (id: number): string => `limit -p bhard=0 bsoft=0 ${id}`;

/** Commands that print what files of the project take: KiB, then how many there are. */
export const usageCommands = (id: number) => [`quota -p -N -n -v -b ${id}`, `quota -p -N -n -v -i ${id}`] as const;

/** What they print; xfs says nothing of a project without files. Undefined: something else. */
export function usageOf(said: string) {
  const lines = said.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) return { bytes: 0n, inodes: 0n };
  const figures = lines.map((line) => /^\S*\s+(\d+)/.exec(line)?.[1]);
  const [kib, inodes] = figures;
  if (figures.length !== 2 || kib === undefined || inodes === undefined) return undefined;
  return { bytes: BigInt(kib) * 1024n, inodes: BigInt(inodes) };
}
