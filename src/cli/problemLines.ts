/**
 * Formats problems of manifests: a block under the live table on a terminal, lines for a pipe. Pure.
 */
import type { EpochMs } from "../core/ids.ts";
import { originWithin, problemText } from "../core/pod/manifest/problemText.ts";
import type { ManifestProblem } from "../core/pod/sourceSnapshot.ts";
import { formatInstant } from "../core/time/civilTime.ts";
import { wrapText } from "./wrapText.ts";

/** Lines one problem may take; a longer text ends in an ellipsis. */
const MAX_LINES_EACH = 4;
const LABEL_WIDTH = "warning".length;
const INDENT = "  ";
/** How to see the problems left out. */
const MORE = 'a taller terminal shows them, "explain POD" those of one pod';

/**
 * The block: a title, then errors before warnings, wrapped to the width. At most `rows` lines; the last one counts the
 * problems left out. Empty without problems.
 */
export function problemBlock(
  problems: readonly ManifestProblem[],
  manifests: string,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): readonly string[] {
  if (problems.length === 0 || rows < 1) return [];
  const bySeverity = (severity: ManifestProblem["severity"]) => problems.filter((each) => each.severity === severity);
  const blocks = [...bySeverity("error"), ...bySeverity("warning")].map((problem) =>
    problemRows(problem, manifests, columns),
  );
  const lines = ["Problems"];
  for (const [index, block] of blocks.entries()) {
    const rest = blocks.length - index;
    // The line that counts the rest needs a row, unless this is the last problem.
    const rowsLeft = rows - lines.length - (rest > 1 ? 1 : 0);
    if (block.length > rowsLeft) {
      return [...lines, `${INDENT}... and ${rest} more: ${MORE}`]
        .map((line) => line.slice(0, Math.max(1, columns)))
        .slice(0, rows);
    }
    lines.push(...block);
  }
  return lines;
}

function problemRows(problem: ManifestProblem, manifests: string, columns: number): readonly string[] {
  const label = `${INDENT}${problem.severity.padEnd(LABEL_WIDTH)}  `;
  const text = wrapText(textOf(problem, manifests), columns - label.length, MAX_LINES_EACH);
  return text.map((line, index) => `${index === 0 ? label : " ".repeat(label.length)}${line}`);
}

const textOf = (problem: ManifestProblem, manifests: string): string =>
  problemText(problem, originWithin(manifests, problem.origin));

/** The problems last printed, by their text, and the lines about changes. */
export interface ProblemLines {
  readonly said: ReadonlyMap<string, ManifestProblem>;
  readonly text: readonly string[];
}

/** The state before any problem was printed. */
export const NO_PROBLEM_LINES: ProblemLines = { said: new Map(), text: [] };

/** The wording of a problem, without the line number, which moves with edits elsewhere in the file. */
const wordingOf = ({ severity, origin, field, reason }: ManifestProblem): string =>
  [severity, origin, field, reason].join("\0");

/** Returns the problems by their text; the same text on several lines of a manifest counts as several problems. */
function byWording(problems: readonly ManifestProblem[]): ReadonlyMap<string, ManifestProblem> {
  const counts = new Map<string, number>();
  return new Map(
    problems.map((problem) => {
      const wording = wordingOf(problem);
      const count = (counts.get(wording) ?? 0) + 1;
      counts.set(wording, count);
      return [`${wording}\0${count}`, problem];
    }),
  );
}

const placeOf = ({ origin, field }: ManifestProblem): string => `${origin}\0${field}`;

/** Returns the lines to print next: one per problem that is new, changed or resolved. */
export function changedProblems(
  { said }: ProblemLines,
  problems: readonly ManifestProblem[],
  manifests: string,
  now: EpochMs,
): ProblemLines {
  const at = formatInstant(now);
  const line = (label: string, text: string): string => `${at}  ${label.padEnd(LABEL_WIDTH + 1)}  ${text}`;
  const current = byWording(problems);
  const places = new Set(problems.map(placeOf));
  const fresh = [...current]
    .filter(([key]) => !said.has(key))
    .map(([, problem]) => line(problem.severity, textOf(problem, manifests)));
  // A problem whose place has another one now was replaced, not resolved.
  const resolved = [...said]
    .filter(([key, problem]) => !current.has(key) && !places.has(placeOf(problem)))
    .map(([, problem]) => line("resolved", textOf(problem, manifests)));
  return { said: current, text: [...fresh, ...resolved] };
}
