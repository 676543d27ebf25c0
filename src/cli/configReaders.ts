/** How configuration is read from disk; tests pass their own. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** Access to configuration files. Failures reject with an Error whose message names the reason. */
export interface ConfigReaders {
  readText(path: string): Promise<string>;
  /** Every file below a directory, subdirectories included, in the order of names that upstream walks them. */
  listFiles(directory: string): Promise<readonly string[]>;
}

async function walk(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const sorted = entries.toSorted((a, b) => (Buffer.from(a.name) < Buffer.from(b.name) ? -1 : 1));
  const files: string[] = [];
  for (const entry of sorted) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) files.push(...(await walk(path)));
    else files.push(path);
  }
  return files;
}

/** Reads the real file system. */
export const nodeConfigReaders: ConfigReaders = {
  readText: (path) => readFile(path, "utf8"),
  listFiles: walk,
};
