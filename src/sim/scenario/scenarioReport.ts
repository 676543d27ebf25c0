/** A failed scenario, for people: what was expected, what was there and when, and the lines before it. */
import { shortDuration } from "./scenarioTime.ts";

/** Something that is not as it should be. */
export interface ScenarioFault {
  /** When it showed. */
  readonly atMs: number;
  readonly expected: string;
  readonly found: string;
}

/** What a report is made of. */
export interface ReportParts {
  readonly seed: string | number;
  readonly faults: readonly ScenarioFault[];
  /** How many expectations there were. */
  readonly expected: number;
  /** The whole trace. */
  readonly lines: readonly string[];
}

/** Lines told before the first fault. */
const TOLD_LINES = 20;

/** The text; faults in the order of their time. */
export function failureReport({ seed, faults, expected, lines }: ReportParts): string {
  const inTime = faults.toSorted((a, b) => a.atMs - b.atMs);
  const firstMs = inTime[0]?.atMs ?? 0;
  const before = lines.filter((line) => Number.parseFloat(line) * 1000 <= firstMs).slice(-TOLD_LINES);
  return [
    `the scenario went otherwise: ${faults.length} faults, ${expected} expectations, seed ${seed}`,
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
