import { chmod, readFile, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createRemoteFileSystem } from "../../../src/sources/remoteFileSystem.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";

const dir = temporaryDirectory();
const program = async (text: string): Promise<string> => {
  const path = join(dir(), "stat");
  await writeFile(path, `#!/bin/sh\n${text}\n`);
  await chmod(path, 0o755);
  return path;
};

it("says what the kernel says", async () => {
  const found = await statfs(dir(), { bigint: true });
  const { capacityBytes, inodes } = await createRemoteFileSystem()(dir());
  expect([capacityBytes, inodes]).toEqual([found.blocks * found.bsize, found.files]);
});

it("asks once for all who ask meanwhile, and anew for the next", async () => {
  const ask = createRemoteFileSystem(await program(`echo asked >>${dir()}/asked; echo 4096 100 40 30 10 7`));
  const expected = {
    ...{ capacityBytes: 409_600n, availableBytes: 122_880n, usedBytes: 245_760n },
    ...{ inodes: 10n, inodesFree: 7n },
  };
  expect(await Promise.all([ask("/share"), ask("/share")])).toEqual([expected, expected]);
  await ask("/share");
  expect((await readFile(join(dir(), "asked"), "utf8")).split("\n")).toHaveLength(3);
});

it.each([
  ["echo nonsense", 'cannot measure the file system of /share: stat printed "nonsense\\n"'],
  ["echo stale file handle >&2; exit 1", expect.stringContaining("stale file handle")],
])("tells what is wrong: %s", async (text, message: unknown) => {
  await expect(createRemoteFileSystem(await program(text))("/share")).rejects.toMatchObject({ code: "Io", message });
});
