/**
 * Reads files of the state directory. A container runs as the same user and can replace them: only regular files are
 * read, so a FIFO cannot block the runtime, and with a bound.
 */
import fs from "node:fs";
import path from "node:path";

/** Limit for a state file: that of a CRI message, which it may contain. */
export const MAX_STATE_BYTES = 16 * 1024 * 1024;

const CHUNK_BYTES = 64 * 1024;

/** Returns the content. Throws for a file that is not regular or larger than `maxBytes`. */
export function readStateFile(file: string, maxBytes = MAX_STATE_BYTES): Buffer {
  const name = path.basename(file);
  const fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  try {
    if (!fs.fstatSync(fd).isFile()) throw new Error(`${name}: is not a regular file`);
    const chunks: Buffer[] = [];
    let length = 0;
    for (;;) {
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, maxBytes + 1 - length));
      const read = fs.readSync(fd, chunk);
      if (read === 0) return Buffer.concat(chunks, length);
      length += read;
      if (length > maxBytes) throw new Error(`${name}: has more than ${maxBytes} bytes`);
      chunks.push(chunk.subarray(0, read));
    }
  } finally {
    fs.closeSync(fd);
  }
}
