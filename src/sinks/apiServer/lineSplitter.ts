/** Splits a byte stream into lines of text. Bound: one unfinished line of `maxBytes`. */
import { kubeletError } from "../../core/errors.ts";

/** The unfinished line between two chunks. */
export interface LineSplitter {
  /** Returns the lines that this chunk completes. Throws ResourceExhausted for a line that is too long. */
  push(piece: Buffer): readonly string[];
  /** Bytes of the unfinished line. */
  readonly unfinishedBytes: number;
}

const NEWLINE = 0x0a;

/** Creates a splitter. It removes the newline of each line and skips empty lines. */
export function createLineSplitter(maxBytes: number): LineSplitter {
  let begun: Buffer[] = [];
  let begunBytes = 0;
  const keep = (bytes: Buffer): void => {
    if (bytes.length === 0) return;
    begunBytes += bytes.length;
    if (begunBytes > maxBytes) throw kubeletError("ResourceExhausted", `a line is longer than ${maxBytes} bytes`);
    begun.push(bytes);
  };
  const finish = (): string => {
    const text = Buffer.concat(begun, begunBytes).toString("utf8").trim();
    begun = [];
    begunBytes = 0;
    return text;
  };
  return {
    push(piece) {
      const lines: string[] = [];
      let from = 0;
      for (let at = piece.indexOf(NEWLINE); at >= 0; at = piece.indexOf(NEWLINE, from)) {
        keep(piece.subarray(from, at));
        from = at + 1;
        const line = finish();
        if (line !== "") lines.push(line);
      }
      keep(piece.subarray(from));
      return lines;
    },
    get unfinishedBytes() {
      return begunBytes;
    },
  };
}
