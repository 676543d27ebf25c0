/** Divides a terminal between the header, the table of pods and the problems below it. Pure. */
import type { ManifestProblem } from "../core/pod/sourceSnapshot.ts";
import { fitLines, type TerminalSize } from "./drawBlock.ts";
import { problemBlock } from "./problemLines.ts";

/** The part of the screen that problems get even when there are more pods than rows. */
const PROBLEM_SHARE = 1 / 3;
/** The part of the screen that the header gets at most when the table and the problems need the rest. */
const HEAD_SHARE = 1 / 2;
/** How to see the pods that the table leaves out. */
const ALL_PODS = ': "get pods" lists all';

/**
 * All lines, top to bottom; `head` returns the header in at most so many rows. Problems take the rows that the table leaves, and a third of the screen at least; a table
 * that is shortened for them ends in a line that counts the pods left out.
 */
export function screenLines(
  head: (rows: number) => readonly string[],
  table: readonly string[],
  { problems, manifests }: { readonly problems: readonly ManifestProblem[]; readonly manifests: string },
  size: TerminalSize,
): readonly string[] {
  // The cursor rests on the line below everything.
  const height = size.rows - 1;
  const needed = table.length + (problems.length === 0 ? 0 : Math.floor(height * PROBLEM_SHARE) + 1);
  const above = [...head(Math.max(Math.floor(height * HEAD_SHARE), height - needed - 1)), ""];
  const left = height - above.length - table.length - 1;
  const rows = Math.max(left, Math.floor(height * PROBLEM_SHARE));
  const block = problemBlock(problems, manifests, { columns: size.columns, rows });
  const below = block.length === 0 ? [] : ["", ...block];
  const rowsLeft = height - above.length - below.length;
  const shown = fitLines(table, { columns: size.columns, rows: Math.max(2, rowsLeft) + 1 }, ALL_PODS);
  return [...above, ...shown, ...below];
}
