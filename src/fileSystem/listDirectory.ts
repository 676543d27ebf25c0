/** Lists directories that others may fill: in batches, and never more entries than a bound. */
import type { Dirent } from "node:fs";
import * as fs from "node:fs/promises";
import { kubeletError } from "../core/errors.ts";

/** Entries read ahead. */
const BATCH = 256;

/** Far above the entries of any directory that the kubelet lists: pods, logs of a container, links to logs. */
export const MAX_ENTRIES = 65_536;

/** The entries of a directory in the order of the file system. Throws ResourceExhausted for more than `maxEntries`. */
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

/** Their names, likewise. */
export const namesIn = async (path: string, maxEntries = MAX_ENTRIES): Promise<readonly string[]> =>
  (await listDirectory(path, maxEntries)).map(({ name }) => name);
