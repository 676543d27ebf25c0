/** Measures kubelets in turns and prints their figures as a table. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildProgram } from "../../test/support/builtProgram.ts";
import { removeFolder } from "../../test/support/removeFolder.ts";
import { median, percentile } from "../figures.ts";
import { cpuPercent, memoryMib } from "../processUse.ts";
import type { Candidate } from "./measuredKubelet.ts";

/** A value for each label, in the order of the table. */
export type Figures = Map<string, number>;

/** A pod stays this long before the next, so that nothing of its start is under way any more. */
export const SETTLE_MS = 400;
/** Time over which the CPU of an idle kubelet is measured. */
const IDLE_MS = 30_000;

/** Returns `prefix-0`, `prefix-1` and so on. */
export const namesOf = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

/** Adds median and 99th percentile. */
export function note(figures: Figures, label: string, values: readonly number[], unit = "ms"): void {
  figures.set(`${label}, p50 (${unit})`, median(values));
  figures.set(`${label}, p99 (${unit})`, percentile(values, 99));
}

/** Resident memory of a process now. */
export function noteMemory(figures: Figures, label: string, pid: number): void {
  const { rss, anonymous } = memoryMib(pid);
  figures.set(`${label}, RSS (MiB)`, rss);
  figures.set(`${label}, anonymous (MiB)`, anonymous);
}

/** CPU time of a process over the next half minute. */
export async function noteCpu(figures: Figures, label: string, pid: number): Promise<void> {
  figures.set(`${label}, CPU (% of a core)`, await cpuPercent(pid, IDLE_MS));
}

/** Measures rxlet and, where its program is given, upstream's kubelet in turns; prints the medians of all runs. */
export async function compareKubelets(
  { upstream, runs }: { readonly upstream: string | undefined; readonly runs: number },
  measured: (candidate: Candidate) => Promise<Figures>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "rxlet-program-"));
  try {
    const ours = { name: "rxlet", command: [process.execPath, await buildProgram(folder)] };
    const theirs = upstream === undefined ? [] : [{ name: "upstream", command: [upstream] }];
    const results = new Map<string, Figures[]>();
    for (let run = 0; run < runs; run += 1) {
      for (const candidate of [ours, ...theirs]) {
        console.error(`run ${run + 1}: ${candidate.name}`);
        const figures = await measured(candidate);
        results.set(candidate.name, [...(results.get(candidate.name) ?? []), figures]);
      }
    }
    printTable(results);
  } finally {
    await removeFolder(folder);
  }
}

const LABEL_WIDTH = 52;

function printTable(results: ReadonlyMap<string, readonly Figures[]>): void {
  const names = [...results.keys()];
  const labels = [...(results.get(names[0] ?? "")?.[0]?.keys() ?? [])];
  const cell = (text: string): string => text.padStart(12);
  console.log(`\n${"figure".padEnd(LABEL_WIDTH)}${names.map(cell).join("")}${names.length > 1 ? cell("ratio") : ""}`);
  for (const label of labels) {
    const values = names.map((name) => median((results.get(name) ?? []).map((run) => run.get(label) ?? Number.NaN)));
    const [ours = Number.NaN, theirs] = values;
    const ratio = theirs === undefined ? "" : cell((ours / theirs).toFixed(2));
    console.log(`${label.padEnd(LABEL_WIDTH)}${values.map((value) => cell(value.toFixed(1))).join("")}${ratio}`);
  }
}
