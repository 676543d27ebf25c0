/** A directory of its own for each test of a file, gone afterwards. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { removeFolder } from "./removeFolder.ts";

/** Call in a describe; the function it returns gives the path of the running test's directory. */
export function temporaryDirectory(): () => string {
  let path = "";
  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), "rxlet-test-"));
  });
  afterEach(async () => {
    await removeFolder(path);
  });
  return () => path;
}
