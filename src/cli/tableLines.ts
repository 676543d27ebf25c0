/** Rows of pods as aligned lines under a header line. Pure. */
import type { PodRow } from "../core/pod/podRow.ts";

const TITLES = ["NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP"] as const;
const GAP = "   ";
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f]/g;

/** Text that cannot move the cursor. */
export const printable = (text: string): string => text.replace(UNPRINTABLE, "?");

/** The name, with its namespace where it is not the default one. */
export const shownName = ({ namespace, name }: PodRow): string =>
  printable(namespace === "default" ? name : `${namespace}/${name}`);

/** Orders rows by namespace, then name. */
export const byName = (a: PodRow, b: PodRow): number =>
  a.namespace === b.namespace ? compared(a.name, b.name) : compared(a.namespace, b.namespace);

const compared = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Cells joined into lines; every column as wide as its widest cell, no blanks at line ends. */
function alignedLines(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows.reduce<readonly number[]>(
    (widest, row) => row.map((cell, index) => Math.max(cell.length, widest[index] ?? 0)),
    [],
  );
  return rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
}

/** The whole table; a sentence instead of it without pods. */
export function tableLines(rows: readonly PodRow[]): readonly string[] {
  if (rows.length === 0) return ["No pods yet."];
  const cells = rows.map((row) => [
    shownName(row),
    row.ready,
    printable(row.status),
    row.restarts,
    row.age,
    printable(row.ip),
  ]);
  return alignedLines([TITLES, ...cells]);
}
