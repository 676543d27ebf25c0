/** Permissions of a volume that is given to a group. Counterpart: pkg/volume/volume_linux.go. */

/** What is decided from of a file. */
export interface OwnedEntry {
  readonly isDirectory: boolean;
  /** Permission bits, setuid, setgid and sticky included. */
  readonly mode: number;
  readonly gid: number;
}

const READ_WRITE = 0o660;
const READ = 0o440;
const SEARCH = 0o110;
const SETGID = 0o2000;
const SET_ID_BITS = 0o6000;

/** Whether the volume has to be gone through under `OnRootMismatch`: its root is not as it would be made. */
export function rootMismatches(root: OwnedEntry, fsGroup: number, readOnly: boolean): boolean {
  const needed = (readOnly ? READ : READ_WRITE) | SEARCH | SETGID;
  return !root.isDirectory || root.gid !== fsGroup || (root.mode & needed) !== needed;
}

/** What to change of one entry that is no link; undefined parts stay. */
export interface OwnershipChange {
  readonly gid: number | undefined;
  readonly mode: number | undefined;
}

/** The group, and the mode with what the group needs; chown(2) takes setuid and setgid from files, so they are given back. */
export function ownershipChange(entry: OwnedEntry, fsGroup: number, readOnly: boolean): OwnershipChange {
  const added = (readOnly ? READ : READ_WRITE) | (entry.isDirectory ? SEARCH | SETGID : 0);
  const mode = entry.mode | added;
  const gid = entry.gid === fsGroup ? undefined : fsGroup;
  const losesBits = gid !== undefined && (entry.mode & SET_ID_BITS) !== 0;
  return { gid, mode: mode !== entry.mode || losesBits ? mode : undefined };
}
