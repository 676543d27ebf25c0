/** Trees of cgroups, which a pod's owner may make as wide and as deep as the kernel lets them. */
import { type Dir, opendirSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { errnoOf, ioError } from "../core/ioError.ts";

/** Child cgroups of one cgroup, and cgroups of one pod, that one attempt removes; the next attempt goes on from there. */
const MAX_CHILDREN = 1_024;
const MAX_CGROUPS = 16_384;
/** Cgroups of pods that are listed at a time. */
const MAX_LISTED = 65_536;

/** Cgroups of a tree, and entries of one cgroup, that are read in one turn of the event loop. */
const LOOKS_PER_TURN = 128;

/** Reads entry by entry: a pod's owner may make any number of cgroups. */
async function childDirs(parent: string, limit: number): Promise<readonly string[]> {
  const names: string[] = [];
  let looks = 0;
  let dir: Dir | undefined;
  try {
    dir = opendirSync(parent);
    for (let entry = dir.readSync(); entry !== null && names.length < limit; entry = dir.readSync()) {
      if (entry.isDirectory()) names.push(entry.name);
      looks += 1;
      if (looks % LOOKS_PER_TURN === 0) await nextTurn();
    }
    return names;
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT") return names;
    throw ioError("list cgroup", parent, thrown);
  } finally {
    dir?.closeSync();
  }
}

/** Returns the names of the cgroups in a cgroup, at most MAX_LISTED. */
export const cgroupsBelow = (dir: string): Promise<readonly string[]> => childDirs(dir, MAX_LISTED);

/** Returns the cgroup and all its descendants, children before their parents. */
export async function withDescendants(top: string): Promise<readonly string[]> {
  const found: string[] = [];
  const waiting = [top];
  while (found.length < MAX_CGROUPS) {
    const dir = waiting.pop();
    if (dir === undefined) break;
    found.push(dir);
    if (found.length % LOOKS_PER_TURN === 0) await nextTurn();
    for (const name of await childDirs(dir, MAX_CHILDREN)) waiting.push(join(dir, name));
  }
  return found.reverse();
}
