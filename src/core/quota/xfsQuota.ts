/**
 * Arguments and output of xfs_quota(8) for projects on xfs and ext4. Limits that cannot be reached make the file system
 * count without rejecting writes. Upstream: quota_common_linux_impl.go of pkg/volume/util/fsquota.
 */
import type { MountEntry } from "../mount/mountInfo.ts";

/** File systems with project quotas that upstream supports. */
const SUPPORTED: Readonly<Record<string, { readonly maxBytes: bigint }>> = {
  xfs: { maxBytes: (1n << 63n) - 1n },
  ext4: { maxBytes: (1n << 58n) - 1n },
};

/** Returns whether the file system type supports project quotas. */
export const mayCount = ({ fsType }: Pick<MountEntry, "fsType">): boolean => Object.hasOwn(SUPPORTED, fsType);

/** Returns one line of a mount table for xfs_quota, which then ignores all other mounts, since one of them may hang. */
export const mountLine = ({ source, mountPoint, fsType, superOptions }: MountEntry): string =>
  `${[source, mountPoint, fsType, superOptions.join(",")].map(escaped).join(" ")} 0 0\n`;

const escaped = (field: string): string =>
  field.replace(/[ \t\n\\]/g, (found) => `\\${(found.codePointAt(0) ?? 0).toString(8).padStart(3, "0")}`);

/** Returns the arguments that run `commands` on the file system mounted there, with numeric IDs. */
export const quotaArgs = (
  mountsFile: string,
  mountPoint: string,
  ...commands: readonly string[]
): readonly string[] => [
  ...["-t", mountsFile, "-P/dev/null", "-D/dev/null", "-x", "-f"],
  ...commands.flatMap((command) => ["-c", command]),
  mountPoint,
];

/** Command that prints whether project quotas are counted. */
export const STATE = "state -p";

/** Returns whether accounting is on, from the output of `STATE`. */
export const isCounting = (said: string): boolean => said.includes("Accounting: ON");

/** Returns the commands that assign the directory to this project, with an unreachable limit. */
export const assignCommands = (directory: string, id: number, { fsType }: Pick<MountEntry, "fsType">) => {
  const { maxBytes = 0n } = SUPPORTED[fsType] ?? {};
  return [`limit -p bhard=${maxBytes} bsoft=${maxBytes} ${id}`, `project -s -p ${directory} ${id}`] as const;
};

/** Returns the command that removes a project's limit; once its files are gone, nothing is left of the project. */
export const clearCommand = (id: number): string => `limit -p bhard=0 bsoft=0 ${id}`;

/** Returns the commands that print the project's usage: KiB, then the number of files. */
export const usageCommands = (id: number) => [`quota -p -N -n -v -b ${id}`, `quota -p -N -n -v -i ${id}`] as const;

/** Parses their output; xfs prints nothing for a project without files. undefined for other output. */
export function usageOf(said: string) {
  const lines = said.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) return { bytes: 0n, inodes: 0n };
  const figures = lines.map((line) => /^\S*\s+(\d+)/.exec(line)?.[1]);
  const [kib, inodes] = figures;
  if (figures.length !== 2 || kib === undefined || inodes === undefined) return undefined;
  return { bytes: BigInt(kib) * 1024n, inodes: BigInt(inodes) };
}
