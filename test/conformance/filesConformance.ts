/** Promises of the Files port about files whose kind somebody else decides, on any implementation. */
import { lastValueFrom } from "rxjs";
import { beforeEach, describe, expect, it } from "vitest";
import type { Files } from "../../src/ports/files.ts";
import { ending } from "./mountsFixture.ts";

/** The files of a machine under test. */
export interface FilesFixture {
  readonly port: Files;
  /** Empty directory. */
  readonly dir: string;
}

/** Runs the suite on the machines that `open` makes, one for each test. */
export function filesConformance(name: string, open: () => Promise<FilesFixture>): void {
  describe(`files: ${name}`, () => {
    let port: Files;
    let at: (path: string) => string;
    beforeEach(async () => {
      const { port: opened, dir } = await open();
      port = opened;
      at = (path) => `${dir}/${path}`;
      await lastValueFrom(port.writeFile(at("file"), "content"));
      await lastValueFrom(port.makeDirectory(at("directory")));
      await lastValueFrom(port.symlink("file", at("link")));
    });
    const read = (path: string, links?: "refused" | "followed") => ending(port.readTail(at(path), 100, links));
    const write = (path: string) => ending(port.writeFile(at(path), "other"));
    const create = (path: string) => ending(port.createFile(at(path)));

    it("reads regular files, and through links only when asked to", async () => {
      const ends = [read("file"), read("link"), read("link", "followed"), read("directory"), read("none")];
      expect(await Promise.all(ends)).toEqual(["content", "InvalidArgument", "content", "InvalidArgument", "NotFound"]);
    });

    it("writes regular files alone", async () => {
      expect([await write("link"), await write("directory"), await read("file")]).toEqual([
        "InvalidArgument",
        "InvalidArgument",
        "content",
      ]);
      expect([await write("file"), await write("new"), await read("file"), await read("new")]).toEqual([
        undefined,
        undefined,
        "other",
        "other",
      ]);
    });

    it("makes a file where nothing is, and leaves alone what is there", async () => {
      await lastValueFrom(port.symlink("made", at("leadsNowhere")));
      for (const path of ["new", "file", "link", "leadsNowhere", "directory"])
        expect(await create(path)).toBe(undefined);
      expect([await read("new"), await read("file"), await read("made"), await create("no/directory")]).toEqual([
        "",
        "content",
        "",
        "NotFound",
      ]);
    });
  });
}
