/** Access of the configuration loader to the disk; tests pass their own. */
import { constants, createReadStream, type Dirent } from "node:fs";
import { access, opendir, stat } from "node:fs/promises";
import { join } from "node:path";

/** Access to configuration files. Failures reject with an Error whose message names the reason. */
export interface ConfigReaders {
  readText(path: string): Promise<string>;
  /** Resolves with all files below a directory and its subdirectories, in upstream's order of names. */
  listFiles(directory: string): Promise<readonly string[]>;
  /** The kind of file at the path, with links followed; undefined when there is none. */
  look(path: string): Promise<"directory" | "program" | "other" | undefined>;
}

/** Limit for the files and directories below a directory of configuration files; also limits their depth. */
export const MAX_CONFIG_ENTRIES = 1_000;

async function listFiles(root: string): Promise<readonly string[]> {
  let count = 0;
  const walk = async (directory: string): Promise<readonly string[]> => {
    const entries: Dirent[] = [];
    for await (const entry of await opendir(directory)) {
      count += 1;
      if (count > MAX_CONFIG_ENTRIES) {
        throw new Error(`it has more than ${MAX_CONFIG_ENTRIES} files and directories`);
      }
      entries.push(entry);
    }
    const sorted = entries.toSorted((a, b) => (Buffer.from(a.name) < Buffer.from(b.name) ? -1 : 1));
    const files: string[] = [];
    for (const entry of sorted) {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) files.push(...(await walk(path)));
      else files.push(path);
    }
    return files;
  };
  return walk(root);
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

/** Limit for all files of one directory of configuration files: each is parsed with the places of its fields. */
export const MAX_DIRECTORY_CHARS = 4 * 1024 * 1024;

/** Returns a reader for the files of one directory; it rejects, without a read, once they exceed the limit. */
export function directoryReader({ readText: read }: Pick<ConfigReaders, "readText">): ConfigReaders["readText"] {
  let left = MAX_DIRECTORY_CHARS;
  return async (path) => {
    const text = left < 0 ? "" : await read(path);
    left -= text.length;
    if (left >= 0) return text;
    throw new Error(`the files up to this one have more than ${MAX_DIRECTORY_CHARS} characters in all`);
  };
}

/** Reads the real file system. */
export const nodeConfigReaders: ConfigReaders = {
  readText,
  listFiles,
  look,
};
