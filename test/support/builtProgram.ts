/** The program as it is installed: bundled, which halves the CPU of each start. Suites with daemons and benchmarks run it. */
import { copyFile, cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { program } from "../../rolldown.config.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TEST_FOLDER = join(ROOT, "node_modules/.cache/rxlet");

/** Main module of the program that the suites with daemons run. */
export const BUILT_MAIN = join(TEST_FOLDER, "dist/main.js");

/** Bundles into `folder`, with the files that the program finds beside itself; returns the command. */
export async function buildProgram(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await build({ ...program, cwd: ROOT, output: { ...program.output, dir: join(folder, "dist") } });
  await copyFile(join(ROOT, "package.json"), join(folder, "package.json"));
  for (const part of ["bin", "examples"]) await cp(join(ROOT, part), join(folder, part), { recursive: true });
  return join(folder, "bin/rxlet.js");
}

/** The build of this run. Several projects of a run share it, and each loads this module anew. */
const built = globalThis as { rxletBuilt?: Promise<string> };

/** Vitest's global setup of the suites with daemons. */
export async function setup(): Promise<void> {
  await (built.rxletBuilt ??= buildProgram(TEST_FOLDER));
}
