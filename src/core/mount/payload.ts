/**
 * Validates the paths of a volume that the kubelet fills, and names the links and directories of the atomic writer
 * (`sinks/volumeFiles/writeAtomic.ts`). Upstream: validatePayload of pkg/volume/util/atomic_writer.go.
 */
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";
import { type CivilTime, padded } from "../time/civilTime.ts";
import { utf8Length } from "../utf8Length.ts";
import { namesOf } from "./subPath.ts";

/** The link through which all visible names resolve. */
export const DATA_LINK = "..data";
/** The new link, which replaces DATA_LINK by rename. */
export const NEW_DATA_LINK = "..data_tmp";

const MAX_NAME_BYTES = 255;
const MAX_PATH_BYTES = 4096;
/** Bounds memory; far above the size of API objects. */
const MAX_PAYLOAD_BYTES = 64 * 1024 * 1024;

/** Files by clean path, sorted; when two keys give one path, the later wins. */
export type Payload<T> = ReadonlyMap<string, T>;

/** Returns the payload with clean paths. Errors: InvalidArgument naming the path. */
export function cleanPayload<T extends { readonly content: Uint8Array }>(
  files: ReadonlyMap<string, T>,
): Result<Payload<T>> {
  const clean = new Map<string, T>();
  let bytes = 0;
  for (const [path, file] of files) {
    const fault = pathFault(path);
    if (fault !== undefined) return err(kubeletError("InvalidArgument", `invalid path: ${fault}`));
    clean.set(namesOf(path).join("/"), file);
    bytes += file.content.length;
  }
  if (bytes > MAX_PAYLOAD_BYTES) {
    return err(kubeletError("InvalidArgument", `invalid payload: ${bytes} bytes, at most ${MAX_PAYLOAD_BYTES} can be`));
  }
  const inTheWay = belowFile(clean.keys());
  if (inTheWay !== undefined) {
    const message = `invalid path: another file is where it needs a directory: ${inTheWay}`;
    return err(kubeletError("InvalidArgument", message));
  }
  return ok(new Map([...clean].sort(([a], [b]) => (a < b ? -1 : 1))));
}

/**
 * Returns a path that is below another one. Sorted with NUL, which no path has, for a slash, paths below another follow
 * it at once; a look-up of each directory of each path would take time by the square of its depth.
 */
function belowFile(paths: Iterable<string>): string | undefined {
  const sorted = [...paths].map((path) => path.replaceAll("/", "\0")).sort();
  const found = sorted.find((path, at) => at > 0 && path.startsWith(`${sorted[at - 1] ?? ""}\0`));
  return found?.replaceAll("\0", "/");
}

/** Returns the problem of a path, in upstream's text where upstream has one. */
function pathFault(path: string): string | undefined {
  if (path === "") return 'must not be empty: ""';
  if (path.startsWith("/")) return `must be relative path: ${path}`;
  if (path.includes("\0") || !path.isWellFormed()) return `must be UTF-8 without NUL: ${JSON.stringify(path)}`;
  if (utf8Length(path) > MAX_PATH_BYTES) return `must be less than or equal to ${MAX_PATH_BYTES} characters`;
  const names = namesOf(path);
  const [first] = names;
  if (first === undefined) return `must name a file: ${path}`;
  if (names.includes("..")) return `must not contain '..': ${path}`;
  if (names.some((name) => utf8Length(name) > MAX_NAME_BYTES)) {
    return `filenames must be less than or equal to ${MAX_NAME_BYTES} characters`;
  }
  return first.startsWith("..") ? `must not start with '..': ${path}` : undefined;
}

/** Returns the parent directories of a path, outermost first, without the volume's root. */
export const directoriesOf = (path: string): readonly string[] => {
  const names = path.split("/").slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
};

/** Returns the visible names in the volume's root; each is a link into the data directory. */
export const visibleNames = (paths: Iterable<string>): ReadonlySet<string> =>
  new Set([...paths].map((path) => path.split("/", 1)[0] ?? path));

/** Returns whether a name in the root is the directory of one generation of files: `..` and a time. */
export const isGeneration = (name: string): boolean => /^\.\.\d/.test(name);

/** Returns the name prefix of a generation created at that time: `..2006_01_02_15_04_05.`. */
export function generationPrefix({ year, month, day, hour, minute, second }: CivilTime): string {
  return `..${[year, month, day, hour, minute, second].map((field) => padded(field, 2)).join("_")}.`;
}
