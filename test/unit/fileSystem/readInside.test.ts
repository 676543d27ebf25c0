import { execFileSync } from "node:child_process";
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readInside } from "../../../src/fileSystem/readInside.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";

describe("readInside", () => {
  const dir = temporaryDirectory();
  const setUp = async (): Promise<string> => {
    const root = join(dir(), "volume");
    await fs.mkdir(join(root, "sub"), { recursive: true });
    await fs.mkdir(join(root, "etc"));
    await fs.writeFile(join(dir(), "outside"), "outside");
    await fs.writeFile(join(root, "outside"), "inside");
    await fs.writeFile(join(root, "sub", "file"), "é");
    await fs.writeFile(join(root, "etc", "passwd"), "own");
    return root;
  };
  const readOf = async (root: string, path: string, maxBytes = 100): Promise<string> =>
    readInside(root, path, maxBytes).catch((thrown: unknown) => (thrown as Error).message.replaceAll(root, "ROOT"));

  it("reads a file and follows links only inside the directory", async () => {
    const root = await setUp();
    await fs.symlink("../outside", join(root, "climbs"));
    await fs.symlink("/etc/passwd", join(root, "absolute"));
    await fs.symlink("sub", join(root, "directory"));
    await fs.symlink("../../../../../etc", join(root, "sub", "up"));
    const paths = [
      "sub/file",
      "./sub//file",
      "climbs",
      "absolute",
      "directory/file",
      "directory/up/passwd",
      "../outside",
    ];
    expect(await Promise.all(paths.map((path) => readOf(root, path)))).toEqual([
      "é",
      "é",
      "inside",
      "own",
      "é",
      "own",
      "inside",
    ]);
  });

  it("follows long chains of links and bounds the length of a path", async () => {
    const root = await setUp();
    for (let index = 0; index < 250; index += 1) {
      await fs.symlink(`l${index + 1}${"/.".repeat(2000)}`, join(root, `l${index}`));
    }
    await fs.symlink("sub/file", join(root, "l250"));
    expect(await readOf(root, "l0")).toBe("é");
    expect(await readOf(root, "./".repeat(2048))).toBe("cannot read ROOT/: it is a directory");
    expect(await readOf(root, `${"./".repeat(2048)}f`)).toBe("ROOT: a path within it is too long");
  });

  it("rejects irregular and oversized files without blocking", async () => {
    const root = await setUp();
    execFileSync("mkfifo", [join(root, "fifo")]);
    await fs.symlink("loop", join(root, "loop"));
    expect(await Promise.all(["fifo", "sub", "loop", "none"].map((path) => readOf(root, path)))).toEqual([
      "cannot read ROOT/fifo: it is a FIFO",
      "cannot read ROOT/sub: it is a directory",
      "cannot follow ROOT/loop: ELOOP",
      "ENOENT: no such file or directory, readlink 'ROOT/none'",
    ]);
    expect([await readOf(root, "sub/file", 2), await readOf(root, "sub/file", 1)]).toEqual([
      "é",
      "cannot read ROOT/sub/file: it has more than 1 bytes",
    ]);
  });
});
