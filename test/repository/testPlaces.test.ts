import { existsSync, globSync } from "node:fs";
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const filesOf = (pattern: string): readonly string[] => globSync(pattern, { cwd: root });

/** Test files of a tree, each relative to the root of that tree, as its source is relative to `src`. */
const testsIn = (tree: string): readonly string[] =>
  filesOf(`${tree}/**/*.test.ts`).map((file) => file.slice(tree.length + 1));

const directoriesBySource = Map.groupBy(filesOf("src/**/*.ts"), (file) => basename(file, ".ts"));

/** Whether exactly one source file has the test's name and lies in another directory. */
const awayFromSource = (test: string): boolean => {
  const [source, ...others] = directoriesBySource.get(basename(test, ".test.ts")) ?? [];
  return source !== undefined && others.length === 0 && dirname(source) !== `src/${dirname(test)}`;
};

it.each(["test/unit", "test/marbles"])("%s mirrors src", (tree) => {
  const tests = testsIn(tree);
  expect(tests.length).toBeGreaterThan(0);
  expect(tests.filter((test) => !existsSync(`${root}src/${dirname(test)}`))).toEqual([]);
  expect(tests.filter(awayFromSource)).toEqual([]);
  expect(tests.filter((test) => dirname(test) === ".")).toEqual([]);
});
