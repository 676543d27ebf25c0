/**
 * Notices that another process wants a lock that this one holds. Upstream: watchForLockfileContention.
 * Differs from upstream, which ends at any open of the file: Node.js does not report opens, so the kernel's table of
 * locks is read once a second. Programs that only look at the file thus end no kubelet, and one that tries the lock
 * without waiting is not noticed.
 */
import { readFile, stat } from "node:fs/promises";
import { EMPTY, filter, type Observable, take } from "rxjs";
import { errnoOf } from "../core/ioError.ts";
import { type LockedFile, waitersFor } from "../core/node/fileLocks.ts";
import { deadline } from "../operators/deadline.ts";
import { fromCall } from "../operators/fromCall.ts";
import { orElse } from "../operators/orElse.ts";
import { pollAfter } from "../operators/pollAfter.ts";
import type { Clock } from "../ports/clock.ts";

const POLL_MS = 1_000;
const READ_MS = 5_000;
const TABLE = "/proc/locks";

/** Why the lock has to be given up. */
export type Contention =
  | { readonly kind: "waiting"; readonly processes: readonly number[] }
  /** The path names no file or another one: a second kubelet would not find the lock. */
  | { readonly kind: "replaced" };

/**
 * Emits once, within about a second, then completes. Never errors: a failed look is repeated after a second. Bound: one
 * look at a time, 5 s each.
 */
export const lockContention = (path: string, lock: LockedFile, clock: Clock): Observable<Contention> =>
  pollAfter(clock, POLL_MS, () =>
    fromCall(() => look(path, lock)).pipe(
      deadline(READ_MS, clock),
      orElse(() => EMPTY),
    ),
  ).pipe(
    filter((found) => found !== undefined),
    take(1),
  );

async function look(path: string, lock: LockedFile): Promise<Contention | undefined> {
  const processes = waitersFor(await readFile(TABLE, "utf8"), lock);
  if (processes.length > 0) return { kind: "waiting", processes };
  return (await inodeAt(path)) === lock.inode ? undefined : { kind: "replaced" };
}

const inodeAt = (path: string): Promise<number | undefined> =>
  stat(path).then(
    ({ ino }) => ino,
    (thrown: unknown) => {
      if (errnoOf(thrown) === "ENOENT") return undefined;
      throw thrown;
    },
  );
