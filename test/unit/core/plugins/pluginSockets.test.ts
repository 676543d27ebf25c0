import { describe, expect, it } from "vitest";
import {
  followSockets,
  MAX_PLUGIN_SOCKETS,
  NO_SOCKETS,
  type PluginListing,
  type PluginSocket,
} from "../../../../src/core/plugins/pluginSockets.ts";

const socket = (path: string, identity = "1"): PluginSocket => ({ path, identity });
const listing = (...sockets: readonly PluginSocket[]): PluginListing => ({ sockets, unread: [] });

describe("followSockets", () => {
  it("reports each socket once", () => {
    const first = followSockets(NO_SOCKETS, listing(socket("/p/a"), socket("/p/b")));
    expect(first.changes).toEqual([
      { path: "/p/a", socket: socket("/p/a") },
      { path: "/p/b", socket: socket("/p/b") },
    ]);
    expect(followSockets(first, listing(socket("/p/a"), socket("/p/b"))).changes).toEqual([]);
  });

  it("reports a socket that took the place of another, and one that is gone, removals first", () => {
    const before = followSockets(NO_SOCKETS, listing(socket("/p/a"), socket("/p/b")));
    expect(followSockets(before, listing(socket("/p/a", "2"))).changes).toEqual([
      { path: "/p/b", socket: undefined },
      { path: "/p/a", socket: socket("/p/a", "2") },
    ]);
  });

  it("keeps the sockets of a directory that could not be read", () => {
    const before = followSockets(NO_SOCKETS, listing(socket("/p/a"), socket("/p/deep/b"), socket("/p/deeper")));
    const after = followSockets(before, { sockets: [], unread: ["/p/deep"] });
    expect([...after.known.keys()]).toEqual(["/p/deep/b"]);
    expect(after.changes).toEqual([
      { path: "/p/a", socket: undefined },
      { path: "/p/deeper", socket: undefined },
    ]);
  });

  it("ignores new sockets beyond the bound, never known ones", () => {
    const known = Array.from({ length: MAX_PLUGIN_SOCKETS }, (_, n) => socket(`/p/known${n}`));
    const before = followSockets(NO_SOCKETS, listing(...known));
    const flood = Array.from({ length: 1000 }, (_, n) => socket(`/p/a${n}`));
    const after = followSockets(before, listing(...flood, ...known.slice(0, -1), socket("/p/known0", "2")));
    expect([after.known.size, before.ignored]).toEqual([256, 0]);
    expect(after.ignored).toBe(999);
    expect(after.known.get("/p/known0")?.identity).toBe("2");
    expect(after.changes.map(({ path }) => path)).toEqual([`/p/known${MAX_PLUGIN_SOCKETS - 1}`, "/p/a0", "/p/known0"]);
  });
});
