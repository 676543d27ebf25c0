/** Reads the manifests that a command line names. Bounds: MAX_MANIFEST_BYTES a file, MAX_FILES files. */
import { open, readdir, stat } from "node:fs/promises";
import path from "node:path";
import { kubeletError } from "../core/errors.ts";
import { pathFault } from "../core/ioError.ts";
import { MAX_MANIFEST_BYTES } from "../sources/manifestDirectory.ts";

/** A manifest and its name in messages. */
export interface NamedManifest {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const MAX_FILES = 1_000;
const EXTENSIONS: ReadonlySet<string> = new Set([".json", ".yaml", ".yml"]);

/**
 * Returns the paths of all manifests in order; a directory stands for its manifests, without its subdirectories, as for
 * kubectl. Rejects with InvalidArgument for a path that cannot be used.
 */
export async function manifestPaths(files: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const file of files) found.push(...(await pathsAt(file)));
  if (found.length > MAX_FILES) throw kubeletError("ResourceExhausted", `there are more than ${MAX_FILES} manifests`);
  return found;
}

async function pathsAt(file: string): Promise<readonly string[]> {
  if (file === "-") return [file];
  try {
    if (!(await stat(file)).isDirectory()) return [file];
    const names = (await readdir(file)).filter((name) => EXTENSIONS.has(path.extname(name))).toSorted();
    if (names.length > 0) return names.map((name) => path.join(file, name));
  } catch (thrown) {
    throw kubeletError("InvalidArgument", `${file}: ${pathFault(thrown)}`, { cause: thrown });
  }
  throw kubeletError("InvalidArgument", `${file}: has no file that ends in .json, .yaml or .yml`);
}

/** Reads a manifest; `-` is standard input. */
export async function readManifestFile(file: string): Promise<NamedManifest> {
  const name = file === "-" ? "standard input" : file;
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    await using opened = file === "-" ? undefined : await open(file, "r");
    for await (const chunk of (opened?.createReadStream() ?? process.stdin) as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > MAX_MANIFEST_BYTES) break;
    }
  } catch (thrown) {
    throw kubeletError("InvalidArgument", `${name}: ${pathFault(thrown)}`, { cause: thrown });
  }
  if (length > MAX_MANIFEST_BYTES) throw kubeletError("ResourceExhausted", `${name}: is larger than 1 MiB`);
  return { name, bytes: Buffer.concat(chunks, length) };
}
