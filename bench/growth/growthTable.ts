/** Figures of a node at growing numbers of one thing, and their table. */
import type { Daemon } from "../../test/support/daemon.ts";
import type { BenchApiServer } from "../apiServer.ts";

/** The measured node. */
export interface GrowingNode {
  readonly api: BenchApiServer;
  readonly daemon: Daemon;
}

/** The figures of a step by their labels, in the order of the table. */
export type StepFigures = ReadonlyMap<string, number>;

/** A thing whose number grows. */
export interface Growth {
  readonly of: string;
  /** Measures the node at each number, and leaves it without the thing. */
  measure(node: GrowingNode, steps: readonly number[]): Promise<readonly StepFigures[]>;
}

/** Returns `prefix-from` to `prefix-(to - 1)`. */
export const namesBetween = (prefix: string, from: number, to: number): readonly string[] =>
  Array.from({ length: to - from }, (_, index) => `${prefix}-${from + index}`);

const LABEL_WIDTH = 44;

/** Prints a row for each figure. */
export function printGrowth(
  { of }: Pick<Growth, "of">,
  steps: readonly number[],
  measured: readonly StepFigures[],
): void {
  const row = (label: string, cells: readonly string[]): void =>
    console.log(`${label.padEnd(LABEL_WIDTH)}${cells.map((cell) => cell.padStart(10)).join("")}`);
  console.log("");
  row(of, [...steps.map(String), "growth"]);
  for (const label of measured[0]?.keys() ?? []) {
    const values = measured.map((figures) => figures.get(label) ?? Number.NaN);
    const growth = growthOf(values) / growthOf(steps);
    row(label, [...values.map((value) => value.toFixed(1)), growth.toFixed(2)]);
  }
}

const growthOf = (values: readonly number[]): number => (values.at(-1) ?? Number.NaN) / (values[0] ?? Number.NaN);
