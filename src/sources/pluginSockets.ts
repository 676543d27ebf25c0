/**
 * The sockets of plugins on a real file system: chokidar for hints, a walk for the sockets. Hidden names are ignored, and
 * symbolic links are not followed. Owns its watcher while `changes$` is subscribed. Bounds: MAX_DEPTH, MAX_DIRECTORIES,
 * MAX_ENTRIES per walk. Upstream: pkg/kubelet/pluginmanager/pluginwatcher/plugin_watcher.go.
 */
import { lstat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { watch } from "chokidar";
import { Observable } from "rxjs";
import { kubeletError } from "../core/errors.ts";
import { errnoOf, pathFault } from "../core/ioError.ts";
import { isHiddenName, type PluginListing, type PluginSocket } from "../core/plugins/pluginSockets.ts";
import { listDirectory } from "../fileSystem/listDirectory.ts";
import { makeDirectories } from "../fileSystem/makeDirectories.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { PluginSockets } from "../ports/plugins.ts";

const DIRECTORY_MODE = 0o750;
/** Directories below the first one. */
const MAX_DEPTH = 8;
/** Each watched directory costs an inotify watch. */
const MAX_DIRECTORIES = 256;
/** Entries of one directory. */
const MAX_ENTRIES = 4096;

/** Follows the sockets below `path`. */
export function pluginSockets(path: string): PluginSockets {
  const root = resolve(path);
  return { changes$: changesBelow(root), list: () => fromCall(() => walk(root)) };
}

/**
 * Raw events count: chokidar reports no sockets of its own. Only directories are watched. The watch of a directory ends
 * with the directory, so that the removal of the first one breaks the whole watch.
 */
const changesBelow = (root: string): Observable<unknown> =>
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
      depth: MAX_DEPTH,
      atomic: false,
      followSymlinks: false,
      ignorePermissionErrors: true,
      ignored: (entry, stats) => {
        const at = resolve(entry);
        if (at !== root && isHiddenName(basename(at))) return true;
        return stats !== undefined && !(stats.isDirectory() && isWatched(at));
      },
    });
    watcher.on("raw", (event, name) => {
      if (event === "rename" && !(typeof name === "string" && isHiddenName(basename(name)))) subscriber.next(event);
    });
    watcher.on("all", (event, changed) => {
      if (event === "unlinkDir") watched.delete(resolve(changed));
      if (event === "unlinkDir" && resolve(changed) === root) fail("the directory was removed");
      else subscriber.next(event);
    });
    watcher.on("ready", () => subscriber.next("ready"));
    watcher.on("error", fail);
    return () => void watcher.close().catch(() => undefined);
  });

async function walk(root: string): Promise<PluginListing> {
  try {
    await makeDirectories(root, DIRECTORY_MODE);
  } catch (thrown) {
    throw kubeletError("Io", `cannot create the directory ${root}: ${pathFault(thrown)}`, { cause: thrown });
  }
  const sockets: PluginSocket[] = [];
  const unread: string[] = [];
  const left = [{ directory: root, depth: 0 }];
  for (let visited = 0; ; visited += 1) {
    const next = left.shift();
    if (next === undefined) break;
    if (visited >= MAX_DIRECTORIES) {
      unread.push(next.directory);
      continue;
    }
    const found = await look(next.directory);
    if (found === undefined) continue;
    if (found === "unread") unread.push(next.directory);
    else {
      sockets.push(...found.sockets);
      if (next.depth < MAX_DEPTH && left.length < MAX_ENTRIES) {
        left.push(...found.directories.map((directory) => ({ directory, depth: next.depth + 1 })));
      }
    }
  }
  return { sockets, unread };
}

interface Look {
  readonly sockets: readonly PluginSocket[];
  readonly directories: readonly string[];
}

/** Returns undefined for a directory that is gone. */
async function look(directory: string): Promise<Look | "unread" | undefined> {
  try {
    const entries = (await listDirectory(directory, MAX_ENTRIES)).filter(({ name }) => !isHiddenName(name));
    const paths = (wanted: (entry: (typeof entries)[number]) => boolean): readonly string[] =>
      entries
        .filter(wanted)
        .map(({ name }) => join(directory, name))
        .sort();
    const sockets = await Promise.all(paths((entry) => entry.isSocket()).map(identify));
    return {
      sockets: sockets.filter((socket) => socket !== undefined),
      directories: paths((entry) => entry.isDirectory()),
    };
  } catch (thrown) {
    return errnoOf(thrown) === "ENOENT" ? undefined : "unread";
  }
}

/** Inode numbers are reused at once, so the time of the socket belongs to its identity. */
async function identify(path: string): Promise<PluginSocket | undefined> {
  try {
    const { dev, ino, mtimeNs } = await lstat(path, { bigint: true });
    return { path, identity: `${dev}:${ino}:${mtimeNs}` };
  } catch {
    return undefined;
  }
}
