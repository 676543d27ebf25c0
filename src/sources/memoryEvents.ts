/**
 * Memory events of the kernel by inotify. The kernel reports a change of the counters in `memory.events` of cgroup v2,
 * and since 6.5 a triggered stall threshold of `memory.pressure`, as a modification of the file. Upstream uses an
 * eventfd of cgroup v1, which Node.js can neither create nor read; `memory.pressure` is also on a machine with v1 when
 * it mounts the v2 hierarchy beside it. Bounds: two watches, one event per EVENT_EVERY_MS; the kernel itself reports at
 * most 100 changes per second of `memory.events`, and one stall per window.
 */
import { closeSync, existsSync, openSync, watch, writeSync } from "node:fs";
import { join } from "node:path";
import { catchError, concat, defer, EMPTY, map, merge, NEVER, Observable, takeUntil, tap, throttleTime } from "rxjs";
import { toKubeletError } from "../core/errors.ts";
import { ioError } from "../core/ioError.ts";
import { longTimer } from "../operators/longTimer.ts";
import { pollAfter } from "../operators/pollAfter.ts";
import type { Clock } from "../ports/clock.ts";
import type { MemoryEvent, MemoryEvents } from "../ports/memoryEvents.ts";
import type { Logger } from "../ports/telemetry.ts";

/** Least time between two events: a process can cause thousands per second. */
const EVENT_EVERY_MS = 200;
/** A watch is renewed after this time: the one of a cgroup that was removed and made again reports nothing. */
const RENEW_MS = 60_000;
/** A failed watch is repeated after this time, then after twice as long each time, up to RENEW_MS. */
const RETRY_MS = 1_000;
/** Failures in a row that are no news: the kubelet itself makes the cgroup of all pods, a moment after its start. */
const QUIET_FAILURES = 4;
/** Tasks waited for memory for 100 ms of the last 2 s, the shortest window without CAP_SYS_RESOURCE. */
const STALL_TRIGGER = "some 100000 2000000";

/** Emits whenever the file is modified, after `trigger` was written to it. Errors: KubeletError naming the file. */
export type WatchFile = (path: string, trigger: string | undefined) => Observable<unknown>;

interface Options {
  readonly clock: Clock;
  readonly log: Logger;
  /** Directory in place of the root, for tests. */
  readonly prefix?: string;
  readonly watchFile?: WatchFile;
}

/** Creates the source. The log names a file that the machine does not have, once, 15 s after its first failure. */
export function createMemoryEvents({ clock, log, prefix = "", watchFile = watchKernelFile }: Options): MemoryEvents {
  const root = join(prefix, "/sys/fs/cgroup");
  return (cgroupPath) =>
    defer(() => {
      const isV2 = existsSync(join(root, "cgroup.controllers"));
      const events = (of: MemoryEvent, path: string, trigger?: string): Observable<MemoryEvent> => {
        let failures = 0;
        const failed = (thrown: unknown): Observable<never> => {
          const error = toKubeletError(thrown);
          failures += 1;
          if (failures === QUIET_FAILURES + 1) {
            log.warn("Cannot follow memory events; measuring often enough replaces them", { error });
          }
          return EMPTY;
        };
        const watched$ = defer(() => watchFile(path, trigger)).pipe(map(() => of));
        const lasting$ = concat(watched$, NEVER).pipe(takeUntil(longTimer(clock, RENEW_MS)));
        const renewed$ = lasting$.pipe(tap({ complete: () => (failures = 0) }), catchError(failed));
        const pauseMs = (): number => (failures === 0 ? 0 : Math.min(RENEW_MS, RETRY_MS * 2 ** (failures - 1)));
        return pollAfter(clock, pauseMs, () => renewed$);
      };
      return merge(
        isV2 ? events("limit", join(root, cgroupPath, "memory.events")) : EMPTY,
        events("stall", join(root, isV2 ? "" : "unified", "memory.pressure"), STALL_TRIGGER),
      ).pipe(throttleTime(EVENT_EVERY_MS, clock.scheduler, { leading: true, trailing: true }));
    });
}

/** Kernel files never wait for a disk. The trigger lasts as long as the file is open. */
const watchKernelFile: WatchFile = (path, trigger) =>
  new Observable<unknown>((subscriber) => {
    const failed = (thrown: unknown): void => subscriber.error(ioError("watch", path, thrown));
    let file: number | undefined;
    subscriber.add(() => file !== undefined && closeSync(file));
    try {
      if (trigger !== undefined) {
        file = openSync(path, "r+");
        writeSync(file, `${trigger}\0`);
      }
      const watcher = watch(path, { persistent: false });
      subscriber.add(() => watcher.close());
      watcher.on("change", () => subscriber.next(undefined));
      watcher.on("error", failed);
    } catch (thrown) {
      failed(thrown);
    }
  });
