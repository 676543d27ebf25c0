/** The imports among our own files: which tests reach a source, the closest first. */
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const IMPORT = /(?:from|import\()\s*"(\.[^"]+)"/g;

/** Maps each file to the files that import it. Paths are relative to `root`. */
export function importersOf(root: string, files: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const importers = new Map<string, string[]>();
  for (const file of files) {
    const text = readFileSync(join(root, file), "utf8");
    for (const [, path = ""] of text.matchAll(IMPORT)) {
      const imported = join(dirname(file), path);
      if (!existsSync(join(root, imported))) continue;
      const list = importers.get(imported) ?? [];
      importers.set(imported, [...list, file]);
    }
  }
  return importers;
}

/** The files that reach `target` by imports and satisfy `isWanted`, fewest steps first. */
export function reaching(
  importers: ReadonlyMap<string, readonly string[]>,
  target: string,
  isWanted: (file: string) => boolean,
): readonly string[] {
  const seen = new Set([target]);
  for (const file of seen) {
    for (const importer of importers.get(file) ?? []) seen.add(importer);
  }
  return [...seen].filter(isWanted);
}

/** The tests of a source, its own first, then those of its directory, then the others; equal ones keep their order. */
export function nearestFirst(source: string, tests: readonly string[]): readonly string[] {
  const directory = dirname(source).replace(/^src\//, "/");
  const rank = (test: string): number => {
    if (!dirname(test).endsWith(directory)) return 2;
    return basename(test) === `${basename(source, ".ts")}.test.ts` ? 0 : 1;
  };
  return tests.toSorted((a, b) => rank(a) - rank(b));
}
