/**
 * Follows the links of a path one by one and stops at the first remote mount without accessing it, so that a dead
 * server blocks none of Node's few file threads. Bound: MAX_LINKS.
 */
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../../core/ioError.ts";
import { isRemote, type MountEntry } from "../../core/mount/mountInfo.ts";

/** Number of links that are followed, as many as the kernel follows. */
const MAX_LINKS = 40;

/** The end of a path. */
interface FollowedPath {
  /** The path without links, as far as they were followed: to a remote mount, to a missing name or to the limit. */
  readonly path: string;
  /** The remote mount that the path leads through; undefined for a path on local file systems. */
  readonly mount: MountEntry | undefined;
}

/** Returns the remote mount that a path leads through; undefined for a path on local file systems. */
export async function remoteMountOf(path: string, entries: readonly MountEntry[]): Promise<MountEntry | undefined> {
  return entries.some(isRemote) ? (await followLinks(path, entries)).mount : undefined;
}

/** Follows the links of an absolute path, also the last one. */
export async function followLinks(path: string, entries: readonly MountEntry[]): Promise<FollowedPath> {
  const remote = new Map(entries.filter(isRemote).map((entry) => [entry.mountPoint, entry]));
  let left = path.split("/");
  let here: readonly string[] = [];
  let links = 0;
  while (left.length > 0) {
    const [name = "", ...rest] = left;
    left = rest;
    if (name === "" || name === ".") continue;
    if (name === "..") {
      here = here.slice(0, -1);
      continue;
    }
    const place = `/${[...here, name].join("/")}`;
    const mount = remote.get(place);
    if (mount !== undefined) return { path: joined(here, [name, ...rest]), mount };
    const target = await linkTarget(place);
    if (target === "nothing") return { path: joined(here, [name, ...rest]), mount: undefined };
    if (target === "no link") {
      here = [...here, name];
      continue;
    }
    if (links === MAX_LINKS) return { path: joined(here, [name, ...rest]), mount: undefined };
    links += 1;
    if (target.to.startsWith("/")) here = [];
    left = [...target.to.split("/"), ...rest];
  }
  return { path: joined(here, []), mount: undefined };
}

const joined = (here: readonly string[], left: readonly string[]): string => join("/", ...here, ...left);

async function linkTarget(path: string): Promise<{ readonly to: string } | "no link" | "nothing"> {
  try {
    return { to: await fs.readlink(path) };
  } catch (thrown) {
    return errnoOf(thrown) === "EINVAL" ? "no link" : "nothing";
  }
}
