/**
 * Follows a file with inotify, also through links and when it is replaced. Owns its watches while subscribed. Bounds: one
 * watch for each directory on the way, MAX_LINKS links.
 */
import { type FSWatcher, readlinkSync, watch } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { Observable } from "rxjs";
import { kubeletError } from "../core/errors.ts";
import { errnoOf, pathFault } from "../core/ioError.ts";

const MAX_LINKS = 8;

/**
 * Emits when it watches, then when the content at the path may have changed. A directory that does not exist yet is not
 * waited for. Errors: Io.
 */
export const fileChanges = (path: string): Observable<unknown> =>
  new Observable((subscriber) => {
    let watchers: readonly FSWatcher[] = [];
    const close = (): void => watchers.forEach((watcher) => watcher.close());
    const fail = (thrown: unknown): void =>
      subscriber.error(kubeletError("Io", `cannot watch ${path}: ${pathFault(thrown)}`, { cause: thrown }));
    const arm = (): void => {
      close();
      watchers = places(path).flatMap((place) => watchOf(place, fail, changed) ?? []);
    };
    const changed = (): void => {
      try {
        // A link may lead elsewhere now.
        arm();
        subscriber.next(path);
      } catch (thrown) {
        fail(thrown);
      }
    };
    changed();
    return close;
  });

/** Returns the path and each that its links lead to. */
function places(path: string): readonly string[] {
  const found = [resolve(path)];
  for (;;) {
    const last = found.at(-1) ?? path;
    const target = linkAt(last);
    if (target === undefined || found.length > MAX_LINKS) return found;
    found.push(resolve(dirname(last), target));
  }
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function watchOf(place: string, fail: (thrown: unknown) => void, changed: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(dirname(place), { persistent: false });
    watcher.on("error", fail);
    watcher.on("change", (_event, name) => {
      if (String(name) === basename(place)) changed();
    });
    return watcher;
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT") return undefined;
    throw thrown;
  }
}
