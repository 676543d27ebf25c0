/** JSON documents of a stream of Docker, one a line. Bound: `maxBytes` per line. */
import { parseJson } from "../../core/json.ts";
import { garbled, noAnswer } from "./engineFault.ts";

const NEWLINE = 0x0a;

/** Yields the documents; rejects for a line that is too long or no JSON, and for an end inside a line. */
export async function* readLines(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  what: string,
  signal?: AbortSignal,
): AsyncGenerator<unknown, void> {
  let begun: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of body) {
      let from = 0;
      for (let end = piece.indexOf(NEWLINE); end !== -1; end = piece.indexOf(NEWLINE, from)) {
        const line = Buffer.concat([...begun, piece.subarray(from, end)]);
        if (line.length > maxBytes) throw tooLong(what, maxBytes);
        begun = [];
        size = 0;
        from = end + 1;
        const document = documentOf(line, what);
        if (document !== undefined) yield document;
      }
      begun.push(piece.subarray(from));
      size += piece.length - from;
      if (size > maxBytes) throw tooLong(what, maxBytes);
    }
  } catch (thrown) {
    throw noAnswer(what, thrown, signal);
  }
  const rest = documentOf(Buffer.concat(begun), what);
  if (rest !== undefined) yield rest;
}

const tooLong = (what: string, maxBytes: number): Error => garbled(what, `a line is longer than ${maxBytes} bytes`);

function documentOf(line: Buffer, what: string): unknown {
  const text = line.toString().trim();
  if (text === "") return undefined;
  const document = parseJson(text);
  if (document === undefined) throw garbled(what, "a line of the answer is no JSON");
  return document;
}
