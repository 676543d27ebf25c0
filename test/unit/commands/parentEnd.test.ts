import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { pathsUntilEnd, removeLeft } from "../../../src/commands/parentEnd.ts";

const read = (...chunks: readonly string[]) => pathsUntilEnd(Readable.from(chunks.map((each) => Buffer.from(each))));

describe("pathsUntilEnd", () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ["no paths", [], []],
    ["paths, wherever the chunks end", ["/a\0/b", " c\0", "/d\nd\0"], ["/a", "/b c", "/d\nd"]],
    ["no path without its end: its writer was killed on the way", ["/a\0/home"], ["/a"]],
    ["no path that is relative", ["a\0../b\0\0/c\0"], ["/c"]],
    ["nothing beyond 64 KiB", [`/${"x".repeat(65_533)}\0/`, "cut\0"], [`/${"x".repeat(65_533)}`]],
  ])("reads %s", async (_, chunks, paths) => {
    expect(await read(...chunks)).toEqual(paths);
  });

  it("takes a broken input for its end", async () => {
    const broken = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from("/a\0");
      throw new Error("EIO");
    };
    expect(await pathsUntilEnd(broken())).toEqual(["/a"]);
  });
});

describe("removeLeft", () => {
  let folder: string;
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "rxlet-parent-")));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const directoryOf = (pid: number): string => {
    const directory = join(folder, String(pid));
    mkdirSync(directory);
    const server = "https://127.0.0.1:1";
    writeFileSync(join(directory, "dev.json"), JSON.stringify({ pid, manifests: "/m", server, startedAt: "" }));
    return directory;
  };

  it("removes what the process left, but no directory that another one has by now", async () => {
    const plain = join(folder, "plain");
    mkdirSync(plain);
    const [mine, theirs] = [directoryOf(7), directoryOf(8)];
    const lines: string[] = [];
    await removeLeft([plain, join(folder, "missing"), mine, theirs], 7, (line) => lines.push(line));
    expect([plain, mine, theirs].map((each) => existsSync(each))).toEqual([false, false, true]);
    expect(lines).toEqual([]);
  });
});
