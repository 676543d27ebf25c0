import * as fs from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { firstFile } from "../../../src/sources/firstFile.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";

const root = temporaryDirectory();
const LARGEST = 4_096;

it("returns the first file with content, without blanks around it", async () => {
  await fs.mkdir(join(root(), "directory"));
  await fs.writeFile(join(root(), "empty"), " \n");
  await fs.writeFile(join(root(), "id"), " first\n");
  await fs.writeFile(join(root(), "other"), "second");
  await fs.symlink("id", join(root(), "link"));
  expect(await firstFile("/none,/directory,/empty,/id,/other", root())).toBe("first");
  expect(await firstFile("/link", root())).toBe("first");
  expect(await firstFile(join(root(), "other"))).toBe("second");
  expect(await firstFile("/none,/empty", root())).toBeUndefined();
});

it("skips a file beyond the bound", async () => {
  await fs.writeFile(join(root(), "full"), "x".repeat(LARGEST));
  await fs.writeFile(join(root(), "long"), "x".repeat(LARGEST + 1));
  expect((await firstFile("/full", root()))?.length).toBe(LARGEST);
  expect(await firstFile("/long", root())).toBeUndefined();
});
