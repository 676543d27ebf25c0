/** Lists directories that other parties may fill: in batches and with a bound on entries. */
import type { Dirent } from "node:fs";
import * as fs from "node:fs/promises";
import { kubeletError } from "../core/errors.ts";

/** Entries per read. */
const BATCH = 256;

/** Far more than any directory that the kubelet lists has: pods, logs of a container, links to logs. */
export const MAX_ENTRIES = 65_536;

/** Returns the entries of a directory in file system order. Throws ResourceExhausted for more than `maxEntries`. */
export async function listDirectory(path: string, maxEntries = MAX_ENTRIES): Promise<readonly Dirent[]> {
  const entries: Dirent[] = [];
  for await (const entry of await fs.opendir(path, { bufferSize: BATCH })) {
    if (entries.length === maxEntries) {
      throw kubeletError("ResourceExhausted", `cannot list ${path}: it has more than ${maxEntries} entries`);
    }
    entries.push(entry);
  }
  return entries;
}

/** Returns the names of the entries, like `listDirectory`. */
export const namesIn = async (path: string, maxEntries = MAX_ENTRIES): Promise<readonly string[]> =>
  (await listDirectory(path, maxEntries)).map(({ name }) => name);
