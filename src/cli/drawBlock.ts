/**
 * A block of lines redrawn in place with plain ANSI sequences. Pure: what is on the screen is a value. Lines are
 * overwritten and their rest erased, never cleared first, so nothing flickers; lines are cut to the screen, so a
 * redraw knows how far up it starts even after the terminal became narrower.
 */

/** Size of a terminal in characters. */
export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** The lines on the screen, and the text that wrote them. */
export interface DrawnBlock {
  readonly lines: readonly string[];
  readonly columns: number;
  readonly output: string;
}

/** An empty block. */
export const EMPTY_BLOCK: DrawnBlock = { lines: [], columns: 0, output: "" };

const ERASE_LINE_END = "\u001b[K";
const ERASE_BELOW = "\u001b[J";
const up = (count: number): string => (count === 0 ? "" : `\u001b[${count}A`);

/**
 * Cuts lines to the screen: too wide ones end in an ellipsis, too many end in a line that counts the rest and says how
 * to see it.
 */
export function fitLines(lines: readonly string[], { columns, rows }: TerminalSize, how = ""): readonly string[] {
  const width = Math.max(1, columns);
  // The cursor rests on the line below the block.
  const height = Math.max(1, rows - 1);
  const kept =
    lines.length <= height ? lines : [...lines.slice(0, height - 1), `... ${lines.length - height + 1} more${how}`];
  return kept.map((line) => (line.length <= width ? line : `${line.slice(0, width - 1)}\u2026`));
}

/** Screen rows the block takes now: after a resize the terminal may have wrapped its lines. */
function heightOn({ lines }: DrawnBlock, { columns, rows }: TerminalSize): number {
  const wrapped = lines.map((line) => Math.max(1, Math.ceil(line.length / Math.max(1, columns))));
  // The cursor cannot go above the screen.
  return Math.min(
    wrapped.reduce((sum, height) => sum + height, 0),
    Math.max(0, rows - 1),
  );
}

/** The block after drawing `lines`; the same object when the screen shows them already. */
export function drawBlock(before: DrawnBlock, lines: readonly string[], size: TerminalSize): DrawnBlock {
  const fitted = fitLines(lines, size);
  const isSame =
    before.columns === size.columns &&
    before.lines.length === fitted.length &&
    before.lines.every((line, index) => line === fitted[index]);
  if (isSame) return before;
  const body = fitted.map((line) => `${line}${ERASE_LINE_END}\n`).join("");
  return {
    lines: fitted,
    columns: size.columns,
    output: `${before.lines.length === 0 ? "" : "\r"}${up(heightOn(before, size))}${body}${ERASE_BELOW}`,
  };
}
