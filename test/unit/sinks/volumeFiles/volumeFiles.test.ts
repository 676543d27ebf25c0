import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lastValueFrom, Subject, takeUntil } from "rxjs";
import { describe, expect, it } from "vitest";
import type { VolumeFile } from "../../../../src/ports/volumeFiles.ts";
import { MISSING_FOR_CHOWN, mustSkip } from "../../../support/mustSkip.ts";
import { IN_MEMORY, temporaryDirectory } from "../../../support/temporaryDirectory.ts";
import { realVolumeFiles } from "../../../support/realFiles.ts";

const volumes = realVolumeFiles();
const cannotChown = mustSkip("owners of volume files", MISSING_FOR_CHOWN);
const FS_GROUP = 4_711;

const text = (content: string, more: Partial<VolumeFile> = {}): VolumeFile => ({
  content: new TextEncoder().encode(content),
  mode: 0o644,
  ...more,
});
const modeOf = async (path: string) => ((await fs.lstat(path)).mode & 0o7777).toString(8);

describe.each([
  ["on a disk", tmpdir()],
  ["in memory", IN_MEMORY],
])("files of a volume %s", (_medium, parent) => {
  const dir = temporaryDirectory(parent);
  const write = (files: Readonly<Record<string, VolumeFile>>) =>
    lastValueFrom(volumes.writeAtomic(dir(), new Map(Object.entries(files))));
  const generations = async () => (await fs.readdir(dir())).filter((name) => /^\.\.\d/.test(name));

  it("have the requested modes, whatever the umask", async () => {
    await write({ secret: text("1", { mode: 0o400 }), "a/open": text("2", { mode: 0o777 }) });
    const [generation = ""] = await generations();
    expect(
      await Promise.all(["secret", "a/open", "a", "."].map((path) => modeOf(join(dir(), generation, path)))),
    ).toEqual(["400", "777", "755", "755"]);
    expect(await fs.readlink(join(dir(), "..data"))).toBe(generation);
    expect(await fs.readlink(join(dir(), "a"))).toBe("..data/a");
  });

  it("are written again when their directory has more entries than they need", async () => {
    const files = { a: text("1"), "b/c": text("2") };
    await write(files);
    const [generation = ""] = await generations();
    const added = Array.from({ length: 3 }, (_, index) => join(dir(), generation, "b", `${index}`));
    for (const path of added) await fs.mkdir(path);
    // Empty directories are no files, but as many as these are not looked through.
    expect(await write(files)).toBe("changed");
    expect(await generations()).not.toEqual([generation]);
    expect(await write(files)).toBe("same");
  });

  it.skipIf(cannotChown)("have their owner and group before they become visible", async () => {
    const files = new Map([
      ["token", text("t", { mode: 0o600, uid: 1_234 })],
      ["dir/other", text("o")],
    ]);
    await lastValueFrom(volumes.writeAtomic(dir(), files, { fsGroup: FS_GROUP }));
    const owner = async (path: string) => {
      const { uid, gid, mode } = await fs.stat(join(dir(), path));
      return [uid, gid, (mode & 0o7777).toString(8)];
    };
    expect(await Promise.all(["token", "dir", "dir/other", "."].map(owner))).toEqual([
      [1_234, FS_GROUP, "660"],
      [0, FS_GROUP, "2775"],
      [0, FS_GROUP, "664"],
      [0, FS_GROUP, "2770"],
    ]);
    const links = await Promise.all(["token", "dir"].map(async (name) => (await fs.lstat(join(dir(), name))).uid));
    expect(links).toEqual([1_234, 0]);
  });

  it.each([
    ["a generation half written", async (at: string) => void (await fs.mkdir(join(at, "..2026_01_01_00_00_00.half")))],
    ["a link not yet renamed", (at: string) => fs.symlink("..2026_01_01_00_00_00.half", join(at, "..data_tmp"))],
    ["a name not yet shown", (at: string) => fs.unlink(join(at, "one"))],
    ["a name no longer there", (at: string) => fs.symlink("..data/gone", join(at, "gone"))],
    [
      "a generation that lost a file",
      async (at: string) => fs.unlink(join(at, await fs.readlink(join(at, "..data")), "one")),
    ],
    [
      "a link to a generation that is gone",
      async (at: string) => fs.rm(join(at, await fs.readlink(join(at, "..data"))), { recursive: true }),
    ],
  ])("are repaired after a crash that left %s", async (_, leave) => {
    const files = { one: text("1"), "two/inner": text("2") };
    await write(files);
    await leave(dir());
    expect([await write(files), await write(files)]).toEqual(["changed", "same"]);
    expect((await fs.readdir(dir())).sort()).toEqual([...(await generations()), "..data", "one", "two"].sort());
    expect(await generations()).toHaveLength(1);
    expect(await fs.readFile(join(dir(), "one"), "utf8")).toBe("1");
  });

  it("keep foreign files in the volume", async () => {
    await fs.symlink("/etc/hostname", join(dir(), "foreign"));
    await fs.writeFile(join(dir(), "theirs"), "kept");
    await write({ one: text("1") });
    await write({ two: text("2"), theirs: text("ours") });
    expect(await fs.readlink(join(dir(), "foreign"))).toBe("/etc/hostname");
    expect(await fs.readFile(join(dir(), "theirs"), "utf8")).toBe("kept");
  });

  it("leave nothing behind when they cannot be written", async () => {
    await write({ one: text("1") });
    const before = await fs.readdir(dir());
    // A name the payload may have and this file system does not: a path too long below the volume.
    const long = `${"x".repeat(250)}/`.repeat(16).concat("y".repeat(70));
    await expect(write({ [long]: text("2") })).rejects.toMatchObject({ code: "Io" });
    expect(await fs.readdir(dir())).toEqual(before);
  });

  it("are all of one generation, whenever their writer is killed", async () => {
    const names = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? `f${index}` : `d${index}/f`));
    for (let life = 1; life <= 5; life += 1) {
      await killAfter(startWriter(dir(), names), life * 7);
      const contents = await Promise.all(names.map((name) => fs.readFile(join(dir(), "..data", name), "utf8")));
      expect(new Set(contents).size).toBe(1);
    }
    const files = Object.fromEntries(names.map((name) => [name, text("last")]));
    await write(files);
    expect([await write(files), await generations()]).toEqual(["same", [await fs.readlink(join(dir(), "..data"))]]);
  });
});

/** A process that writes one generation after the other, and a dot after each. */
function startWriter(dir: string, names: readonly string[]): ChildProcess {
  const source = JSON.stringify(new URL("../../../support/realFiles.ts", import.meta.url).href);
  const program = `
    import { lastValueFrom } from "rxjs";
    const { realVolumeFiles } = await import(${source});
    const volumes = realVolumeFiles();
    for (let round = 0; ; round += 1) {
      const content = new TextEncoder().encode(String(process.pid) + " " + round);
      const files = new Map(${JSON.stringify(names)}.map((name) => [name, { content, mode: 0o644 }]));
      await lastValueFrom(volumes.writeAtomic(${JSON.stringify(dir)}, files));
      process.stdout.write(".");
    }`;
  const cwd = new URL("../../../..", import.meta.url);
  return spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "pipe", "inherit"], cwd });
}

async function killAfter(writer: ChildProcess, rounds: number): Promise<void> {
  let seen = 0;
  await new Promise<void>((resolve, reject) => {
    writer.stdout?.on("data", (dots: Buffer) => {
      seen += dots.length;
      if (seen >= rounds) writer.kill("SIGKILL");
    });
    writer.on("error", reject);
    writer.on("close", () => resolve());
  });
  expect(seen).toBeGreaterThanOrEqual(rounds);
}

describe("a volume given to a group", () => {
  const dir = temporaryDirectory();

  it.skipIf(cannotChown)("is given with all its files, but not the targets of links", async () => {
    const [volume, outside] = [join(dir(), "volume"), join(dir(), "outside")];
    await fs.mkdir(join(volume, "sub"), { recursive: true });
    await fs.writeFile(outside, "", { mode: 0o600 });
    await fs.writeFile(join(volume, "sub", "file"), "");
    await fs.writeFile(join(volume, "program"), "");
    const modes = { ".": 0o755, sub: 0o755, "sub/file": 0o640, program: 0o4755 };
    for (const [path, mode] of Object.entries(modes)) await fs.chmod(join(volume, path), mode);
    await fs.symlink("../outside", join(volume, "link"));
    const own = (changePolicy?: "OnRootMismatch") =>
      lastValueFrom(volumes.setOwnership(volume, { fsGroup: FS_GROUP, ...(changePolicy && { changePolicy }) }));
    expect(await own()).toEqual({ entries: 5, failures: 0 });
    expect(await lastValueFrom(volumes.groupOf(volume))).toBe(FS_GROUP);
    const owner = async (path: string) => {
      const { gid, mode } = await fs.lstat(join(volume, path));
      return [gid, (mode & 0o7777).toString(8)];
    };
    expect(await Promise.all([".", "sub", "sub/file", "program", "link", "../outside"].map(owner))).toEqual([
      [FS_GROUP, "2775"],
      [FS_GROUP, "2775"],
      [FS_GROUP, "660"],
      [FS_GROUP, "4775"],
      [FS_GROUP, "777"],
      [0, "600"],
    ]);
    await fs.chmod(join(volume, "sub", "file"), 0o600);
    expect(await own("OnRootMismatch")).toEqual({ entries: 0, failures: 0 });
    expect(await modeOf(join(volume, "sub", "file"))).toBe("600");
    await fs.chmod(volume, 0o755);
    expect(await own("OnRootMismatch")).toEqual({ entries: 5, failures: 0 });
  });

  it("is cancelled with its last subscriber, and the next task runs", async () => {
    for (let index = 0; index < 50; index += 1) await fs.mkdir(join(dir(), `d${index}`));
    const left$ = new Subject<void>();
    const left = lastValueFrom(volumes.usage(dir()).pipe(takeUntil(left$)), { defaultValue: undefined });
    left$.next();
    expect(await left).toBeUndefined();
    expect((await lastValueFrom(volumes.usage(dir()))).inodes).toBe(51n);
  });

  it("is measured as du(1) does: sparse files, files with two names, links", async () => {
    await fs.mkdir(join(dir(), "sub"));
    await fs.writeFile(join(dir(), "sub", "file"), "x".repeat(123_456));
    await fs.link(join(dir(), "sub", "file"), join(dir(), "second name"));
    await fs.symlink("/usr", join(dir(), "link"));
    await fs.truncate(await fs.writeFile(join(dir(), "sparse"), "").then(() => join(dir(), "sparse")), 10_000_000);
    const du = execFileSync("du", ["-s", "-B1", dir()], { encoding: "utf8" }).split("\t")[0];
    const { bytes, inodes } = await lastValueFrom(volumes.usage(dir()));
    expect([String(bytes), inodes]).toEqual([du, 5n]);
  });
});
