import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { cgroupsBelow, withDescendants } from "../../../src/sinks/cgroupTrees.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";

const folder = temporaryDirectory();

/** Makes so many directories in one, beside a file. */
function makeWide(top: string, count: number): void {
  writeFileSync(join(top, "cgroup.procs"), "");
  for (let index = 0; index < count; index += 1) mkdirSync(join(top, `c${index}`));
}

it("lists children before their parents, and no files", async () => {
  const top = folder();
  mkdirSync(join(top, "a/b"), { recursive: true });
  makeWide(join(top, "a"), 1);
  const found = await withDescendants(top);
  expect(found.toSorted()).toEqual([top, join(top, "a"), join(top, "a/b"), join(top, "a/c0")]);
  expect(found.slice(-2)).toEqual([join(top, "a"), top]);
});

it("finds nothing where no cgroup is", async () => {
  const path = join(folder(), "gone");
  expect(await cgroupsBelow(path)).toEqual([]);
  expect(await withDescendants(path)).toEqual([path]);
});

it("names the path of a cgroup that cannot be listed", async () => {
  const file = join(folder(), "file");
  writeFileSync(file, "");
  await expect(cgroupsBelow(file)).rejects.toThrow(/cannot list cgroup .*file: ENOTDIR/);
});

it("takes at most 1,024 children of a cgroup at a time, and lets other work run meanwhile", async () => {
  const top = folder();
  makeWide(top, 1_030);
  let turns = 0;
  const count = (): void => {
    turns += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const found = await withDescendants(top);
  clearImmediate(counting);
  expect(found).toHaveLength(1_025);
  expect(turns).toBeGreaterThan(10);
});
