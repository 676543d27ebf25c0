/** A directory of its own for each test of a file, gone afterwards. */
import { existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { removeFolder } from "./removeFolder.ts";

/** A file system in memory, which most Linux systems have: for tests that make thousands of files. */
export const IN_MEMORY = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** Call in a describe; the function it returns gives the path of the running test's directory. */
export function temporaryDirectory(parent = tmpdir()): () => string {
  let path = "";
  beforeEach(async () => {
    path = await mkdtemp(join(parent, "rxlet-test-"));
  });
  afterEach(async () => {
    await removeFolder(path);
  });
  return () => path;
}
