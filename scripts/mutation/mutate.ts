/**
 * Mutation testing by sample: draws source files and one mutation of each from a seed, and runs the unit and marble
 * tests that reach the file. A mutation that no test notices is printed, to become a test. Mutations that the compiler
 * refuses count as caught. Ends with 1 below the aims.
 *
 *     npm run mutate -- [--seed N] [--count N] [--only PREFIX]
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { execFileSync, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createPrng, type Prng } from "../../src/sim/prng.ts";
import { importersOf, reaching } from "./importGraph.ts";
import { applied, type Mutation, mutationsOf } from "./mutations.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const ROOMS = ["core", "pipelines", "operators", "sources", "sinks"];
const AIM_PERCENT = 90;
const CORE_AIM_PERCENT = 95;
/** A mutation may make a loop endless. */
const TEST_LIMIT_MS = 300_000;
/** The compiler always ends: a mutant is not judged by a machine that is too busy for it. */
const COMPILE_LIMIT_MS = 900_000;
const WORKERS = 2;

interface Mutant {
  readonly file: string;
  readonly mutation: Mutation;
  readonly tests: readonly string[];
}

type Verdict = "caught" | "refused by the compiler" | "survived";

const isTest = (file: string): boolean => /^test\/(unit|marbles)\/.*\.test\.ts$/.test(file);

const trackedFiles = (): readonly string[] =>
  execFileSync("git", ["ls-files"], { cwd: ROOT, encoding: "utf8" }).trimEnd().split("\n");

/** Draws up to `count` files, one mutation of each. */
function drawMutants(prng: Prng, count: number, only: string): readonly Mutant[] {
  const files = trackedFiles().filter((file) => file.endsWith(".ts"));
  const importers = importersOf(ROOT, files);
  const candidates = files.filter(
    (file) => ROOMS.some((room) => file.startsWith(`src/${room}/`)) && file.startsWith(only),
  );
  const mutants: Mutant[] = [];
  while (mutants.length < count && candidates.length > 0) {
    const [file = ""] = candidates.splice(prng.int(0, candidates.length - 1), 1);
    const mutations = mutationsOf(file, readFileSync(join(ROOT, file), "utf8"));
    if (mutations.length === 0) continue;
    mutants.push({ file, mutation: prng.pick(mutations), tests: reaching(importers, file, isTest) });
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

/** Whether the command ends with 0 within the limit. Its whole process group ends with it. */
function succeeds(cwd: string, command: readonly string[], limitMs: number): Promise<boolean> {
  const [program = "", ...args] = command;
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, stdio: "ignore", detached: true });
    const end = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), limitMs);
    child.on("close", (code) => {
      clearTimeout(end);
      resolve(code === 0);
    });
  });
}

async function judge(copy: string, { file, mutation, tests }: Mutant): Promise<Verdict> {
  const path = join(copy, file);
  const original = readFileSync(path, "utf8");
  writeFileSync(path, applied(original, mutation));
  try {
    const runner = ["npx", "vitest", "run", "--project", "in memory", "--bail", "1", ...tests];
    if (tests.length > 0 && !(await succeeds(copy, runner, TEST_LIMIT_MS))) return "caught";
    return (await succeeds(copy, ["npx", "tsc", "--noEmit"], COMPILE_LIMIT_MS))
      ? "survived"
      : "refused by the compiler";
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
  if (verdicts.length === 0) return true;
  const noticed = verdicts.filter((verdict) => verdict !== "survived").length;
  const percent = (100 * noticed) / verdicts.length;
  console.log(`${name.padEnd(12)}${noticed} of ${verdicts.length}, ${percent.toFixed(0)} % (aim ${aimPercent} %)`);
  return percent >= aimPercent;
}

/** Tests that fail without a mutation would catch every one. */
async function refuseBrokenTests(): Promise<void> {
  const copy = copyTree();
  try {
    const runner = ["npx", "vitest", "run", "--project", "in memory", "test/unit/", "test/marbles/"];
    if (!(await succeeds(copy, runner, TEST_LIMIT_MS))) throw new Error("the tests fail without any mutation");
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
    },
  });
  const mutants = drawMutants(createPrng(values.seed), Number(values.count), values.only);
  console.log(`seed ${values.seed}: ${mutants.length} mutants`);
  await refuseBrokenTests();
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
  await Promise.all(Array.from({ length: WORKERS }, worker));
  const inCore = mutants.filter(({ file }) => file.startsWith("src/core/"));
  const verdictsOf = (some: readonly Mutant[]) => some.flatMap((mutant) => verdicts.get(mutant) ?? []);
  const reached = [share("core", verdictsOf(inCore), CORE_AIM_PERCENT), share("all", verdictsOf(mutants), AIM_PERCENT)];
  if (reached.includes(false)) process.exitCode = 1;
}

await main();
