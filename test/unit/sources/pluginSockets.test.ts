import { createServer, type Server } from "node:net";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { firstValueFrom, type Subscription } from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import { pluginSockets } from "../../../src/sources/pluginSockets.ts";
import { temporaryDirectory } from "../../support/temporaryDirectory.ts";
import { waitFor } from "../../support/waitFor.ts";

describe("pluginSockets", () => {
  const base = temporaryDirectory();
  const root = (): string => join(base(), "plugins_registry");
  const servers: Server[] = [];
  let watching: Subscription | undefined;
  afterEach(() => {
    watching?.unsubscribe();
    for (const server of servers.splice(0)) server.close();
  });
  const listen = async (path: string): Promise<Server> => {
    const server = createServer();
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(path, resolve));
    return server;
  };
  const listed = () => firstValueFrom(pluginSockets(root()).list());
  const names = async (): Promise<readonly string[]> =>
    (await listed()).sockets.map(({ path }) => path.slice(root().length + 1));

  it("creates the directory, and finds sockets at any depth but hidden ones, links and other files", async () => {
    expect(await names()).toEqual([]);
    await mkdir(join(root(), "deep/er"), { recursive: true });
    await mkdir(join(root(), ".hidden"));
    await listen(join(root(), "a.sock"));
    await listen(join(root(), "deep/er/b.sock"));
    await listen(join(root(), ".c.sock"));
    await listen(join(root(), ".hidden/d.sock"));
    await writeFile(join(root(), "e.sock"), "");
    await symlink(join(root(), "a.sock"), join(root(), "f.sock"));
    await symlink("/proc", join(root(), "loop"));
    expect(await names()).toEqual(["a.sock", "deep/er/b.sock"]);
  });

  it("gives a socket another identity once it is made again", async () => {
    await listed();
    await listen(join(root(), "a.sock"));
    const [before] = (await listed()).sockets;
    expect((await listed()).sockets).toEqual([before]);
    await listen(join(root(), "b.sock"));
    await rename(join(root(), "b.sock"), join(root(), "a.sock"));
    const [after] = (await listed()).sockets;
    expect(after?.path).toBe(before?.path);
    expect(after?.identity).not.toBe(before?.identity);
  });

  it("names directories beyond its bounds as unread", async () => {
    await mkdir(root());
    await Promise.all(Array.from({ length: 300 }, (_, n) => mkdir(join(root(), `d${n}`))));
    await listen(join(root(), "a.sock"));
    const { sockets, unread } = await listed();
    expect(sockets).toHaveLength(1);
    expect(unread).toHaveLength(300 - 255);
  });

  it("hints at sockets that come and go, also in new directories, and fails once the directory is gone", async () => {
    await listed();
    let hints = 0;
    let failure: unknown;
    watching = pluginSockets(root()).changes$.subscribe({
      next: () => (hints += 1),
      error: (thrown: unknown) => (failure = thrown),
    });
    const hinted = async (what: string, change: () => Promise<unknown>): Promise<void> => {
      const before = hints;
      await change();
      await waitFor(what, () => hints > before);
    };
    await waitFor("the watch", () => hints > 0);
    await hinted("a socket", () => listen(join(root(), "a.sock")));
    await hinted("its removal", () => rm(join(root(), "a.sock")));
    await hinted("a directory", () => mkdir(join(root(), "deep")));
    await hinted("a socket in it", () => listen(join(root(), "deep/b.sock")));
    await rm(root(), { recursive: true });
    await waitFor("the failure", () => failure !== undefined);
  });
});
