import { execFileSync } from "node:child_process";
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { firstValueFrom, lastValueFrom } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Call } from "../../../src/ports/call.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";
import { realFiles } from "../../support/realFiles.ts";

const files = realFiles();
const done = <T>(call: Call<T>): Promise<T> => lastValueFrom(call);
const modeOf = async (path: string) => (await fs.stat(path)).mode & 0o7777;
const failure = (call: Call<unknown>) =>
  firstValueFrom(call).then(
    () => "no failure",
    ({ code, message }: { code: string; message: string }) => ({ code, message }),
  );

describe("files", () => {
  const dir = temporaryDirectory();

  it("does nothing until subscribed", async () => {
    files.makeDirectory(join(dir(), "never"));
    expect(await fs.readdir(dir())).toEqual([]);
  });

  it("creates a directory and its parents with the requested mode, whatever the umask", async () => {
    const path = join(dir(), "a", "b");
    await done(files.makeDirectory(path, 0o777));
    expect(await modeOf(path)).toBe(0o777);
    await done(files.makeDirectory(join(dir(), "c")));
    expect(await modeOf(join(dir(), "c"))).toBe(0o750);
  });

  it("leaves a directory that is there as it is", async () => {
    await done(files.makeDirectory(join(dir(), "a"), 0o700));
    await done(files.makeDirectory(join(dir(), "a"), 0o777));
    expect(await modeOf(join(dir(), "a"))).toBe(0o700);
  });

  it("writes in place: same inode, new content and mode", async () => {
    const path = join(dir(), "hosts");
    await done(files.writeFile(path, "a long first content", 0o666));
    const before = await fs.stat(path);
    expect([await modeOf(path), await fs.readFile(path, "utf8")]).toEqual([0o666, "a long first content"]);
    await done(files.writeFile(path, "short"));
    expect([(await fs.stat(path)).ino, await modeOf(path), await fs.readFile(path, "utf8")]).toEqual([
      before.ino,
      0o644,
      "short",
    ]);
  });

  it("replaces a file as a whole: another inode, nothing left beside it", async () => {
    const path = join(dir(), "allocation.json");
    await done(files.replaceFile(path, "a long first content", 0o600));
    const reader = await fs.open(path, "r");
    await done(files.replaceFile(path, "short", 0o600));
    const old = await reader.readFile("utf8");
    await reader.close();
    expect([old, await fs.readFile(path, "utf8"), await modeOf(path), await fs.readdir(dir())]).toEqual([
      "a long first content",
      "short",
      0o600,
      ["allocation.json"],
    ]);
  });

  it.each([
    ["overwrites, for the kubelet alone, a file of the same length", "kubelet", "other", true],
    ["replaces one of another length", "kubelet", "longer", false],
    ["replaces one that is to outlive the machine", "machine", "other", false],
    ["replaces a link, and leaves alone what it leads to", "kubelet", "other", false],
  ] as const)("%s", async (title, outlives, content, isSame) => {
    const path = join(dir(), "verdicts.json");
    await fs.writeFile(join(dir(), "target"), "first");
    if (title.includes("link")) await fs.symlink("target", path);
    else await done(files.replaceFile(path, "first", 0o600, outlives));
    const before = await fs.lstat(path);
    await done(files.replaceFile(path, content, 0o600, outlives));
    const after = await fs.lstat(path);
    expect([await fs.readFile(path, "utf8"), after.ino === before.ino, after.mode & 0o777]).toEqual([
      content,
      isSame,
      0o600,
    ]);
    expect(await fs.readFile(join(dir(), "target"), "utf8")).toBe("first");
  });

  it("returns the type of the file at a path, links followed", async () => {
    await fs.mkdir(join(dir(), "folder"));
    await fs.writeFile(join(dir(), "file"), "");
    await fs.symlink("folder", join(dir(), "link"));
    await fs.symlink("nowhere", join(dir(), "dangling"));
    const paths = [
      join(dir(), "folder"),
      join(dir(), "file"),
      join(dir(), "link"),
      join(dir(), "dangling"),
      "/dev/null",
    ];
    const kinds = await Promise.all(paths.map((path) => done(files.kindOf(path))));
    expect(kinds).toEqual(["Directory", "File", "Directory", undefined, "CharDevice"]);
  });

  it("reads the end of a file, whole characters only", async () => {
    const path = join(dir(), "log");
    await fs.writeFile(path, "123€45");
    const tails = [100, 5, 4, 3, 2, 0].map((bytes) => done(files.readTail(path, bytes)));
    expect(await Promise.all(tails)).toEqual(["123€45", "€45", "45", "45", "45", ""]);
  });

  it("reads regular files alone, and a FIFO or a device holds no thread", async () => {
    execFileSync("mkfifo", [join(dir(), "fifo")]);
    await fs.writeFile(join(dir(), "file"), "text");
    await fs.symlink("file", join(dir(), "link"));
    await fs.symlink("fifo", join(dir(), "linkToFifo"));
    const read = (name: string, links?: "followed") => files.readTail(join(dir(), name), 10, links);
    // More of them than Node has threads for files: afterwards there is still one to read with.
    const fifos = await Promise.all(Array.from({ length: 40 }, () => failure(read("fifo"))));
    expect(new Set(fifos.map((each) => JSON.stringify(each)))).toEqual(
      new Set([JSON.stringify({ code: "InvalidArgument", message: `cannot open ${dir()}/fifo: it is a FIFO` })]),
    );
    expect(
      await Promise.all([
        failure(read("link")),
        failure(read("linkToFifo", "followed")),
        failure(files.readTail("/dev/null", 10)),
        failure(files.readTail(dir(), 10)),
        done(read("link", "followed")),
      ]),
    ).toEqual([
      { code: "InvalidArgument", message: `cannot open ${dir()}/link: it is a symbolic link` },
      { code: "InvalidArgument", message: `cannot open ${dir()}/linkToFifo: it is a FIFO` },
      { code: "InvalidArgument", message: "cannot open /dev/null: it is a device" },
      { code: "InvalidArgument", message: `cannot open ${dir()}: it is a directory` },
      "text",
    ]);
  });

  it("reads no more than requested, whatever size a file reports", async () => {
    const path = join(dir(), "sparse");
    await fs.writeFile(path, "");
    await fs.truncate(path, 2 ** 40);
    expect(await done(files.readTail(path, 8))).toBe("\0".repeat(8));
  });

  it("names the missing file in the error", async () => {
    const path = join(dir(), "none");
    expect(await failure(files.readTail(path, 10))).toEqual({
      code: "NotFound",
      message: `cannot read ${path}: ENOENT`,
    });
    expect(await failure(files.writeFile(join(path, "x"), ""))).toEqual({
      code: "NotFound",
      message: `cannot write ${path}/x: ENOENT`,
    });
  });

  it("lists names sorted, and nothing where there is no directory", async () => {
    for (const name of ["b", "a", "c"]) await fs.writeFile(join(dir(), name), "");
    expect(await done(files.list(dir()))).toEqual(["a", "b", "c"]);
    expect(await done(files.list(join(dir(), "none")))).toEqual([]);
  });

  it("removes a tree, keeps the targets of its links, and succeeds without a tree", async () => {
    const [tree, kept] = [join(dir(), "tree"), join(dir(), "kept")];
    await fs.mkdir(join(tree, "sub"), { recursive: true });
    await fs.mkdir(kept);
    await fs.writeFile(join(kept, "file"), "");
    await fs.writeFile(join(tree, "sub", "file"), "");
    await fs.symlink(kept, join(tree, "sub", "link"));
    await done(files.remove(tree));
    await done(files.remove(tree));
    await fs.symlink(kept, tree);
    await done(files.remove(tree));
    expect([await fs.readdir(dir()), await fs.readdir(kept)]).toEqual([["kept"], ["file"]]);
  });

  it("rejects the removal of a mount point", async () => {
    expect(await failure(files.remove("/proc"))).toEqual({
      code: "Io",
      message: "cannot remove /proc: /proc is a mount point",
    });
  });

  it("stops removing when the call is cancelled", async () => {
    await fs.mkdir(join(dir(), "tree"));
    files
      .remove(join(dir(), "tree"))
      .subscribe({ error: () => undefined })
      .unsubscribe();
    await done(files.list(dir()));
    await done(files.list(dir()));
    expect(await fs.readdir(dir())).toEqual(["tree"]);
  });

  it("makes and replaces links, and leaves nothing beside them", async () => {
    const path = join(dir(), "link");
    await done(files.symlink("/one", path));
    await done(files.symlink("/one", path));
    await done(files.symlink("/two", path));
    expect([await fs.readlink(path), await fs.readdir(dir())]).toEqual(["/two", ["link"]]);
  });

  it("does not put a link over a directory", async () => {
    const path = join(dir(), "held");
    await fs.mkdir(join(path, "x"), { recursive: true });
    expect(await failure(files.symlink("/one", path))).toEqual({ code: "Io", message: `cannot link ${path}: EISDIR` });
    expect(await fs.readdir(dir())).toEqual(["held"]);
  });
});
