/**
 * `--lock-file` and `--exit-on-lock-contention`: one kubelet at a time, which can make way for the next. Upstream: run
 * in cmd/kubelet/app.
 */
import { concat, defer, map, type Observable, of, switchMap, takeUntil, takeWhile, tap } from "rxjs";
import type { KubeletFlags } from "../cli/kubeletFlags.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/telemetry.ts";
import { fileLock } from "../sinks/fileLock.ts";
import { lockContention } from "../sources/lockContention.ts";

/**
 * Subscribes to the node once this process holds the lock, and completes, when asked for, as soon as another process
 * waits for it. Without a lock file returns the node itself. Errors: those of `fileLock` and of the node.
 */
export function whileLocked<T>(
  { lockFile: path, exitOnLockContention }: Pick<KubeletFlags, "lockFile" | "exitOnLockContention">,
  node$: Observable<T>,
  log: Logger,
  clock: Clock,
): Observable<T> {
  if (path === "") return node$;
  return defer(() => {
    log.info("Acquiring file lock", { path });
    return fileLock(path).pipe(
      switchMap((lock) => {
        const outputs$ = node$.pipe(map((value) => ({ value })));
        if (!exitOnLockContention) return outputs$;
        const contention$ = lockContention(path, lock, clock).pipe(
          tap((why) => log.info("Lock file contention: the kubelet exits", { path, ...why })),
        );
        // The lock itself never completes.
        return concat(outputs$.pipe(takeUntil(contention$)), of(undefined));
      }),
      takeWhile((output) => output !== undefined),
      map(({ value }) => value),
    );
  });
}
