import { lstat, mkdir, mkdtemp, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { packTar } from "../../../src/commands/packTar.ts";
import { unpackTar } from "../../../src/commands/unpackTar.ts";
import { type TarEntry, tarHeader, tarPadding } from "../../../src/core/tar/tarHeader.ts";
import { removeFolder } from "../../support/removeFolder.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rxlet-tar-"));
});
afterEach(() => removeFolder(folder));

type Entry = Partial<TarEntry> & { readonly path: string; readonly text?: string };

async function* archive(entries: readonly Entry[]): AsyncGenerator<Uint8Array> {
  for (const { text = "", ...entry } of entries) {
    const size = entry.size ?? text.length;
    yield tarHeader({ kind: "file", mode: 0o644, target: "", ...entry, size });
    yield Buffer.concat([Buffer.from(text), Buffer.alloc(tarPadding(text.length))]);
  }
  yield new Uint8Array(1024);
}

async function unpack(entries: readonly Entry[], more: Partial<Parameters<typeof unpackTar>[1]> = {}) {
  const skipped: string[] = [];
  const options = { name: "d", target: join(folder, "out"), maxBytes: 1_000, ...more };
  await unpackTar(archive(entries), { ...options, onSkipped: (why) => skipped.push(why) });
  return skipped;
}

const D: Entry = { kind: "directory", path: "d" };

it("writes files and directories below the target", async () => {
  expect(await unpack([D, { path: "d/a", text: "one" }, { path: "./d/sub/b", text: "two", mode: 0o4777 }])).toEqual([]);
  expect(await readFile(join(folder, "out/a"), "utf8")).toBe("one");
  expect(await readFile(join(folder, "out/sub/b"), "utf8")).toBe("two");
  // Without set-user-ID, and without write permission of others.
  expect((await stat(join(folder, "out/sub/b"))).mode & 0o7777 & ~0o055).toBe(0o700);
});

it("writes a file into a directory, or to its own name, and replaces a file", async () => {
  await mkdir(join(folder, "out"));
  await unpack([{ path: "d", text: "one" }]);
  expect(await readFile(join(folder, "out/d"), "utf8")).toBe("one");
  await unpack([{ path: "d", text: "longer" }], { target: join(folder, "named") });
  await unpack([{ path: "d", text: "new" }], { target: join(folder, "named") });
  expect(await readFile(join(folder, "named"), "utf8")).toBe("new");
  await expect(unpack([{ path: "d" }], { target: `${folder}/none/` })).rejects.toMatchObject({
    message: `${folder}/none/: there is no such directory`,
  });
});

it.each(["/etc/rxlet-escape", "d/../../escape", "../escape", "other/file", "d/a\0b"])(
  "skips the path %j",
  async (path) => {
    const skipped = await unpack([D, { path, text: "x" }, { path: "d/ok", text: "y" }]);
    // A name in a header ends at a NUL.
    if (path.includes("\0")) expect(skipped).toEqual([]);
    else expect(skipped).toEqual([`file ${JSON.stringify(path)} is outside of the target, skipping`]);
    expect(await readFile(join(folder, "out/ok"), "utf8")).toBe("y");
    expect(await readdir(folder)).toEqual(["out"]);
  },
);

it("skips links, so that no entry behind one leaves the target", async () => {
  const skipped = await unpack([D, { kind: "link", path: "d/l", target: folder }, { path: "d/l/escape", text: "x" }]);
  expect(skipped).toEqual([`skipping link: "d/l" -> ${JSON.stringify(folder)}`]);
  expect((await lstat(join(folder, "out/l"))).isDirectory()).toBe(true);
  expect(await readdir(folder)).toEqual(["out"]);
});

it.each([
  ["a directory", "d/l/file"],
  ["a file", "d/l"],
])("does not follow a link that stands for %s of the target", async (_title, path) => {
  await mkdir(join(folder, "out"));
  await mkdir(join(folder, "elsewhere"));
  await writeFile(join(folder, "victim"), "untouched");
  await symlink(path === "d/l" ? join(folder, "victim") : join(folder, "elsewhere"), join(folder, "out/l"));
  await expect(unpack([D, { path, text: "x" }])).rejects.toMatchObject({
    code: "Rejected",
    message: expect.stringContaining("a link or a file is in the way"),
  });
  expect([await readFile(join(folder, "victim"), "utf8"), await readdir(join(folder, "elsewhere"))]).toEqual([
    "untouched",
    [],
  ]);
});

it("bounds the content by its headers, before it is written", async () => {
  const exact = [
    { path: "d/a", text: "x".repeat(500) },
    { path: "d/b", text: "x".repeat(500) },
  ];
  await unpack([D, ...exact]);
  await expect(unpack([D, ...exact, { path: "d/c", text: "x" }])).rejects.toMatchObject({
    message: "the copy has more than 1000 bytes: --max-bytes allows more",
  });
  await expect(unpack([D, { path: "d/huge", size: 2 ** 52 }])).rejects.toMatchObject({ code: "Rejected" });
});

it("packs files, directories and links that stay inside, and unpacks them", async () => {
  const source = join(folder, "source");
  await mkdir(join(source, "sub"), { recursive: true });
  await writeFile(join(source, "a"), "x".repeat(1_000), { mode: 0o600 });
  await writeFile(join(source, "sub/b"), "");
  await symlink("../a", join(source, "sub/inside"));
  await symlink("../../victim", join(source, "sub/outside"));
  const notes: string[] = [];
  const packed = packTar({ source, name: "d", onSkipped: (why) => notes.push(why) });
  const skipped: string[] = [];
  const options = { name: "d", target: join(folder, "out"), maxBytes: 1_000 };
  await unpackTar(packed, { ...options, onSkipped: (why) => skipped.push(why) });
  expect(notes).toEqual([`skipping link out of the copy: "${source}/sub/outside" -> "../../victim"`]);
  expect(skipped).toEqual(['skipping link: "d/sub/inside" -> "../a"']);
  expect(await readFile(join(folder, "out/a"), "utf8")).toBe("x".repeat(1_000));
  expect((await readdir(join(folder, "out"), { recursive: true })).toSorted()).toEqual(["a", "sub", "sub/b"]);
});
