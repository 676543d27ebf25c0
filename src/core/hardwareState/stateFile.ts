/** The parts that both state files have in common. */
import { fnv32a } from "../fnv32a.ts";
import { isJsonObject, parseJson } from "../json.ts";

/** Largest state file that is read: 10 times the size of one with 500 pods. */
export const MAX_STATE_BYTES = 4 << 20;

/** A JSON object as it was read. */
export type JsonFields = Readonly<Record<string, unknown>>;

/** The content of a state file, or why it is unusable. */
export type Decoded<T> = { readonly state: T } | { readonly fault: string };

/**
 * Reads the fields of a state file. Later versions of upstream keep the state as JSON text in `data`, with a checksum of
 * its own.
 */
export function readFields(text: string): Decoded<JsonFields> {
  if (text.trim() === "") return { fault: "it is empty" };
  const document = parseJson(text);
  if (!isJsonObject(document)) return { fault: "it is no JSON object" };
  const { data, dataChecksum } = document;
  if (data === undefined) return { state: document };
  if (typeof data !== "string") return { fault: UNKNOWN };
  if (fnv32a(`(string)${data}`) !== dataChecksum) return { fault: DAMAGED };
  const inner = parseJson(data);
  return isJsonObject(inner) ? { state: { ...inner, checksum: 0 } } : { fault: UNKNOWN };
}

const UNKNOWN = "its format is unknown, perhaps that of a newer kubelet";
const DAMAGED = "its checksum does not match: it is damaged, or of an unknown version";

/**
 * Checks the checksum of fields against the texts that any version of upstream computes it of. No checksum is valid, as
 * upstream.
 */
export function checksumFault({ checksum }: JsonFields, texts: readonly string[]): string | undefined {
  if (checksum === undefined || checksum === 0) return undefined;
  return texts.some((text) => fnv32a(text) === checksum) ? undefined : DAMAGED;
}

/** Reads an object as a map; undefined if it is none, or a value is unusable. A missing object is an empty map. */
export function readMap<V>(value: unknown, read: (item: unknown) => V | undefined): ReadonlyMap<string, V> | undefined {
  if (value === undefined || value === null) return new Map();
  if (!isJsonObject(value)) return undefined;
  const entries = new Map<string, V>();
  for (const [key, item] of Object.entries(value)) {
    const known = read(item);
    if (known === undefined) return undefined;
    entries.set(key, known);
  }
  return entries;
}

/** Returns a map as an object whose keys are in Go's order; undefined for an empty one, which Go leaves out. */
export const sortedObject = <V, W>(
  entries: ReadonlyMap<string, V>,
  write: (value: V) => W,
): Readonly<Record<string, W>> | undefined =>
  entries.size === 0
    ? undefined
    : Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => [key, write(value)]));
