import { execFileSync } from "node:child_process";
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { lastValueFrom, type Observable } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isKubeletError } from "../../../../src/core/errors.ts";
import { mountAt } from "../../../../src/core/mount/mountInfo.ts";
import type { Mounts } from "../../../../src/ports/mounts.ts";
import { mayMount } from "../../../../src/sinks/mounts/mayMount.ts";
import { runTool } from "../../../../src/sinks/mounts/mountTool.ts";
import { emptySmallTree } from "../../../../src/sinks/trees/removeSmallTree.ts";
import { createTrees } from "../../../../src/sinks/trees/trees.ts";
import { systemClock } from "../../../../src/sources/systemClock.ts";
import { findProgram } from "../../../support/findProgram.ts";
import { mustSkip } from "../../../support/mustSkip.ts";
import { missingForMounts, privateMounts } from "../../../support/privateMounts.ts";
import { temporaryDirectory } from "../../../support/temporaryDirectory.ts";
import { realVolumeFiles } from "../../../support/realFiles.ts";

const done = <T>(call: Observable<T>): Promise<T> => lastValueFrom(call);
const failure = (call: Observable<unknown>): Promise<string> =>
  lastValueFrom(call).then(
    () => "no failure",
    (thrown: unknown) => (isKubeletError(thrown) ? `${thrown.code}: ${thrown.message}` : String(thrown)),
  );

describe.skipIf(mustSkip("the mounts port on real mounts", missingForMounts()))("mounts of this machine", () => {
  let mounted: ReturnType<typeof privateMounts>;
  let mounts: Mounts;
  const at = (...names: readonly string[]) => join(mounted.place, ...names);
  const dir = async (...names: readonly string[]) => {
    await fs.mkdir(at(...names), { recursive: true });
    return at(...names);
  };
  const entry = async (path: string) => mountAt(await done(mounts.list()), path);
  const tmpfs = (target: string, ...options: readonly string[]) =>
    done(mounts.mount({ source: "tmpfs", target, fsType: "tmpfs", options }));
  beforeEach(() => {
    mounted = privateMounts();
    ({ mounts } = mounted);
  });
  afterEach(() => mounted.close());

  const missingForImages = findProgram("mkfs.ext4") === undefined ? ["mkfs.ext4 (Debian: e2fsprogs)"] : [];
  it.skipIf(mustSkip("images of file systems", missingForImages))("mounts an image by a loop device", async () => {
    const [image, target] = [at("image"), await dir("target")];
    await fs.writeFile(image, "");
    await fs.truncate(image, 4 * 1024 * 1024);
    execFileSync(findProgram("mkfs.ext4") ?? "", ["-q", image]);
    await done(mounts.mount({ source: image, target, fsType: "ext4", options: ["loop", "noatime"] }));
    expect(await entry(target)).toMatchObject({ fsType: "ext4", root: "/" });
    await fs.writeFile(join(target, "file"), "on the image");
    await done(mounts.unmount(target));
    await done(mounts.mount({ source: image, target, fsType: "ext4", options: ["loop", "ro"] }));
    expect(await fs.readFile(join(target, "file"), "utf8")).toBe("on the image");
  });

  it("lists the mounts at a place and below it", async () => {
    const [outer, inner, other] = [await dir("place"), await dir("place", "inner"), await dir("place-2")];
    for (const target of [outer, other]) await tmpfs(target);
    await fs.mkdir(inner);
    await tmpfs(inner);
    const points = async (place?: string) => (await done(mounts.list(place))).map(({ mountPoint }) => mountPoint);
    expect(await points(outer)).toEqual([outer, inner]);
    expect(await points(inner)).toEqual([inner]);
    expect(await points()).toEqual(expect.arrayContaining([outer, inner, other]));
  });

  it("keeps nosuid, nodev and noexec of a mount when it is bound read-only", async () => {
    const [source, target] = [await dir("source"), await dir("target")];
    await tmpfs(source, "nosuid", "nodev", "noexec");
    await done(mounts.bind({ source, target, readOnly: true }));
    expect((await entry(target))?.options).toEqual(expect.arrayContaining(["ro", "nosuid", "nodev", "noexec"]));
    expect((await entry(source))?.options).toContain("rw");
  });

  it("rejects an unmount in use, and detaches a lazy one", async () => {
    const target = await dir("target");
    await tmpfs(target);
    await using held = await fs.open(join(target, "file"), "w+");
    await held.write("still here");
    expect(await failure(mounts.unmount(target))).toMatch(/^Io: cannot unmount .*: target is busy/s);
    await done(mounts.unmount(target, { isLazy: true }));
    expect([await entry(target), (await held.read(Buffer.alloc(20), 0, 20, 0)).bytesRead]).toEqual([undefined, 10]);
  });

  it("reports the output of a failed tool", async () => {
    const target = await dir("target");
    const request = { source: "tmpfs", target, fsType: "tmpfs", options: ["nonsense=1"] };
    const said = await failure(mounts.mount(request));
    // The text of upstream's event.
    const shown = `mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t tmpfs -o nonsense=1 tmpfs ${target}\nOutput: mount: `;
    expect(said.slice(0, shown.length + 4)).toBe(`Io: ${shown}`);
    expect(said).toMatch(/wrong fs type, bad option[^]*\n$/);
    expect(await failure(mounts.mount({ ...request, fsType: "no-such-type", options: [] }))).toContain(
      "Mounting arguments: -t no-such-type tmpfs",
    );
  });

  it("takes no target for an option", async () => {
    expect(
      await failure(mounts.mount({ source: "--help", target: "--version", fsType: "tmpfs", options: [] })),
    ).toMatch(/^NotFound: /);
  });

  it("does not enter a mount that appears while a tree is removed", async () => {
    const [tree, precious] = [await dir("tree", "sub"), await dir("precious")];
    await fs.writeFile(join(precious, "file"), "data");
    await done(mounts.bind({ source: precious, target: tree }));
    // The look at the mount table came before the mount.
    const { signal } = new AbortController();
    expect(await emptySmallTree(at("tree"), signal)).toBe(false);
    const emptied = createTrees({ clock: systemClock }).local.run({ kind: "empty", dir: at("tree") }, signal);
    await expect(emptied).rejects.toMatchObject({
      code: "Io",
      message: `cannot remove ${at("tree")}: ${tree} is a mount point`,
    });
    expect(await fs.readFile(join(precious, "file"), "utf8")).toBe("data");
  });

  it("neither measures nor changes the group of mounts below a tree, of the same file system or another", async () => {
    const volumes = realVolumeFiles();
    const [volume, other] = [await dir("volume"), await dir("other")];
    await fs.writeFile(join(other, "file"), "");
    await done(mounts.bind({ source: other, target: await dir("volume", "bound") }));
    await tmpfs(await dir("volume", "tmpfs"));
    const { inodes } = await done(volumes.usage(volume));
    expect([inodes, await done(volumes.setOwnership(volume, { fsGroup: 4_711 }))]).toEqual([
      1n,
      { entries: 1, failures: 0 },
    ]);
    expect((await fs.stat(join(other, "file"))).gid).toBe(0);
  });
});

describe("the tools for mounts", () => {
  const dir = temporaryDirectory();

  it("are killed when the call is cancelled", async () => {
    const abort = new AbortController();
    const run = runTool({ program: "sleep", args: ["60"], what: "sleep", signal: abort.signal });
    abort.abort();
    await expect(run).rejects.toMatchObject({ code: "Cancelled" });
  });

  it("are missing on some machines: NotFound, with the name", async () => {
    const { signal } = new AbortController();
    const run = runTool({ program: "rxlet-no-such-tool", args: [], what: "try", signal });
    await expect(run).rejects.toMatchObject({ code: "NotFound", message: "cannot run rxlet-no-such-tool: ENOENT" });
  });

  it.each([
    ["CapEff:\t000001ffffffffff\n", true],
    ["Name:\tx\nCapEff:\t0000000000200000\n", true],
    ["CapEff:\t00000000a80425fb\n", false],
    ["Name:\tx\n", false],
  ])("may be used with CAP_SYS_ADMIN: %j", async (status, expected) => {
    await fs.writeFile(join(dir(), "status"), status);
    expect(mayMount(join(dir(), "status"))).toBe(expected);
  });

  it("may not be used where there is no /proc", () => {
    expect(mayMount(join(dir(), "missing"))).toBe(false);
  });
});
