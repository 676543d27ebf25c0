/**
 * Wakes a follower: the directory of its log changed, its container ended, its reader left. Events are hints; a
 * periodic resync covers lost ones and renews the watch, which ends silently with its directory. Owns one watch.
 * Bound: hints meanwhile cause one more wake-up.
 */
import { type FSWatcher, watch } from "node:fs";
import type { Clock } from "../../ports/clock.ts";
import type { LogPlace } from "../../fileSystem/logFile.ts";

const RESYNC_MS = 5_000;
/** Period of wake-ups while the directory cannot be watched: it is missing, or no watch is left. */
const UNWATCHED_MS = 1_000;

export interface LogWaker {
  /** Resolves at the next hint, at once if there was one since the last call, or when the resync is due. */
  nextHint(): Promise<void>;
  /** Resolves after `ms`, or when the reader has gone. */
  pause(ms: number): Promise<void>;
  close(): void;
}

/** Creates a waker; the follower checks both signals itself. */
export function createLogWaker(place: LogPlace, clock: Clock, reader: AbortSignal, ended: AbortSignal): LogWaker {
  let watcher: FSWatcher | undefined;
  let isHinted = false;
  let wake = (): void => {};
  const hint = (): void => {
    isHinted = true;
    wake();
  };
  /** Resolves on `wake`, or after `ms`. */
  const rest = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = clock.scheduler.schedule(() => wake(), ms);
      wake = () => {
        wake = () => {};
        timer.unsubscribe();
        resolve();
      };
    });
  const unwatch = (): void => {
    watcher?.close();
    watcher = undefined;
  };
  const startWatch = (): void => {
    unwatch();
    try {
      const started = watch(place.directory, { persistent: false }, (_event, name) => {
        if (name === null || name.startsWith(place.latest)) hint();
      });
      watcher = started;
      started.on("error", unwatch);
    } catch {
      // The shorter period applies, and each wake-up tries to watch again.
    }
  };
  reader.addEventListener("abort", hint);
  ended.addEventListener("abort", hint);
  startWatch();
  return {
    async nextHint() {
      if (!isHinted) await rest(watcher === undefined ? UNWATCHED_MS : RESYNC_MS);
      if (!isHinted) startWatch();
      isHinted = false;
    },
    pause: (ms) =>
      new Promise((resolve) => {
        if (reader.aborted) return resolve();
        const done = (): void => {
          reader.removeEventListener("abort", done);
          timer.unsubscribe();
          resolve();
        };
        const timer = clock.scheduler.schedule(done, ms);
        reader.addEventListener("abort", done);
      }),
    close() {
      reader.removeEventListener("abort", hint);
      ended.removeEventListener("abort", hint);
      unwatch();
      wake();
    },
  };
}
