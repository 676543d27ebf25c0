/**
 * The manifest directory on a real file system: chokidar for hints, stat for versions and kinds. An entry that is no
 * regular file, such as a FIFO, is listed and never opened. Owns its watcher while `changes$` is subscribed, and the
 * reports of recreated files. Bounds: `maxBytes` per file, MAX_ENTRIES entries.
 * Upstream: pkg/kubelet/config/file_linux.go.
 */
import { type BigIntStats, statSync } from "node:fs";
import { lstat, stat } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { type FSWatcher, watch } from "chokidar";
import { Observable } from "rxjs";
import { isKubeletError, type KubeletError, kubeletError } from "../core/errors.ts";
import { errnoOf, pathFault } from "../core/ioError.ts";
import { isIgnoredName, type ManifestEntry, type ManifestListing } from "../core/pod/manifest/manifestFiles.ts";
import { namesIn } from "../fileSystem/listDirectory.ts";
import { openRegular, readUpTo } from "../fileSystem/regularFile.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { Clock } from "../ports/clock.ts";
import type { ManifestDirectory } from "../ports/manifestDirectory.ts";
import { createRemakes, type Remakes, withRemakes } from "./manifestRemakes.ts";

/**
 * Differs from upstream: a manifest is at most 1 MiB instead of 10, since no API server takes a larger pod and parsing
 * one would stop everything else for seconds.
 */
export const MAX_MANIFEST_BYTES = 1024 * 1024;
/** Maximum number of directory entries to examine. */
const MAX_ENTRIES = 10_000;
/** Files examined at once. */
const STATS_AT_ONCE = 16;

const isMissing = (thrown: unknown): boolean => ["ENOENT", "ENOTDIR"].includes(errnoOf(thrown));
const ioError = (what: string, thrown: unknown): KubeletError =>
  kubeletError(isMissing(thrown) ? "NotFound" : "Io", `${what}: ${pathFault(thrown)}`, { cause: thrown });

/** Called by each listing with the identity of the directory at the path; NO_DIRECTORY when there is none. */
type IdentityListener = (identity: string) => void;
const NO_DIRECTORY = "none";

/** Follows the manifests at `path`, a directory or one file; either may come and go. */
export function manifestDirectory(
  path: string,
  clock: Pick<Clock, "monotonicMs">,
  maxBytes = MAX_MANIFEST_BYTES,
): ManifestDirectory {
  const place = resolve(path);
  const watches = new Set<IdentityListener>();
  const remakes = createRemakes(clock);
  return {
    changes$: changesAt(place, watches, remakes),
    list: () =>
      fromCall(async () => {
        const { listing, identity } = await list(place);
        for (const onIdentity of watches) onIdentity(identity);
        return withRemakes(listing, remakes.take());
      }),
    read: (file) => fromCall(() => read(file, maxBytes)),
  };
}

/**
 * Subscribes to raw events too: chokidar drops changes that follow each other within 50 ms, and here each is only a
 * hint. A file, or a missing path, is watched through the closest directory above it, since a watch of the file is
 * lost when the file is replaced. A watch of a directory is lost with the directory, silently when another one takes
 * its place; so whenever a listing finds another directory than the watched one, or one where none was, the watch
 * restarts.
 */
function changesAt(place: string, watches: Set<IdentityListener>, remakes: Remakes): Observable<unknown> {
  return new Observable<unknown>((subscriber) => {
    let current: PlaceWatch | undefined;
    const failed = (thrown: unknown): void => subscriber.error(ioError(`watching ${place}`, thrown));
    const start = () => {
      current?.watcher.close().catch(failed);
      const watched = watchPlace(place);
      const { watcher, target, identity } = watched;
      current = watched;
      const isDirectory = identity !== NO_DIRECTORY;
      watcher.on("all", (event, changed) => {
        const path = resolve(changed);
        const isStep = event === "addDir" || (event === "unlinkDir" && path === target);
        if (isDirectory || path === place || isStep) subscriber.next(event);
        if (isStep && !isDirectory && watcher === current?.watcher) start();
      });
      watcher.on("raw", (event, name, details) => {
        const parent = isDirectory ? place : dirname(place);
        // The watch of a file itself also reports its replacement, which is one change of its name.
        if (event === "rename" && watchedOf(details) === parent) remakes.reported(join(parent, name));
        if (isDirectory || name === basename(place)) subscriber.next(event);
        if (!isDirectory && watcher === current?.watcher && isStale(place, watched)) start();
      });
      watcher.on("ready", () => {
        subscriber.next("ready");
        // Chokidar reports nothing of what appeared before it was ready.
        if (!isDirectory && watcher === current?.watcher && isStale(place, watched)) start();
      });
      watcher.on("error", (thrown) => {
        if (isLoopingEntry(thrown, target)) subscriber.next("error");
        else failed(thrown);
      });
    };
    const onIdentity: IdentityListener = (identity) => {
      if (identity !== current?.identity) start();
    };
    watches.add(onIdentity);
    start();
    return () => {
      watches.delete(onIdentity);
      current?.watcher.close().catch(failed);
    };
  });
}

/** A link among the entries that leads back to itself is for the listing to report; the watch continues. */
const isLoopingEntry = (thrown: unknown, target: string): boolean =>
  errnoOf(thrown) === "ELOOP" && (thrown as { readonly path?: string }).path !== target;

/** Returns the watch that reports the event. */
const watchedOf = (details: unknown): string | undefined =>
  (details as { readonly watchedPath?: string } | undefined)?.watchedPath;

interface PlaceWatch {
  readonly watcher: FSWatcher;
  readonly target: string;
  /** Identity of the watched directory; NO_DIRECTORY when a parent is watched. */
  readonly identity: string;
  /** Identity of `target`: chokidar reports no change when another directory replaces it at once. */
  readonly targetIdentity: string;
}

function watchPlace(place: string): PlaceWatch {
  const identity = directoryNow(place);
  const isDirectory = identity !== NO_DIRECTORY;
  const target = isDirectory ? place : closestAbove(place);
  const targetIdentity = directoryNow(target);
  const leadsThere = (path: string): boolean => place === path || place.startsWith(path === sep ? sep : path + sep);
  const watcher = watch(target, {
    ignoreInitial: true,
    depth: 0,
    atomic: false,
    ignorePermissionErrors: true,
    ...(isDirectory ? {} : { ignored: (path: string) => !leadsThere(resolve(path)) }),
  });
  return { watcher, target, identity, targetIdentity };
}

/** The closest directory above a path that exists. */
function closestAbove(path: string): string {
  let above = dirname(path);
  while (directoryNow(above) === NO_DIRECTORY && above !== dirname(above)) above = dirname(above);
  return above;
}

/** Returns whether the watch of a directory above the path is not, or no longer, that of the closest one. */
const isStale = (place: string, { target, targetIdentity }: PlaceWatch): boolean =>
  closestAbove(place) !== target || directoryNow(target) !== targetIdentity;

/** Inode numbers are reused at once, so the moment of birth belongs to an identity. */
const identityOf = (stats: BigIntStats): string =>
  stats.isDirectory() ? `${stats.dev}:${stats.ino}:${stats.birthtimeNs}` : NO_DIRECTORY;

function directoryNow(path: string): string {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? NO_DIRECTORY : identityOf(stats);
  } catch {
    return NO_DIRECTORY;
  }
}

interface Listed {
  readonly listing: ManifestListing;
  readonly identity: string;
}

async function list(place: string): Promise<Listed> {
  let identity = NO_DIRECTORY;
  try {
    identity = identityOf(await stat(place, { bigint: true }));
    if (identity === NO_DIRECTORY) {
      const entry = await examine(place);
      return { listing: entry === undefined ? { kind: "missing" } : { kind: "found", entries: [entry] }, identity };
    }
    const names = (await namesIn(place)).filter((name) => !isIgnoredName(name)).sort();
    const entries: ManifestEntry[] = [];
    for (let from = 0; from < Math.min(names.length, MAX_ENTRIES); from += STATS_AT_ONCE) {
      const some = names.slice(from, Math.min(from + STATS_AT_ONCE, MAX_ENTRIES));
      const examined = await Promise.all(some.map((name) => examine(join(place, name))));
      entries.push(...examined.filter((entry) => entry !== undefined));
    }
    return { listing: { kind: "found", entries }, identity };
  } catch (thrown) {
    if (isMissing(thrown)) return { listing: { kind: "missing" }, identity: NO_DIRECTORY };
    const reason = `cannot be read: ${pathFault(thrown)}`;
    return { listing: { kind: "unreadable", reason }, identity };
  }
}

/** Returns undefined if the file was removed since the directory was listed. */
async function examine(path: string): Promise<ManifestEntry | undefined> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs, ...stats } = await stat(path, { bigint: true });
    const version = [dev, ino, size, mtimeNs, ctimeNs].join(":");
    const { mode } = stats;
    return { path, version, kind: kindOf(Number(mode)) };
  } catch (thrown) {
    if (isMissing(thrown) && (await isGone(path))) return undefined;
    return { path, version: "", kind: "unreadable", reason: unreadableReason(thrown) };
  }
}

function unreadableReason(thrown: unknown): string {
  if (isMissing(thrown)) return "is a symbolic link that leads nowhere";
  return errnoOf(thrown) === "ELOOP" ? pathFault(thrown) : `cannot be examined: ${pathFault(thrown)}`;
}

/** Returns true if not even a dangling link exists. */
const isGone = (path: string): Promise<boolean> => lstat(path).then(() => false, isMissing);

/** Returns the kind from the type bits of a file's mode. */
function kindOf(mode: number): ManifestEntry["kind"] {
  const type = mode & 0o170000;
  if (type === 0o100000) return "file";
  return type === 0o040000 ? "directory" : "other";
}

const MEBIBYTE = 1024 * 1024;
const sizeText = (bytes: number): string => (bytes % MEBIBYTE === 0 ? `${bytes / MEBIBYTE} MiB` : `${bytes} bytes`);

async function read(path: string, maxBytes: number): Promise<Uint8Array> {
  try {
    // The listing found a regular file, but another kind may have replaced it since.
    const refuse = (why: string) => kubeletError("InvalidArgument", `is ${why}`);
    await using file = await openRegular(path, { links: "followed", refuse });
    const content = await readUpTo(file, maxBytes + 1);
    if (content.length > maxBytes)
      throw kubeletError("ResourceExhausted", `is larger than ${sizeText(maxBytes)}, the most that is read`);
    return content;
  } catch (thrown) {
    throw isKubeletError(thrown) ? thrown : ioError("cannot be read", thrown);
  }
}
