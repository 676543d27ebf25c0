/**
 * Follows the links to disks that udev makes, with inotify. Owns its watches while subscribed. Bounds: one watch for each of
 * two directories, on the nearest directory above while one does not exist.
 */
import { type FSWatcher, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { merge, Observable } from "rxjs";
import { kubeletError } from "../core/errors.ts";
import { errnoOf, pathFault } from "../core/ioError.ts";

/** Emits when it watches, then whenever links to disks may have changed. Errors: Io. `root` is for tests. */
export const diskLinkChanges = (root = ""): Observable<unknown> =>
  merge(changesIn(`${root}/dev/disk/by-path`), changesIn(`${root}/dev/disk/by-id`));

const changesIn = (directory: string): Observable<unknown> =>
  new Observable((subscriber) => {
    const places = [directory, dirname(directory), dirname(dirname(directory))];
    let watcher: FSWatcher | undefined;
    const fail = (thrown: unknown): void =>
      subscriber.error(kubeletError("Io", `cannot watch ${directory}: ${pathFault(thrown)}`, { cause: thrown }));
    /** Watches the first of the nearest places that exists; returns whether there is one. */
    const arm = (count = places.length): boolean => {
      for (const [index, place] of places.slice(0, count).entries()) {
        const found = watchIfThere(place);
        if (found === undefined) continue;
        watcher?.close();
        watcher = found;
        found.on("error", fail);
        found.on("change", (_event, name) => {
          // The directory itself may have come or gone.
          if (index > 0 || String(name) === basename(directory)) rearm();
          else subscriber.next(name);
        });
        // A nearer one may have come since.
        arm(index);
        return true;
      }
      return false;
    };
    const rearm = (): void => {
      try {
        if (arm()) subscriber.next(directory);
        else fail("nothing above it exists");
      } catch (thrown) {
        fail(thrown);
      }
    };
    rearm();
    return () => watcher?.close();
  });

function watchIfThere(place: string): FSWatcher | undefined {
  try {
    return watch(place, { persistent: false });
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT") return undefined;
    throw thrown;
  }
}
