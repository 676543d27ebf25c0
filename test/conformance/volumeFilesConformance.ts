/** The contract of the VolumeFiles port, for every implementation. */
import { lastValueFrom } from "rxjs";
import { beforeEach, describe, expect, it } from "vitest";
import type { Files } from "../../src/ports/files.ts";
import type { VolumeFile, VolumeFiles } from "../../src/ports/volumeFiles.ts";
import { ending } from "./mountsFixture.ts";

/** The volume files of a machine under test. */
export interface VolumeFilesFixture {
  readonly port: VolumeFiles;
  readonly files: Files;
  /** Empty directory. */
  readonly dir: string;
}

const text = (content: string, mode = 0o644): VolumeFile => ({ content: new TextEncoder().encode(content), mode });
const files = (contents: Readonly<Record<string, string>>): ReadonlyMap<string, VolumeFile> =>
  new Map(Object.entries(contents).map(([path, content]) => [path, text(content)]));

const BAD_PATHS = [
  "",
  "/etc/passwd",
  "..",
  "a/../b",
  "a/..",
  "..data",
  "..hidden",
  "./..data/x",
  ".",
  "a\0b",
  "\ud800",
];

/** Runs the suite on the machines that `open` makes, one for each test. */
export function volumeFilesConformance(name: string, open: () => Promise<VolumeFilesFixture>): void {
  describe(`volume files: ${name}`, () => {
    let on: VolumeFilesFixture;
    beforeEach(async () => {
      on = await open();
    });
    const write = (contents: Readonly<Record<string, string>>) => ending(on.port.writeAtomic(on.dir, files(contents)));
    const read = (path: string) => ending(on.files.readTail(`${on.dir}/${path}`, 100_000, "followed"));
    const names = () => lastValueFrom(on.files.list(on.dir));
    const generations = async () =>
      (await names()).filter((each) => /^\.\.\d{4}_\d\d_\d\d_\d\d_\d\d_\d\d\./.test(each));

    it("shows files by links through one generation", async () => {
      expect(await write({ key: "1", "dir/inner": "2", "dir/deep/er": "3" })).toBe("changed");
      expect(await Promise.all(["key", "dir/inner", "dir/deep/er", "..data/key"].map(read))).toEqual([
        "1",
        "2",
        "3",
        "1",
      ]);
      expect(await names()).toEqual([...(await generations()), "..data", "dir", "key"]);
      expect(await generations()).toHaveLength(1);
    });

    it("leaves the same files alone", async () => {
      await write({ key: "1", "dir/inner": "2" });
      const before = await names();
      expect(await write({ "dir//inner": "2", "./key": "1" })).toBe("same");
      expect(await names()).toEqual(before);
    });

    it("replaces the generation when anything differs, and keeps the newest alone", async () => {
      await write({ key: "1", gone: "2", "dir/inner": "3" });
      const [before] = await generations();
      expect(await write({ key: "changed", "dir/other": "4" })).toBe("changed");
      expect(await Promise.all(["key", "gone", "dir/inner", "dir/other"].map(read))).toEqual([
        "changed",
        "NotFound",
        "NotFound",
        "4",
      ]);
      expect([await names(), (await generations())[0] === before]).toEqual([
        [...(await generations()), "..data", "dir", "key"],
        false,
      ]);
    });

    it("can hold no files", async () => {
      expect([await write({}), await write({})]).toEqual(["changed", "same"]);
      await write({ key: "1" });
      expect([await write({}), await names()]).toEqual(["changed", [...(await generations()), "..data"]]);
    });

    it("makes a file of what was a directory, and a directory of what was a file", async () => {
      await write({ one: "file", "two/inner": "inner" });
      expect(await write({ "one/inner": "inner", two: "file" })).toBe("changed");
      expect(await Promise.all(["one/inner", "two"].map(read))).toEqual(["inner", "file"]);
    });

    it.each(BAD_PATHS)("refuses the path %j, and changes nothing", async (path) => {
      await write({ key: "1" });
      const before = await names();
      expect(await write({ key: "2", [path]: "bad" })).toBe("InvalidArgument");
      expect([await names(), await read("key")]).toEqual([before, "1"]);
    });

    it("refuses names of more than 255 bytes, and a file where a directory is needed", async () => {
      expect(await write({ ["é".repeat(127)]: "254 bytes" })).toBe("changed");
      expect(await write({ ["é".repeat(128)]: "256 bytes" })).toBe("InvalidArgument");
      expect(await write({ [`${"a".repeat(200)}/`.repeat(21)]: "4221 bytes" })).toBe("InvalidArgument");
      expect(await write({ "a/b": "1", a: "2" })).toBe("InvalidArgument");
    });

    it.each([
      "line\nfeed",
      " blank ",
      "tab\t",
      "-rf",
      "*",
      "$(reboot)",
      "\u0001",
      "ünïcödé 🙂",
      "a\\b",
      "...",
      ".hidden",
    ])("keeps the odd name %j", async (name) => {
      expect(await write({ [name]: "odd" })).toBe(name === "..." ? "InvalidArgument" : "changed");
      expect(await read(name)).toBe(name === "..." ? "NotFound" : "odd");
    });

    it("holds thousands of files, and some of several MiB", async () => {
      const many = new Map(Array.from({ length: 2_000 }, (_, index) => [`key-${index}`, text(`value ${index}`)]));
      for (const index of [1, 2, 3]) many.set(`large-${index}`, text("x".repeat(2_000_000)));
      expect(await ending(on.port.writeAtomic(on.dir, many))).toBe("changed");
      expect(await ending(on.port.writeAtomic(on.dir, many))).toBe("same");
      expect([await read("key-1999"), (await names()).length]).toEqual(["value 1999", 2_005]);
      expect(await write({ key: "1" })).toBe("changed");
      expect(await names()).toHaveLength(3);
    });

    it("cannot write where there is no directory", async () => {
      expect(await ending(on.port.writeAtomic(`${on.dir}/missing`, files({})))).toBe("NotFound");
      expect(await ending(on.port.usage(`${on.dir}/missing`))).toBe("NotFound");
      expect(await ending(on.port.setOwnership(`${on.dir}/missing`, { fsGroup: 1 }))).toBe("NotFound");
      expect(await ending(on.port.groupOf(`${on.dir}/missing`))).toBe("NotFound");
    });

    it("counts what is used", async () => {
      await lastValueFrom(on.files.makeDirectory(`${on.dir}/sub`));
      await lastValueFrom(on.files.writeFile(`${on.dir}/sub/file`, "x".repeat(100_000)));
      const { bytes, inodes } = await lastValueFrom(on.port.usage(on.dir));
      expect(inodes).toBe(3n);
      expect(bytes >= 100_000n && bytes < 120_000n).toBe(true);
    });
  });
}
