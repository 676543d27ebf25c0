/** Reads the kernel's table of file locks, `/proc/locks`. */

/** Identifies a file in the table: the end of `MAJOR:MINOR:INODE`. */
export interface LockedFile {
  /** Process that holds the lock. */
  readonly holder: number;
  readonly inode: number;
}

/**
 * Returns the processes that wait for a lock of flock(2), in order. The row of the holder gives the name of the file:
 * on some file systems its device differs from that of stat(2).
 *
 *     1: FLOCK  ADVISORY  WRITE 4777 fe:00:2212379 0 EOF
 *     1: -> FLOCK  ADVISORY  WRITE 4801 fe:00:2212379 0 EOF
 */
export function waitersFor(table: string, { holder, inode }: LockedFile): readonly number[] {
  const rows = table.split("\n").flatMap((line) => {
    const words = line.trim().split(/\s+/);
    const waits = words[1] === "->";
    const [kind, , , pid, file] = words.slice(waits ? 2 : 1);
    return kind === "FLOCK" && file !== undefined ? [{ waits, pid: Number(pid), file }] : [];
  });
  const held = rows.find((row) => !row.waits && row.pid === holder && row.file.endsWith(`:${inode}`));
  return rows.filter(({ waits, file }) => waits && file === held?.file).map(({ pid }) => pid);
}
