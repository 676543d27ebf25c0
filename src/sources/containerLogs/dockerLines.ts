/**
 * Converts pieces of Docker's log files to entries of CRI, which the rest of the reader knows. Bounds: a begun line of
 * `MAX_LINE_BYTES` per file, above which it counts as malformed, and the begun lines of `MAX_FILES` files.
 */
import { criEntries } from "../../core/logs/dockerLog.ts";

/** Docker splits entries at 16 KiB, which no escaping makes longer than six times that. */
const MAX_LINE_BYTES = 1024 * 1024;
/** The current file, and the one before it, to which last lines may still be written. */
const MAX_FILES = 2;
const NEWLINE = 0x0a;

/** Converts the next bytes of a file; the rest of its last line waits for more. */
export type LineConverter = (identity: string, bytes: Uint8Array) => Buffer;

/** Creates a converter for one reading. */
export function createDockerLines(): LineConverter {
  const begun = new Map<string, readonly Buffer[]>();
  return (identity, bytes) => {
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    const kept = begun.get(identity) ?? [];
    begun.delete(identity);
    const rest = [...(end === 0 ? kept : []), Buffer.from(bytes.subarray(end))];
    begun.set(identity, shortEnough(rest));
    const [oldest] = begun.keys();
    if (begun.size > MAX_FILES && oldest !== undefined) begun.delete(oldest);
    if (end === 0) return Buffer.alloc(0);
    const lines = Buffer.concat([...kept, bytes.subarray(0, end - 1)])
      .toString()
      .split("\n");
    return Buffer.from(lines.map(criEntries).join(""));
  };
}

/** A line that is too long is given up: what follows it up to its newline is malformed as well. */
function shortEnough(pieces: readonly Buffer[]): readonly Buffer[] {
  const size = pieces.reduce((sum, { length }) => sum + length, 0);
  return size > MAX_LINE_BYTES ? [Buffer.from("[")] : pieces;
}
