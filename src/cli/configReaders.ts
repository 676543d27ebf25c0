/** Access of the configuration loader to the disk; tests pass their own. */
import { constants, createReadStream } from "node:fs";
import { access, readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** Access to configuration files. Failures reject with an Error whose message names the reason. */
export interface ConfigReaders {
  readText(path: string): Promise<string>;
  /** Resolves with all files below a directory and its subdirectories, in upstream's order of names. */
  listFiles(directory: string): Promise<readonly string[]>;
  /** The kind of file at the path, with links followed; undefined when there is none. */
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

/** Far above the size of any configuration, certificate or key. */
export const MAX_TEXT_BYTES = 4 * 1024 * 1024;

/** Reads a whole file with a bound, because it may be a pipe or a device without an end. */
async function readText(path: string): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  // A byte beyond the bound shows that the file is too long.
  for await (const piece of createReadStream(path, { end: MAX_TEXT_BYTES }) as AsyncIterable<Buffer>) {
    pieces.push(piece);
    bytes += piece.length;
  }
  if (bytes > MAX_TEXT_BYTES) throw new Error(`it is larger than ${MAX_TEXT_BYTES} bytes`);
  return Buffer.concat(pieces).toString("utf8");
}

/** Reads the real file system. */
export const nodeConfigReaders: ConfigReaders = {
  readText,
  listFiles: walk,
  look,
};
