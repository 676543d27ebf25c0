/** How configuration is read from disk; tests pass their own. */
import { constants } from "node:fs";
import { access, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

/** Access to configuration files. Failures reject with an Error whose message names the reason. */
export interface ConfigReaders {
  readText(path: string): Promise<string>;
  /** Every file below a directory, subdirectories included, in the order of names that upstream walks them. */
  listFiles(directory: string): Promise<readonly string[]>;
  /** What is there, links followed; undefined: nothing. */
  look(path: string): Promise<"directory" | "program" | "other" | undefined>;
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

async function look(path: string): ReturnType<ConfigReaders["look"]> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return undefined;
  if (found.isDirectory()) return "directory";
  const canRun = await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
  return found.isFile() && canRun ? "program" : "other";
}

/** Reads the real file system. */
export const nodeConfigReaders: ConfigReaders = {
  readText: (path) => readFile(path, "utf8"),
  listFiles: walk,
  look,
};
