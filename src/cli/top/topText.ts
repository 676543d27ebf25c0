/**
 * Texts of a node for a terminal: printable and bounded. Pure. Bounds: MAX_CELL characters of a cell; of a page MAX_PAGE
 * characters, MAX_LINES lines and MAX_LINE characters of each.
 */
import { stripVTControlCharacters } from "node:util";
import { alignedLines, printable } from "../tableLines.ts";

export const MAX_CELL = 400;
export const MAX_PAGE = 1_048_576;
export const MAX_LINES = 1_000;
export const MAX_LINE = 2_000;

const ELLIPSIS = "\u2026";
const GAP = "  ";
const TAB = "    ";

/** Characters that have no width or reorder the text around them. */
const UNSEEN = /[\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** Returns a text that shows in the order of its characters, at most `most` of them. */
export function shown(text: string, most = MAX_CELL): string {
  const cut = text.length <= most ? text : `${text.slice(0, most - 1)}${ELLIPSIS}`;
  return printable(cut).replace(UNSEEN, "?");
}

/** Returns a number with its noun: `1 image`, `2 images`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Returns aligned lines of shown cells. */
export const shownTable = (rows: readonly (readonly string[])[]): readonly string[] =>
  alignedLines(
    rows.map((row) => row.map((cell) => shown(cell))),
    GAP,
  );

/** Returns the lines of a page; a page that is too long loses its beginning or its end. */
export function pageLines(text: string, keeps: "beginning" | "end"): readonly string[] {
  const isLast = keeps === "end";
  const lines = (isLast ? text.slice(-MAX_PAGE) : text.slice(0, MAX_PAGE)).split("\n");
  if (lines.at(-1) === "") lines.pop();
  const kept = isLast ? lines.slice(-MAX_LINES) : lines.slice(0, MAX_LINES);
  return kept.map((line) => shown(plain(line), MAX_LINE));
}

/** Removes colours, the end of a line of other systems, and tabs, which would break the lines of the screen. */
const plain = (line: string): string =>
  stripVTControlCharacters(line.endsWith("\r") ? line.slice(0, -1) : line).replaceAll("\t", TAB);

/** Returns each line as rows of at most `columns` characters. */
export function wrappedLines(lines: readonly string[], columns: number): readonly string[] {
  const width = Math.max(MIN_WIDTH, columns);
  return lines.flatMap((line) => {
    if (line.length <= width) return [line];
    return Array.from({ length: Math.ceil(line.length / width) }, (_, at) => line.slice(at * width, (at + 1) * width));
  });
}

/** A narrower screen shows the beginning of each row. */
const MIN_WIDTH = 20;
