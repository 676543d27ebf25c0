/** How the mount table is read: whole, however long it is. */
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readAtOnce, readMountTable } from "../../../../src/sinks/mounts/mountTable.ts";
import { temporaryDirectory } from "../../../support/temporaryDirectory.ts";

const AT_ONCE_BYTES = 128 * 1024;

const root = temporaryDirectory();

it("is read at once below 128 KiB; a longer one is left to a thread", async () => {
  const path = join(root(), "table");
  await fs.writeFile(path, "x".repeat(AT_ONCE_BYTES - 1));
  expect(readAtOnce(path)).toHaveLength(AT_ONCE_BYTES - 1);
  await fs.writeFile(path, "x".repeat(AT_ONCE_BYTES));
  expect(readAtOnce(path)).toBe(undefined);
});

it("is the kernel's, once for all who ask at the same time", async () => {
  const [first, ...others] = await Promise.all([readMountTable(), readMountTable(), readMountTable()]);
  const text = await fs.readFile("/proc/self/mountinfo", "utf8");
  expect(first).toHaveLength(text.trimEnd().split("\n").length);
  expect(others[0]).toBe(others[1]);
});

it("is parsed for each who asks after a change", async () => {
  const before = await readMountTable();
  const after = await readMountTable();
  expect(after).not.toBe(before);
  expect(after).toEqual(before);
});
