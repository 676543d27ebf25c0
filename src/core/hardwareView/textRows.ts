/** Lines of text for terminals of any width. */
import { oneLine } from "../telemetry/plainText.ts";

/** Where a row goes. `indent`: of its second and later lines. */
export interface RowShape {
  readonly columns: number;
  readonly indent: number;
}

/** A longer row is cut: ten thousand devices would fill the terminal. */
const MAX_LINES = 6;

/**
 * Returns the text in lines of at most `columns` characters, broken after spaces and commas, and inside of a word that is
 * longer than a line. A text of more than MAX_LINES lines ends with `…`.
 */
export function wrapped(text: string, { columns, indent }: RowShape): readonly string[] {
  const lines: string[] = [];
  let line = "";
  const room = Math.max(1, columns - indent);
  const limit = (MAX_LINES + 1) * columns;
  for (const word of wordsOf(oneLine(text).slice(0, limit), room)) {
    if (line.trim() !== "" && (line + word).trimEnd().length > columns) {
      lines.push(line.trimEnd());
      line = " ".repeat(indent) + word.trimStart();
    } else line += word;
  }
  if (line.trim() !== "") lines.push(line.trimEnd());
  if (lines.length <= MAX_LINES) return lines;
  const kept = lines.slice(0, MAX_LINES);
  const last = kept.pop() ?? "";
  return [...kept, `${last.slice(0, columns - 2).trimEnd()} …`];
}

const wordsOf = (text: string, room: number): readonly string[] =>
  (text.match(/\s*[^\s,]*,?/g) ?? []).flatMap((word) => {
    if (word.trimStart().length <= room) return [word];
    const parts: string[] = [];
    for (let at = 0; at < word.length; at += room) parts.push(word.slice(at, at + room));
    return parts;
  });

/** Width up to which owners stand in one column. */
const OWNER_COLUMN = 24;

/** Returns what is owned and its owner: side by side, or below each other where that does not fit. */
export function ownedRow(what: string, owner: string, { columns, indent }: RowShape): readonly string[] {
  const left = " ".repeat(indent) + oneLine(what);
  const row = `${left.padEnd(Math.min(OWNER_COLUMN, Math.floor(columns / 2)))}  ${oneLine(owner)}`;
  if (row.length <= columns) return [row];
  const below = indent + 4;
  return [
    ...wrapped(left, { columns, indent: indent + 2 }),
    ...wrapped(" ".repeat(below) + owner, { columns, indent: below + 2 }),
  ];
}

/** Returns a line about items that are left out; none for 0. */
export const moreRow = (count: number, indent: number): readonly string[] =>
  count <= 0 ? [] : [`${" ".repeat(indent)}and ${count} more`];
