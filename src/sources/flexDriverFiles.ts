/**
 * Files of flexVolume drivers on a real file system: chokidar for hints, a walk for the drivers. Owns its watcher while
 * `changes$` is subscribed. Bounds: MAX_ENTRIES per directory, MAX_DIRECTORIES watched. Upstream: probe.go of
 * pkg/volume/flexvolume.
 */
import { stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { watch } from "chokidar";
import { Observable } from "rxjs";
import { kubeletError } from "../core/errors.ts";
import { type FlexExecutable, flexDriverOf, flexExecutable } from "../core/flex/flexDriverFiles.ts";
import { pathFault } from "../core/ioError.ts";
import { isHiddenName } from "../core/plugins/pluginSockets.ts";
import { listDirectory } from "../fileSystem/listDirectory.ts";
import { makeDirectories } from "../fileSystem/makeDirectories.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { FlexDrivers } from "../ports/flexDrivers.ts";

const DIRECTORY_MODE = 0o755;
const MAX_ENTRIES = 4096;
/** Each watched directory costs an inotify watch. */
const MAX_DIRECTORIES = 256;

/** Follows the drivers in the directory `path`. */
export function flexDriverFiles(path: string): Pick<FlexDrivers, "changes$" | "list"> {
  const root = resolve(path);
  return { changes$: changesIn(root), list: () => fromCall(() => listDrivers(root)) };
}

/** Raw events count too: a driver that is copied changes until its last byte. */
const changesIn = (root: string): Observable<unknown> =>
  new Observable((subscriber) => {
    const fail = (thrown: unknown): void =>
      subscriber.error(kubeletError("Io", `watching ${root}: ${pathFault(thrown)}`, { cause: thrown }));
    const watched = new Set<string>();
    const isWatched = (directory: string): boolean => {
      if (watched.size < MAX_DIRECTORIES) watched.add(directory);
      return watched.has(directory);
    };
    const watcher = watch(root, {
      ignoreInitial: true,
      depth: 1,
      atomic: false,
      followSymlinks: false,
      ignorePermissionErrors: true,
      ignored: (entry, stats) => {
        const at = resolve(entry);
        if (at === root) return false;
        if (isHiddenName(basename(at))) return true;
        return dirname(at) === root && stats?.isDirectory() === true && !isWatched(at);
      },
    });
    // The end of a watched directory is an event with its own name; a listing may have created it anew.
    let identity: Promise<string> | undefined;
    const checkRoot = async (): Promise<void> => {
      const now = await identityOf(root);
      if (now === GONE || now !== (await identity)) fail("the directory was removed");
    };
    watcher.on("raw", (event, name) => {
      subscriber.next(event);
      if (name === basename(root)) checkRoot().catch(fail);
    });
    watcher.on("all", (event, changed) => {
      if (event === "unlinkDir") watched.delete(resolve(changed));
      subscriber.next(event);
    });
    watcher.on("ready", () => {
      identity = identityOf(root);
      identity.then(() => subscriber.next("ready")).catch(fail);
    });
    watcher.on("error", fail);
    return () => void watcher.close().catch(() => undefined);
  });

const GONE = "";

/** Returns GONE where there is no directory; never rejects. */
const identityOf = (path: string): Promise<string> =>
  stat(path, { bigint: true }).then(
    ({ dev, ino }) => `${dev} ${ino}`,
    () => GONE,
  );

async function listDrivers(root: string): Promise<readonly FlexExecutable[]> {
  try {
    await makeDirectories(root, DIRECTORY_MODE);
  } catch (thrown) {
    throw kubeletError("Io", `cannot create the directory ${root}: ${pathFault(thrown)}`, { cause: thrown });
  }
  const entries = await listDirectory(root, MAX_ENTRIES);
  const names = entries.flatMap((entry) => (entry.isDirectory() ? (flexDriverOf(entry.name) ?? []) : []));
  const found = await Promise.all(names.sort().map((driver) => look(root, driver)));
  return found.filter((driver) => driver !== undefined);
}

/** Returns undefined where there is no file to run. */
async function look(root: string, driver: string): Promise<FlexExecutable | undefined> {
  try {
    const file = await stat(join(root, flexExecutable(driver)), { bigint: true });
    if (!file.isFile()) return undefined;
    return { driver, stamp: [file.dev, file.ino, file.size, file.mtimeNs, file.ctimeNs].join(" ") };
  } catch {
    return undefined;
  }
}
