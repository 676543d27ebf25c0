import { chmod, mkdir, mkdtemp, readdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { claimRuntime } from "../../../src/commands/runtimeClaim.ts";
import { removeFolder } from "../../support/removeFolder.ts";

const ENDPOINT = "unix:///var/run/docker.sock";

describe("the note of a runtime in use", () => {
  let folder: string;
  let before: string | undefined;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "rxlet-claim-"));
    before = process.env["XDG_RUNTIME_DIR"];
    process.env["XDG_RUNTIME_DIR"] = folder;
  });
  afterEach(async () => {
    if (before === undefined) delete process.env["XDG_RUNTIME_DIR"];
    else process.env["XDG_RUNTIME_DIR"] = before;
    await removeFolder(folder);
  });
  const lastOf = async (endpoint = ENDPOINT) => (await claimRuntime(endpoint)).last;
  /** Replaces the note of this process. */
  const write = async (text: string): Promise<void> => {
    const [name = ""] = await readdir(join(folder, "rxlet"));
    await writeFile(join(folder, "rxlet", name), text);
  };

  it("is there while its process uses the runtime, and gone afterwards", async () => {
    expect(await lastOf()).toEqual({ kind: "none" });
    const claim = await claimRuntime(ENDPOINT);
    await claim.take();
    expect(await lastOf()).toEqual({ kind: "running", pid: process.pid });
    expect(await lastOf("unix:///other.sock")).toEqual({ kind: "none" });
    await claim.drop();
    expect([await lastOf(), await readdir(folder)]).toEqual([{ kind: "none" }, []]);
  });

  it("is that of a process that has ended, even if another one has its id", async () => {
    await (await claimRuntime(ENDPOINT)).take();
    await write(JSON.stringify({ pid: process.pid, startedAt: "1" }));
    expect(await lastOf()).toEqual({ kind: "ended" });
    await write(JSON.stringify({ pid: 2 ** 30, startedAt: "1" }));
    expect(await lastOf()).toEqual({ kind: "ended" });
    await write(JSON.stringify({ pid: process.pid }));
    expect(await lastOf()).toEqual({ kind: "ended" });
  });

  it.each(["{", "[]", '{"pid":"7"}'])("does not count with the content %j", async (text) => {
    await (await claimRuntime(ENDPOINT)).take();
    await write(text);
    expect(await lastOf()).toEqual({ kind: "none" });
  });

  it("does not count where others can write", async () => {
    await mkdir(join(folder, "rxlet"));
    await (await claimRuntime(ENDPOINT)).take();
    await chmod(join(folder, "rxlet"), 0o777);
    expect(await lastOf()).toEqual({ kind: "none" });
  });
});
