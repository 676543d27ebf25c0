/**
 * What may be written into a volume the kubelet fills, and what of it is seen. Counterpart: validatePayload of
 * pkg/volume/util/atomic_writer.go.
 */
import { kubeletError } from "../errors.ts";
import { err, ok, type Result } from "../result.ts";
import { type CivilTime, padded } from "../telemetry/civilTime.ts";
import { utf8Length } from "../utf8Length.ts";
import { namesOf } from "./subPath.ts";

/** The link all visible names lead through. */
export const DATA_LINK = "..data";
/** The link that becomes it by rename. */
export const NEW_DATA_LINK = "..data_tmp";

const MAX_NAME_BYTES = 255;
const MAX_PATH_BYTES = 4096;
/** Far beyond what objects of an API server hold: memory is what this bounds. */
const MAX_PAYLOAD_BYTES = 64 * 1024 * 1024;

/** Files by clean path, sorted; of two keys for one path the later counts. */
export type Payload<T> = ReadonlyMap<string, T>;

/** The payload with clean paths, or why it may not be written: InvalidArgument naming the path. */
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
  const inTheWay = [...clean.keys()].find((path) => directoriesOf(path).some((directory) => clean.has(directory)));
  if (inTheWay !== undefined) {
    const message = `invalid path: another file is where it needs a directory: ${inTheWay}`;
    return err(kubeletError("InvalidArgument", message));
  }
  return ok(new Map([...clean].sort(([a], [b]) => (a < b ? -1 : 1))));
}

/** In upstream's words where it has some. */
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

/** The directories a path is in, the outermost first; the root of the volume is none of them. */
export const directoriesOf = (path: string): readonly string[] => {
  const names = path.split("/").slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
};

/** Names that are to be seen in the root of the volume: each a link into the data. */
export const visibleNames = (paths: Iterable<string>): ReadonlySet<string> =>
  new Set([...paths].map((path) => path.split("/", 1)[0] ?? path));

/** Whether a name in the root is a directory of one generation of files: `..` and a time. */
export const isGeneration = (name: string): boolean => /^\.\.\d/.test(name);

/** Start of the name of a generation made at that time, as `..2006_01_02_15_04_05.`. */
export function generationPrefix({ year, month, day, hour, minute, second }: CivilTime): string {
  return `..${[year, month, day, hour, minute, second].map((field) => padded(field, 2)).join("_")}.`;
}
