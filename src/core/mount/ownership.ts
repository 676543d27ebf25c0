/**
 * Decides the group and mode of each file of a volume with an fsGroup, and whether `OnRootMismatch` skips the volume.
 * `volumeLayout.ts` decides which volumes have a change policy. Upstream: pkg/volume/volume_linux.go.
 */

/** The attributes of a file that decisions depend on. */
export interface OwnedEntry {
  readonly isDirectory: boolean;
  /** Permission bits, including setuid, setgid and sticky. */
  readonly mode: number;
  readonly gid: number;
}

const READ_WRITE = 0o660;
const READ = 0o440;
const SEARCH = 0o110;
const SETGID = 0o2000;
const SET_ID_BITS = 0o6000;

/** Returns whether a volume with `OnRootMismatch` must be changed: its root lacks the group, or bits of the mode. */
export function rootMismatches(root: OwnedEntry, fsGroup: number, readOnly: boolean): boolean {
  const needed = (readOnly ? READ : READ_WRITE) | SEARCH | SETGID;
  return !root.isDirectory || root.gid !== fsGroup || (root.mode & needed) !== needed;
}

/** Changes of one entry that is not a link; undefined members stay unchanged. */
export interface OwnershipChange {
  readonly gid: number | undefined;
  readonly mode: number | undefined;
}

/**
 * Returns the changes that give the group its access. Restores setuid and setgid, which chown(2) removes from files.
 */
export function ownershipChange(entry: OwnedEntry, fsGroup: number, readOnly: boolean): OwnershipChange {
  const added = (readOnly ? READ : READ_WRITE) | (entry.isDirectory ? SEARCH | SETGID : 0);
  const mode = entry.mode | added;
  const gid = entry.gid === fsGroup ? undefined : fsGroup;
  const losesBits = gid !== undefined && (entry.mode & SET_ID_BITS) !== 0;
  return { gid, mode: mode !== entry.mode || losesBits ? mode : undefined };
}
