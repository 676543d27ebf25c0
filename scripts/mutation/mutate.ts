/**
 * Mutation testing by sample: draws source files and one mutation of each from a seed, and runs the unit and marble
 * tests that reach the file. A mutation that no test notices is printed, to become a test. Mutations that the compiler
 * refuses count as caught; those that run into the time limit are printed and left out of the share, because a slow
 * machine looks the same as an endless loop. Ends with 1 below the aims.
 *
 * `npm run mutate -- --help` lists the options.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { execFileSync, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createPrng, type Prng } from "../../src/sim/prng.ts";
import { importersOf, nearestFirst, reaching } from "./importGraph.ts";
import { applied, type Mutation, mutationsOf } from "./mutations.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const DIRECTORIES = ["core", "pipelines", "operators", "sources", "sinks", "server", "streaming", "fileSystem"];
const AIM_PERCENT = 90;
const CORE_AIM_PERCENT = 95;
/** A mutation may make a loop endless. */
const TEST_LIMIT_MS = 300_000;
/** The compiler always ends: a mutant is not judged by a machine that is too busy for it. */
const COMPILE_LIMIT_MS = 900_000;
/** Test files that run first: most mutants fail in the closest ones, so the others need not run. */
const CLOSEST = 8;

interface Mutant {
  readonly file: string;
  readonly mutation: Mutation;
  readonly tests: readonly string[];
}

type Verdict = "caught" | "refused by the compiler" | "survived" | "ran out of time";

/** How a command ended. */
type Outcome = "passed" | "failed" | "ran out of time";

const isTest = (file: string): boolean => /^test\/(unit|marbles)\/.*\.test\.ts$/.test(file);

const trackedFiles = (): readonly string[] =>
  execFileSync("git", ["ls-files"], { cwd: ROOT, encoding: "utf8" }).trimEnd().split("\n");

const USAGE = `Usage: npm run mutate -- [options]

Draws files of ${DIRECTORIES.map((name) => `src/${name}`).join(", ")},
mutates each once, and runs the unit and marble tests that reach it.

  --seed N         draw of this number; default: from the time
  --count N        number of mutants; default: 50
  --only PREFIX    only files whose path starts so; default: src/
  --workers N      mutants at a time; default: 2
  --skip-baseline  skip the run of all tests without a mutation: only where they passed just before
  --help           print this text

Exit status: 0 if ${CORE_AIM_PERCENT} % of the mutants in src/core and ${AIM_PERCENT} % of all are caught, else 1.`;

/** Draws up to `count` files, one mutation of each. */
function drawMutants(prng: Prng, count: number, only: string): readonly Mutant[] {
  const files = trackedFiles().filter((file) => file.endsWith(".ts"));
  const importers = importersOf(ROOT, files);
  const candidates = files.filter(
    (file) => DIRECTORIES.some((directory) => file.startsWith(`src/${directory}/`)) && file.startsWith(only),
  );
  const mutants: Mutant[] = [];
  while (mutants.length < count && candidates.length > 0) {
    const [file = ""] = candidates.splice(prng.int(0, candidates.length - 1), 1);
    const mutations = mutationsOf(file, readFileSync(join(ROOT, file), "utf8"));
    if (mutations.length === 0) continue;
    const tests = nearestFirst(file, reaching(importers, file, isTest));
    mutants.push({ file, mutation: prng.pick(mutations), tests });
  }
  return mutants;
}

/** A copy of the tracked files, as they are in the working tree, with the same modules. */
function copyTree(): string {
  const copy = mkdtempSync(join(tmpdir(), "rxlet-mutate-"));
  for (const file of trackedFiles()) cpSync(join(ROOT, file), join(copy, file));
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  return copy;
}

/** Runs the command. At the limit its whole process group is killed. */
function outcomeOf(cwd: string, command: readonly string[], limitMs: number): Promise<Outcome> {
  const [program = "", ...args] = command;
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, stdio: "ignore", detached: true });
    let isLate = false;
    const end = setTimeout(() => {
      isLate = true;
      process.kill(-(child.pid ?? 0), "SIGKILL");
    }, limitMs);
    child.on("close", (code) => {
      clearTimeout(end);
      if (isLate) resolve("ran out of time");
      else resolve(code === 0 ? "passed" : "failed");
    });
  });
}

const runTests = (copy: string, tests: readonly string[]): Promise<Outcome> =>
  outcomeOf(copy, ["npx", "vitest", "run", "--project", "in memory", "--bail", "1", ...tests], TEST_LIMIT_MS);

const COMPILE = ["npx", "tsc", "--noEmit", "--incremental", "--tsBuildInfoFile", ".tsbuildinfo"];

async function judge(copy: string, { file, mutation, tests }: Mutant): Promise<Verdict> {
  const path = join(copy, file);
  const original = readFileSync(path, "utf8");
  writeFileSync(path, applied(original, mutation));
  try {
    for (const some of [tests.slice(0, CLOSEST), tests.slice(CLOSEST)]) {
      const outcome = some.length === 0 ? "passed" : await runTests(copy, some);
      if (outcome !== "passed") return outcome === "failed" ? "caught" : outcome;
    }
    const compiled = await outcomeOf(copy, COMPILE, COMPILE_LIMIT_MS);
    if (compiled === "ran out of time") return compiled;
    return compiled === "passed" ? "survived" : "refused by the compiler";
  } finally {
    writeFileSync(path, original);
  }
}

function print({ file, mutation, tests }: Mutant, verdict: Verdict): void {
  const { line, original, replacement } = mutation;
  const shown = (text: string): string => text.replaceAll(/\s+/g, " ").slice(0, 60);
  const edit = `${file}:${line}  ${shown(original)}  ->  ${shown(replacement)}`;
  console.log(`${verdict.padEnd(24)}${edit}  (${tests.length} test files)`);
}

/** Percent of the mutants that were noticed; prints it beside its aim. */
function share(name: string, verdicts: readonly Verdict[], aimPercent: number): boolean {
  const judged = verdicts.filter((verdict) => verdict !== "ran out of time");
  if (judged.length === 0) return true;
  const noticed = judged.filter((verdict) => verdict !== "survived").length;
  const percent = (100 * noticed) / judged.length;
  console.log(`${name.padEnd(12)}${noticed} of ${judged.length}, ${percent.toFixed(0)} % (aim ${aimPercent} %)`);
  return percent >= aimPercent;
}

/** Tests that fail without a mutation would catch every one. */
async function refuseBrokenTests(): Promise<void> {
  const copy = copyTree();
  try {
    const outcome = await runTests(copy, ["test/unit/", "test/marbles/"]);
    if (outcome !== "passed") throw new Error(`the tests ${outcome} without any mutation`);
  } finally {
    rmSync(copy, { recursive: true });
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seed: { type: "string", default: String(Date.now() % 100_000) },
      count: { type: "string", default: "50" },
      only: { type: "string", default: "src/" },
      workers: { type: "string", default: "2" },
      "skip-baseline": { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return console.log(USAGE);
  const mutants = drawMutants(createPrng(values.seed), Number(values.count), values.only);
  console.log(`seed ${values.seed}: ${mutants.length} mutants`);
  if (!values["skip-baseline"]) await refuseBrokenTests();
  const waiting = [...mutants];
  const verdicts = new Map<Mutant, Verdict>();
  const worker = async (): Promise<void> => {
    const copy = copyTree();
    try {
      for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
        const verdict = await judge(copy, mutant);
        verdicts.set(mutant, verdict);
        print(mutant, verdict);
      }
    } finally {
      rmSync(copy, { recursive: true });
    }
  };
  await Promise.all(Array.from({ length: Number(values.workers) }, worker));
  const inCore = mutants.filter(({ file }) => file.startsWith("src/core/"));
  const verdictsOf = (some: readonly Mutant[]) => some.flatMap((mutant) => verdicts.get(mutant) ?? []);
  const reached = [share("core", verdictsOf(inCore), CORE_AIM_PERCENT), share("all", verdictsOf(mutants), AIM_PERCENT)];
  if (reached.includes(false)) process.exitCode = 1;
}

await main();
