/** The contract of the Mounts port, for every implementation. */
import { lastValueFrom } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { seenBelow } from "../../src/core/mount/mountInfo.ts";
import { ending, type MountsFixture, MountsUnderTest } from "./mountsFixture.ts";
import { subPathConformance } from "./subPathConformance.ts";

/** Runs the suite on the machines that `open` makes, one for each test. */
export function mountsConformance(name: string, open: () => Promise<MountsFixture>): void {
  describe(`mounts: ${name}`, () => {
    let on: MountsUnderTest;
    beforeEach(async () => {
      on = new MountsUnderTest(await open());
    });
    afterEach(() => on.fixture.close());
    fileSystemsConformance(() => on);
    bindConformance(() => on);
    removalConformance(() => on);
    subPathConformance(() => on);
  });
}

function fileSystemsConformance(machine: () => MountsUnderTest): void {
  it("mounts a file system over a directory, and gives the directory back", async () => {
    const on = machine();
    const dir = await on.dir("volume with a blank");
    await on.write(`${dir}/hidden`, "below");
    expect(await on.tmpfs(dir, "size=64k")).toBeUndefined();
    await on.write(`${dir}/seen`, "above");
    expect(await on.names(dir)).toEqual(["seen"]);
    expect(await on.entry(dir)).toMatchObject({ mountPoint: dir, root: "/", fsType: "tmpfs", source: "tmpfs" });
    expect(await ending(on.port.unmount(dir))).toBeUndefined();
    expect([await on.names(dir), await on.read(`${dir}/hidden`), await on.entry(dir)]).toEqual([
      ["hidden"],
      "below",
      undefined,
    ]);
  });

  it("mounts one over another, and takes away the topmost alone", async () => {
    const on = machine();
    const dir = await on.dir("volume");
    for (const name of ["first", "second"]) {
      await on.tmpfs(dir);
      await on.write(`${dir}/${name}`, "");
    }
    expect([await on.count(), await on.names(dir)]).toEqual([2, ["second"]]);
    await ending(on.port.unmount(dir));
    expect([await on.count(), await on.names(dir)]).toEqual([1, ["first"]]);
    await ending(on.port.unmount(dir));
    expect([await on.count(), await on.names(dir)]).toEqual([0, []]);
  });

  it("finds the mounts of a directory that is named through links", async () => {
    const on = machine();
    const dir = await on.dir("volume");
    await on.tmpfs(dir);
    await on.dir("volume/data");
    await on.link(dir, `${dir}-link`);
    await on.link(`${dir}-link/data`, `${dir}-below`);
    const followed = (path: string) => lastValueFrom(on.port.realPath(path));
    expect([await followed(`${dir}-below`), await followed(`${dir}-link/none`)]).toEqual([
      `${dir}/data`,
      `${dir}/none`,
    ]);
    const pods = await on.dir("pods");
    const target = await on.dir("pods/shown");
    await ending(on.port.bind({ source: `${dir}-below`, target }));
    const entries = await lastValueFrom(on.port.list());
    expect(seenBelow(entries, await followed(`${dir}-below`), pods)).toEqual([target]);
  });

  it("is fine with unmounting what is not mounted, or not there", async () => {
    const on = machine();
    const dir = await on.dir("volume");
    expect(await ending(on.port.unmount(dir))).toBeUndefined();
    expect(await ending(on.port.unmount(`${dir}/missing`))).toBeUndefined();
    expect(await ending(on.port.unmount(`${dir}/missing/below`, { isLazy: true }))).toBeUndefined();
  });

  it("fails where there is no mount point", async () => {
    const on = machine();
    expect(await on.tmpfs(on.at("missing"))).toBe("NotFound");
    expect(await on.count()).toBe(0);
  });

  it("detaches lazily", async () => {
    const on = machine();
    const dir = await on.dir("volume");
    await on.tmpfs(dir);
    expect(await ending(on.port.unmount(dir, { isLazy: true }))).toBeUndefined();
    expect(await on.count()).toBe(0);
  });
}

function bindConformance(machine: () => MountsUnderTest): void {
  it("shows a directory at a second place, both ways", async () => {
    const on = machine();
    const [source, target] = [await on.dir("source"), await on.dir("target")];
    await on.write(`${source}/file`, "one");
    expect(await ending(on.port.bind({ source, target }))).toBeUndefined();
    expect(await on.read(`${target}/file`)).toBe("one");
    await on.write(`${target}/file`, "two");
    expect(await on.read(`${source}/file`)).toBe("two");
    await ending(on.port.unmount(target));
    expect([await on.names(target), await on.names(source)]).toEqual([[], ["file"]]);
  });

  it("shows a file at a second place", async () => {
    const on = machine();
    const [source, target] = [on.at("source"), on.at("target")];
    await on.write(source, "content");
    await on.write(target, "");
    expect(await ending(on.port.bind({ source, target }))).toBeUndefined();
    expect(await on.read(target)).toBe("content");
    await ending(on.port.unmount(target));
    expect(await on.read(target)).toBe("");
  });

  it("binds read-only: the second place alone cannot be written", async () => {
    const on = machine();
    const [source, target] = [await on.dir("source"), await on.dir("target")];
    expect(await ending(on.port.bind({ source, target, readOnly: true }))).toBeUndefined();
    expect((await on.entry(target))?.options).toContain("ro");
    expect(await ending(on.fixture.files.writeFile(`${target}/file`, ""))).toBe("PermissionDenied");
    await on.write(`${source}/file`, "content");
    expect(await on.read(`${target}/file`)).toBe("content");
  });

  it("makes a bind read-only later, and what it is bound from stays as it is", async () => {
    const on = machine();
    const [source, target] = [await on.dir("source"), await on.dir("target")];
    await on.tmpfs(source);
    await ending(on.port.bind({ source, target }));
    expect(await ending(on.port.makeReadOnly(target))).toBeUndefined();
    expect((await on.entry(target))?.options).toContain("ro");
    expect(await ending(on.fixture.files.writeFile(`${target}/file`, ""))).toBe("PermissionDenied");
    await on.write(`${source}/file`, "content");
    expect([await on.count(), await on.read(`${target}/file`)]).toEqual([2, "content"]);
  });

  it("fails without a source or a target, and leaves nothing", async () => {
    const on = machine();
    const dir = await on.dir("dir");
    expect(await ending(on.port.bind({ source: on.at("missing"), target: dir }))).toBe("NotFound");
    expect(await ending(on.port.bind({ source: dir, target: on.at("missing") }))).toBe("NotFound");
    expect(await on.count()).toBe(0);
  });

  it("shows what is mounted below only when asked to", async () => {
    const on = machine();
    const [source, target] = [await on.dir("source"), await on.dir("target")];
    await on.tmpfs(await on.dir("source", "below"));
    await on.write(`${source}/below/file`, "content");
    await ending(on.port.bind({ source, target }));
    expect(await on.names(`${target}/below`)).toEqual([]);
    await ending(on.port.unmount(target));
    await ending(on.port.bind({ source, target, recursive: true }));
    expect(await on.names(`${target}/below`)).toEqual(["file"]);
    expect(await on.count()).toBe(3);
  });
}

function removalConformance(machine: () => MountsUnderTest): void {
  it("removes no tree with a mount in it: not of another file system, nor a bind of the same", async () => {
    const on = machine();
    const [source, target] = [await on.dir("source"), await on.dir("pod", "volumes", "target")];
    await on.write(`${source}/precious`, "data");
    await ending(on.port.bind({ source, target }));
    for (const path of ["pod", "pod/volumes", "pod/volumes/target"]) expect(await on.remove(on.at(path))).toBe("Io");
    expect(await on.read(`${source}/precious`)).toBe("data");
    await ending(on.port.unmount(target));
    await on.tmpfs(target);
    await on.write(`${target}/precious`, "data");
    expect(await on.remove(on.at("pod"))).toBe("Io");
    expect(await on.read(`${target}/precious`)).toBe("data");
    await ending(on.port.unmount(target));
    expect(await on.remove(on.at("pod"))).toBeUndefined();
    expect(await on.names(on.fixture.place)).toEqual(["source"]);
  });
}
