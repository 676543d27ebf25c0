/** Terminal sizes of a client, as JSON on the stream for them. Bound: `MAX_MESSAGE` bytes of a begun size. */
import type { Readable } from "node:stream";

/** Size of a terminal in characters. */
export interface TerminalSize {
  readonly rows: number;
  readonly columns: number;
}

const MAX_SIZE = 65_535;
const MAX_MESSAGE = 1024;

/** Calls `resize` for each size, one after the other; of several at once only the last counts. */
export async function followSizes(sizes: Readable, resize: (size: TerminalSize) => Promise<void>): Promise<void> {
  let text = "";
  for await (const chunk of sizes) {
    text = `${text}${String(chunk)}`;
    const last = text.match(/\{[^{}]*\}/g)?.at(-1);
    text = text.slice(text.lastIndexOf("}") + 1).slice(-MAX_MESSAGE);
    const size = last === undefined ? undefined : parseSize(last);
    if (size !== undefined) await resize(size);
  }
}

/** Parses a TerminalSize of the remote command protocol; undefined if invalid. */
export function parseSize(text: string): TerminalSize | undefined {
  try {
    const { Width: columns, Height: rows } = JSON.parse(text) as {
      readonly Width?: unknown;
      readonly Height?: unknown;
    };
    return isSize(columns) && isSize(rows) ? { rows, columns } : undefined;
  } catch {
    return undefined;
  }
}

const isSize = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value > 0 && value <= MAX_SIZE;
