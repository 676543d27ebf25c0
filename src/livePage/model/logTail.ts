/** The tail of a log as lines to show. Bound: MAX_LINES lines of MAX_LINE characters. */
import { shownText } from "./shownText.ts";

export const MAX_LINES = 400;
export const MAX_LINE = 1_000;
/** Bytes of an answer that are kept; older ones are dropped. */
export const MAX_TAIL_BYTES = 4_194_304;

/** Returns the last lines. `isCut`: the text does not begin at the start of a line. */
export function logTail(text: string, isCut = false): readonly string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (isCut && lines.length > 1) lines.shift();
  return lines.slice(-MAX_LINES).map((line) => shownText(line.endsWith("\r") ? line.slice(0, -1) : line, MAX_LINE));
}

/** Collects the last MAX_TAIL_BYTES of an answer that comes in pieces. */
export interface TailBuffer {
  add(piece: Uint8Array): void;
  text(): { readonly text: string; readonly isCut: boolean };
}

/** Makes an empty buffer. */
export function createTailBuffer(bound = MAX_TAIL_BYTES): TailBuffer {
  let kept = new Uint8Array(0);
  let isCut = false;
  return {
    add(piece) {
      const excess = Math.max(0, kept.length + piece.length - bound);
      isCut ||= excess > 0;
      const joined = new Uint8Array(Math.min(bound, kept.length + piece.length));
      const old = kept.subarray(Math.min(excess, kept.length));
      joined.set(old);
      joined.set(piece.subarray(piece.length - (joined.length - old.length)), old.length);
      kept = joined;
    },
    text: () => ({ text: new TextDecoder().decode(kept), isCut }),
  };
}
