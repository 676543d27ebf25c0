import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeDirectories, makeDirectoriesSync } from "../../../src/fileSystem/makeDirectories.ts";

type Make = (path: string, mode: number) => boolean | Promise<boolean>;

describe.each<[string, Make]>([
  ["makeDirectories", makeDirectories],
  ["makeDirectoriesSync", makeDirectoriesSync],
])("%s", (_name, make) => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "rxlet-directories-"));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });
  /** The code of the error, or the result. */
  const outcome = async (path: string): Promise<unknown> => {
    try {
      return await make(path, 0o700);
    } catch (thrown) {
      return (thrown as NodeJS.ErrnoException).code;
    }
  };

  it("creates all missing parents with the mode", async () => {
    expect(await outcome(join(folder, "a/b/c"))).toBe(true);
    const modes = ["a", "a/b", "a/b/c"].map((path) => statSync(join(folder, path)).mode & 0o777);
    expect(modes).toEqual([0o700, 0o700, 0o700]);
  });

  it("leaves an existing directory, or a link to one, as it is", async () => {
    await make(join(folder, "there"), 0o755);
    symlinkSync("there", join(folder, "link"));
    const made = [await outcome(join(folder, "there")), await outcome(join(folder, "link"))];
    expect([made, statSync(join(folder, "there")).mode & 0o777]).toEqual([[false, false], 0o755]);
  });

  it.each([
    ["a file", "file", "EEXIST"],
    ["a path below a file", "file/below", "ENOTDIR"],
    ["a link to nothing", "dangling", "EEXIST"],
  ])("refuses %s", async (_what, path, code) => {
    writeFileSync(join(folder, "file"), "");
    symlinkSync("nothing", join(folder, "dangling"));
    expect(await outcome(join(folder, path))).toBe(code);
  });

  it.skipIf(process.platform !== "linux").each(["/proc/none", "/proc/none/below"])(
    "ends where the kernel has no new names: %s",
    async (path) => {
      expect(await outcome(path)).toBe("ENOENT");
    },
  );
});
