/** Report of a failed scenario: the expected and the found state, when, and the last trace lines before. */
import { shortDuration } from "./scenarioTime.ts";

/** A deviation from the expectations or rules. */
export interface ScenarioFault {
  /** When the deviation was found. */
  readonly atMs: number;
  readonly expected: string;
  readonly found: string;
}

/** Input of a report. */
export interface ReportParts {
  readonly seed: string | number;
  readonly faults: readonly ScenarioFault[];
  /** Number of expectations. */
  readonly expected: number;
  /** All lines of the trace. */
  readonly lines: readonly string[];
}

/** Number of trace lines shown before the first fault. */
const REPORTED_LINES = 20;

/** Returns the report, faults in order of time. */
export function failureReport({ seed, faults, expected, lines }: ReportParts): string {
  const inTime = faults.toSorted((a, b) => a.atMs - b.atMs);
  const firstMs = inTime[0]?.atMs ?? 0;
  const before = lines.filter((line) => Number.parseFloat(line) * 1000 <= firstMs).slice(-REPORTED_LINES);
  return [
    `the scenario failed: ${faults.length} faults, ${expected} expectations, seed ${seed}`,
    ...inTime.flatMap((fault) => ["", ...paragraph(fault)]),
    "",
    `the last ${before.length} lines up to ${shortDuration(firstMs)}:`,
    ...before,
  ].join("\n");
}

const paragraph = ({ atMs, expected, found }: ScenarioFault): readonly string[] => [
  `expected  ${expected}`,
  `found     ${found}`,
  `when      ${shortDuration(atMs)}`,
];
