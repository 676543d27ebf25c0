/** The contract of the Mounts port for subpaths of a volume that other processes write to. */
import { describe, expect, it } from "vitest";
import { ending, type MountsUnderTest } from "./mountsFixture.ts";

export function subPathConformance(machine: () => MountsUnderTest): void {
  describe("subPath", () => {
    const volume = async () => {
      const on = machine();
      const root = await on.dir("volume");
      await on.dir("volume", "sub", "deep");
      await on.write(`${root}/sub/deep/file`, "content");
      await on.dir("outside");
      await on.write(on.at("outside", "secret"), "secret");
      const bound = (subPath: string, readOnly = false) =>
        ending(on.port.bindInside({ volumeRoot: root, subPath, target: on.at("pod", "subpaths", "0"), readOnly }));
      return { on, root, target: on.at("pod", "subpaths", "0"), bound };
    };

    it("binds a directory and makes the target and its parents", async () => {
      const { on, target, bound } = await volume();
      expect(await bound("sub/./deep/")).toBeUndefined();
      expect(await on.read(`${target}/file`)).toBe("content");
      expect(await on.count()).toBe(1);
    });

    it("binds a file, read-only", async () => {
      const { on, root, target, bound } = await volume();
      expect(await bound("sub/deep/file", true)).toBeUndefined();
      expect(await on.read(target)).toBe("content");
      expect(await ending(on.fixture.files.writeFile(target, "changed"))).toBe("PermissionDenied");
      await on.write(`${root}/sub/deep/file`, "new");
      expect(await on.read(target)).toBe("new");
    });

    it("binds the whole volume for an empty subPath", async () => {
      const { on, target, bound } = await volume();
      expect(await bound("")).toBeUndefined();
      expect(await on.names(target)).toEqual(["sub"]);
    });

    it("leaves alone what is bound already, and replaces anything else", async () => {
      const { on, target, bound } = await volume();
      await bound("sub");
      const before = await on.entry(target);
      await bound("sub");
      expect(await on.entry(target)).toEqual(before);
      await bound("sub/deep/file");
      expect([await on.read(target), await on.count()]).toEqual(["content", 1]);
      await bound("sub/deep");
      expect([await on.names(target), await on.count()]).toEqual([["file"], 1]);
    });

    it("makes read-only what a death on the way left writable", async () => {
      const { on, target, bound } = await volume();
      await bound("sub/deep");
      await bound("sub/deep", true);
      expect(await ending(on.fixture.files.writeFile(`${target}/file`, ""))).toBe("PermissionDenied");
      expect([await on.count(), await on.read(`${target}/file`)]).toEqual([1, "content"]);
    });

    it("follows links that stay in the volume", async () => {
      const { on, root, target, bound } = await volume();
      await on.link("sub/deep", `${root}/link`);
      await on.link(`${root}/sub`, `${root}/absolute`);
      expect(await bound("link/file")).toBeUndefined();
      expect(await on.read(target)).toBe("content");
      expect(await bound("absolute")).toBeUndefined();
      expect(await on.names(target)).toEqual(["deep"]);
    });

    it.each(["a blank", "tab\tline\nfeed", "back\\slash \\040", "#hash", "é😀", "-o ro", "...", "..x", "a,b:c"])(
      "binds what is named %j, and knows it again",
      async (name) => {
        const on = machine();
        const volumeRoot = await on.dir("volume");
        await on.dir("volume", name);
        await on.write(`${volumeRoot}/${name}/file`, "content");
        const target = on.at("pod", name, "0");
        for (let round = 0; round < 2; round += 1) {
          expect(await ending(on.port.bindInside({ volumeRoot, subPath: name, target }))).toBeUndefined();
        }
        expect([await on.count(), await on.read(`${target}/file`)]).toEqual([1, "content"]);
        await ending(on.port.unmount(target));
        expect([await on.count(), await on.names(target)]).toEqual([0, []]);
      },
    );

    it.each([
      "../outside",
      "sub/../../outside",
      "sub/./deep/../../../outside",
      "./..",
      "sub//..//..//outside",
      "/outside",
      "..",
      "sub/..",
      "a\0b",
    ])("refuses the subPath %j", async (subPath) => {
      const { on, root, bound } = await volume();
      expect(await bound(subPath)).toBe("InvalidArgument");
      expect(await ending(on.port.makeInside({ volumeRoot: root, subPath }))).toBe("InvalidArgument");
      expect([await on.count(), await on.names(on.at("outside"))]).toEqual([0, ["secret"]]);
    });

    it.each(["../outside", "absolute", "../../../../../../../../../../etc"])(
      "refuses what leads outside through a link to %s",
      async (link) => {
        const { on, root, bound } = await volume();
        await on.link(link === "absolute" ? on.at("outside") : link, `${root}/escape`);
        expect(await bound("escape")).toBe("InvalidArgument");
        for (const subPath of ["escape", "escape/made"]) {
          expect(await ending(on.port.makeInside({ volumeRoot: root, subPath }))).toBe("InvalidArgument");
        }
        expect([await on.count(), await on.names(on.at("outside"))]).toEqual([0, ["secret"]]);
      },
    );

    it("cannot bind what is not there", async () => {
      const { on, bound } = await volume();
      expect(await bound("sub/missing")).toBe("NotFound");
      expect(await on.count()).toBe(0);
    });

    it("makes what is missing, through links that stay in the volume, and leaves what is there", async () => {
      const { on, root, bound, target } = await volume();
      await on.link("sub", `${root}/link`);
      const make = (subPath: string) => ending(on.port.makeInside({ volumeRoot: root, subPath, mode: 0o2770 }));
      expect(await make("link/deep/new/newer")).toBeUndefined();
      expect(await on.names(`${root}/sub/deep`)).toEqual(["file", "new"]);
      expect(await make("link/deep/new")).toBeUndefined();
      expect(await make("sub/deep/file")).toBeUndefined();
      expect(await bound("sub/deep/new/newer")).toBeUndefined();
      expect(await on.names(target)).toEqual([]);
    });

    it("makes nothing below a file", async () => {
      const { on, root } = await volume();
      expect(await ending(on.port.makeInside({ volumeRoot: root, subPath: "sub/deep/file/new" }))).toBe("Io");
    });
  });
}
