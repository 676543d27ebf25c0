import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, readFile, stat, symlink } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { announceDev, runningDevs } from "../../../src/commands/devInstances.ts";
import { removeFolder } from "../../support/removeFolder.ts";

const FILES = { "client.pem": "secret" };

describe("instances of rxlet dev", () => {
  let folder: string;
  let before: string | undefined;
  let listener: Server;
  let port: number;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "rxlet-instances-"));
    before = process.env["XDG_RUNTIME_DIR"];
    process.env["XDG_RUNTIME_DIR"] = folder;
    listener = createServer((socket) => socket.destroy());
    listener.listen(0, "127.0.0.1");
    await once(listener, "listening");
    ({ port } = listener.address() as AddressInfo);
  });
  afterEach(async () => {
    if (before === undefined) delete process.env["XDG_RUNTIME_DIR"];
    else process.env["XDG_RUNTIME_DIR"] = before;
    listener.close();
    await removeFolder(folder);
  });

  const record = (manifests: string, pid = process.pid) => ({
    pid,
    manifests,
    server: `https://127.0.0.1:${port}`,
    startedAt: "2026-01-01T00:00:00Z",
  });
  const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

  it("are found until they withdraw, and leave nothing behind", async () => {
    const [shop, blog] = [await announceDev(record("/shop"), FILES), await announceDev(record("/blog"), FILES)];
    expect((await runningDevs()).map(({ manifests, directory }) => [manifests, directory])).toEqual([
      ["/blog", blog.directory],
      ["/shop", shop.directory],
    ]);
    await shop.withdraw();
    expect((await runningDevs()).map(({ manifests }) => manifests)).toEqual(["/blog"]);
    await blog.withdraw();
    expect(await readdir(folder)).toEqual([]);
  });

  it("keep their files from everybody else", async () => {
    const { directory } = await announceDev(record("/shop"), FILES);
    expect(await readFile(join(directory, "client.pem"), "utf8")).toBe("secret");
    expect([await modeOf(directory), await modeOf(join(directory, "client.pem"))]).toEqual([0o700, 0o600]);
  });

  it("have the same directory each time, unless another one runs there", async () => {
    const first = await announceDev(record("/shop"), FILES);
    const second = await announceDev(record("/shop"), FILES);
    expect(second.directory).toBe(`${first.directory}-${process.pid}`);
    await first.withdraw();
    await second.withdraw();
    expect((await announceDev(record("/shop"), FILES)).directory).toBe(first.directory);
  });

  it("count no longer when their process has ended, and make room", async () => {
    const ended = spawn("true");
    await once(ended, "exit");
    const dead = await announceDev(record("/shop", ended.pid), FILES);
    expect(await runningDevs()).toEqual([]);
    const next = await announceDev(record("/shop"), FILES);
    expect(next.directory).toBe(dead.directory);
    expect((await runningDevs()).map(({ pid }) => pid)).toEqual([process.pid]);
  });

  it("count no longer when nothing listens, though the number of their process is in use", async () => {
    await announceDev(record("/shop"), FILES);
    listener.close();
    await once(listener, "close");
    expect(await runningDevs()).toEqual([]);
  });

  it("are neither written nor read in a directory that others may write to", async () => {
    await announceDev(record("/shop"), FILES);
    await chmod(join(folder, "rxlet"), 0o777);
    expect(await runningDevs()).toEqual([]);
    await expect(announceDev(record("/blog"), FILES)).rejects.toMatchObject({ code: "PermissionDenied" });
  });

  it("are not written behind a symbolic link", async () => {
    await mkdir(join(folder, "elsewhere"), { mode: 0o700 });
    await symlink(join(folder, "elsewhere"), join(folder, "rxlet"));
    await expect(announceDev(record("/shop"), FILES)).rejects.toMatchObject({ code: "PermissionDenied" });
    expect(await readdir(join(folder, "elsewhere"))).toEqual([]);
  });
});
