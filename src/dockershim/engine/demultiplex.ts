/**
 * The outputs of a command in one stream of Docker: frames of a header of eight bytes, which names stream and length,
 * and the data. Bound: nothing is kept but a begun header; a reader who waits makes Docker wait.
 */
import { garbled } from "./engineFault.ts";

/** Stream of an output. */
export type Output = "stdout" | "stderr";

const HEADER_BYTES = 8;
const LENGTH_AT = 4;
/** A frame for stdin carries what Docker says on behalf of nobody: it counts as standard output, as upstream. */
const STREAMS: Readonly<Record<number, Output>> = { 0: "stdout", 1: "stdout", 2: "stderr" };

/** Gives each piece of output to `take`, waiting for it. Rejects for bytes that are no frames. */
export async function demultiplex(
  from: AsyncIterable<Buffer>,
  take: (output: Output, piece: Buffer) => Promise<void> | void,
): Promise<void> {
  let header = Buffer.alloc(0);
  let output: Output = "stdout";
  let left = 0;
  for await (const piece of from) {
    let rest = piece;
    while (rest.length > 0) {
      if (left > 0) {
        const data = rest.subarray(0, left);
        left -= data.length;
        rest = rest.subarray(data.length);
        await take(output, data);
        continue;
      }
      const missing = HEADER_BYTES - header.length;
      header = Buffer.concat([header, rest.subarray(0, missing)]);
      rest = rest.subarray(missing);
      if (header.length < HEADER_BYTES) continue;
      const found = STREAMS[header[0] ?? -1];
      if (found === undefined) throw garbled("output of a command", `a frame is of the unknown stream ${header[0]}`);
      output = found;
      left = header.readUInt32BE(LENGTH_AT);
      header = Buffer.alloc(0);
    }
  }
  if (left > 0 || header.length > 0) throw garbled("output of a command", "Docker broke off inside a frame");
}
