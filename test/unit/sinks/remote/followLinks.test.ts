import * as fs from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseMountInfo } from "../../../../src/core/mount/mountInfo.ts";
import { followLinks, remoteMountOf } from "../../../../src/sinks/remote/followLinks.ts";
import { temporaryDirectory } from "../../../support/temporaryDirectory.ts";

describe("following the links of a path", () => {
  const dir = temporaryDirectory();
  const local = "1 0 8:1 / / rw - ext4 /dev/sda1 rw";
  const remoteAt = (path: string) => parseMountInfo(`${local}\n2 1 0:9 / ${path} rw - nfs4 server:/export rw`);
  const link = (name: string, to: string) => fs.symlink(to, join(dir(), name));
  /** The end of a path of the directory, and whether it leads through the remote mount `share`. */
  const end = async (path: string) => {
    const found = await followLinks(join(dir(), path), remoteAt(join(dir(), "share")));
    return [found.path.replace(dir(), "."), found.mount?.fsType];
  };

  it("ends at the file behind absolute and relative links", async () => {
    await fs.mkdir(join(dir(), "a/b"), { recursive: true });
    await link("absolute", join(dir(), "a"));
    await link("a/relative", "../a/./b");
    await link("a/b/up", "../..");
    expect(
      await Promise.all(["a/b", "absolute/b", "absolute/relative", "a/b/up/absolute", "a/../a/b"].map(end)),
    ).toEqual(["./a/b", "./a/b", "./a/b", "./a", "./a/b"].map((path) => [path, undefined]));
  });

  it("ends at the first missing name, with the rest of the path", async () => {
    await link("dangling", "nowhere/x");
    expect(await Promise.all(["none/a/b", "dangling/y"].map(end))).toEqual([
      ["./none/a/b", undefined],
      ["./nowhere/x/y", undefined],
    ]);
  });

  it("ends at a remote mount, with the rest of the path, and never above the root", async () => {
    await link("to-share", join(dir(), "share/sub"));
    await link("out", "/../../..");
    expect(await Promise.all(["share", "share/x/y", "to-share/x"].map(end))).toEqual([
      ["./share", "nfs4"],
      ["./share/x/y", "nfs4"],
      ["./share/sub/x", "nfs4"],
    ]);
    expect((await followLinks(join(dir(), "out"), [])).path).toBe("/");
  });

  it("follows forty links, as many as the kernel, and not the forty-first", async () => {
    await link("1", "share");
    for (let number = 2; number <= 41; number += 1) await link(String(number), String(number - 1));
    await link("loop", "loop");
    expect(await Promise.all(["40", "41", "loop"].map(end))).toEqual([
      ["./share", "nfs4"],
      ["./1", undefined],
      ["./loop", undefined],
    ]);
  });

  it("finds the remote mount of a path, and none where there is no remote mount", async () => {
    const share = join(dir(), "share");
    expect([
      (await remoteMountOf(join(share, "x"), remoteAt(share)))?.mountPoint,
      await remoteMountOf(join(dir(), "other"), remoteAt(share)),
      await remoteMountOf(join(share, "x"), parseMountInfo(local)),
    ]).toEqual([share, undefined, undefined]);
  });
});
