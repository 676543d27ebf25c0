/** Figures of repeated measurements, and how they are printed: one line each, beside the aim if there is one. */

/** The value that `percent` of the values do not exceed (nearest rank); NaN of none. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => percentile(values, 50);

/** Prints p50, p99 and max of a measurement, in its own unit. */
export function printRow(label: string, values: readonly number[], note = ""): void {
  const cells = [median(values), percentile(values, 99), Math.max(...values)];
  console.log(`${label.padEnd(62)}${cells.map(cell).join("")}  ${note}`.trimEnd());
}

/** Prints the title of a block with the columns of `printRow`. */
export function printTitle(title: string): void {
  console.log(`\n${title.padEnd(62)}${["p50", "p99", "max"].map((name) => name.padStart(9)).join("")}`);
}

/** Prints a single figure. */
export function printFigure(label: string, value: number, unit: string, note = ""): void {
  console.log(`${label.padEnd(62)}${cell(value)} ${unit.padEnd(6)} ${note}`.trimEnd());
}

const cell = (value: number): string => value.toFixed(1).padStart(9);

/** Wall time in milliseconds, finer than Date: comparable with the runtime's log on the same machine. */
export const wallMs = (): number => performance.timeOrigin + performance.now();
