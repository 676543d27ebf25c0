/**
 * Creates directories with their missing parents. Node's `recursive` option never returns where the kernel answers that
 * a new name is missing, as in /proc: a hostPath there would occupy a thread for ever. Bound: each name of the path is
 * tried twice.
 */
import * as fs from "node:fs";
import { dirname } from "node:path";
import { errnoOf } from "../core/ioError.ts";

/** The outcome of one attempt; `missing` has the error of a missing parent. */
type Attempt = "made" | "exists" | { readonly missing: unknown };

/** Yields the paths to try: upwards until one exists or is made, then down again. Returns whether the last was made. */
function* attempts(path: string): Generator<string, boolean, Attempt> {
  const missing: string[] = [];
  let last = yield path;
  for (let at = path; typeof last === "object"; last = yield at) {
    missing.push(at);
    if (dirname(at) === at) throw last.missing;
    at = dirname(at);
  }
  for (const below of missing.reverse()) {
    last = yield below;
    if (typeof last === "object") throw last.missing;
  }
  return last === "made";
}

/** Classifies the error of mkdir(2); throws those that end the work. `isDirectory`: whether the path leads to one. */
function failed(thrown: unknown, isDirectory: () => boolean): Attempt {
  if (errnoOf(thrown) === "ENOENT") return { missing: thrown };
  if (errnoOf(thrown) === "EEXIST" && isDirectory()) return "exists";
  throw thrown;
}

/**
 * Creates the directory and its missing parents with this mode, less the umask. Returns whether it was created; an
 * existing directory, or a link to one, is left as it is. Errors: those of mkdir(2).
 */
export async function makeDirectories(path: string, mode: number): Promise<boolean> {
  const steps = attempts(path);
  for (let step = steps.next(); ; ) {
    if (step.done === true) return step.value;
    const at = step.value;
    const attempt = await fs.promises.mkdir(at, { mode }).then(
      (): Attempt => "made",
      async (thrown: unknown): Promise<Attempt> => {
        const found = await fs.promises.stat(at).catch(() => undefined);
        return failed(thrown, () => found?.isDirectory() === true);
      },
    );
    step = steps.next(attempt);
  }
}

/** Same as `makeDirectories`, blocking. */
export function makeDirectoriesSync(path: string, mode: number): boolean {
  const steps = attempts(path);
  for (let step = steps.next(); ; ) {
    if (step.done === true) return step.value;
    const at = step.value;
    step = steps.next(tryToMake(at, mode));
  }
}

function tryToMake(path: string, mode: number): Attempt {
  try {
    fs.mkdirSync(path, { mode });
    return "made";
  } catch (thrown) {
    return failed(thrown, () => fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true);
  }
}
