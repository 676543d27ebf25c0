/** Rows of pods as aligned lines under a header line. Pure. */
import type { Pod } from "../core/api.ts";
import type { EpochMs } from "../core/ids.ts";
import { type PodRow, podRow } from "../core/pod/podRow.ts";

const TITLES = ["NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP"] as const;
const GAP = "   ";
const NARROW_GAP = " ";
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

/** Returns cells joined into lines; every column as wide as its widest cell, no blanks at line ends. */
export function alignedLines(rows: readonly (readonly string[])[], gap: string): readonly string[] {
  const widths = rows.reduce<readonly number[]>(
    (widest, row) => row.map((cell, index) => Math.max(cell.length, widest[index] ?? 0)),
    [],
  );
  return rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join(gap)
      .trimEnd(),
  );
}

/** The row of a pod; one that is removed says so until it has gone, however its containers ended. */
export function devRow(pod: Pod, now: EpochMs): PodRow {
  const row = podRow(pod, now);
  return pod.metadata.deletionTimestamp === undefined ? row : { ...row, status: "Terminating" };
}

/** A name is not cut shorter than this. */
const MIN_NAME = 12;
const ELLIPSIS = "\u2026";

/**
 * The whole table; a sentence instead of it without pods. Where `columns` are too few, it does without the time of
 * restarts, then without ages, then has narrow gaps and cuts long names.
 */
export function tableLines(rows: readonly PodRow[], columns = Number.POSITIVE_INFINITY): readonly string[] {
  if (rows.length === 0) return ["No pods yet."];
  const table = (restarts: (row: PodRow) => string, hasAge: boolean, nameWidth: number, gap = GAP) => {
    const titles = TITLES.filter((title) => hasAge || title !== "AGE");
    const cells = rows.map((row) => [
      ...[cut(shownName(row), nameWidth), row.ready, printable(row.status), restarts(row)],
      ...(hasAge ? [row.age] : []),
      printable(row.ip),
    ]);
    return alignedLines([titles, ...cells], gap);
  };
  const widthOf = (lines: readonly string[]): number => Math.max(...lines.map(({ length }) => length));
  const longest = Math.max(...rows.map((row) => shownName(row).length));
  const count = ({ restartCount }: PodRow): string => String(restartCount);
  const whole = table(({ restarts }) => restarts, true, longest);
  if (widthOf(whole) <= columns) return whole;
  const shorter = table(count, true, longest);
  if (widthOf(shorter) <= columns) return shorter;
  const ageless = table(count, false, longest);
  if (widthOf(ageless) <= columns) return ageless;
  const tight = table(count, false, longest, NARROW_GAP);
  const excess = Math.max(0, widthOf(tight) - columns);
  return table(count, false, Math.max(MIN_NAME, longest - excess), NARROW_GAP);
}

const cut = (name: string, width: number): string =>
  name.length <= width ? name : `${name.slice(0, width - 1)}${ELLIPSIS}`;
