/** Paths to an iSCSI disk: its links in /dev/disk/by-path, and how many are enough. Upstream: AttachDisk of iscsi_util.go. */
import type { IscsiDisk } from "./iscsiDisk.ts";

/** Paths that are enough for a disk with several portals. */
const ENOUGH_PATHS = 2;
/** Rounds in which missing paths are tried even when there are enough. */
const MIN_ROUNDS = 2;
/** Rounds after which a single path will do. */
const MAX_ROUNDS = 5;

/** Returns the name of the link of a disk at a portal, or the first of several; `names` are sorted. */
export function linkAt(
  names: readonly string[],
  { iqn, lun }: Pick<IscsiDisk, "iqn" | "lun">,
  portal: string,
  transport: string,
): string | undefined {
  // Links have IPv6 addresses without brackets.
  const ends = [portal, portal.replaceAll(/[[\]]/g, "")].map((each) => `ip-${each}-iscsi-${iqn}-lun-${lun}`);
  return names.find((name) =>
    ends.some((end) => (transport === "tcp" ? name === end : name.startsWith("pci-") && name.endsWith(`-${end}`))),
  );
}

/** Decides after a round whether to try missing paths once more. `rounds` counts from one. */
export const afterRound = (rounds: number, found: number, portals: number): "failed" | "enough" | "again" => {
  if (found === 0) return "failed";
  const isEnough = found >= portals || (found >= ENOUGH_PATHS && rounds >= MIN_ROUNDS) || rounds >= MAX_ROUNDS;
  return isEnough ? "enough" : "again";
};
