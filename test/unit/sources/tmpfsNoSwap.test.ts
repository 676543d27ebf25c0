import * as fs from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { mountsWithoutSwap, readTmpfsNoSwap } from "../../../src/sources/tmpfsNoSwap.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";

const root = temporaryDirectory();

it("a failed attempt leaves nothing behind", async () => {
  const missing = join(root(), "missing");
  expect([await mountsWithoutSwap(missing), await fs.readdir(root())]).toEqual([false, []]);
});

it("the directory of an attempt is removed, whether or not it may mount", async () => {
  await mountsWithoutSwap(root());
  expect(await fs.readdir(root())).toEqual([]);
});

it("an old kernel without swap counts as one without the option, and nothing is mounted", async () => {
  const host = { kernelVersion: "5.4", uidMap: undefined, isSwapOn: false };
  expect(await readTmpfsNoSwap(host)).toBe(false);
});
