import { describe, expect, it } from "vitest";
import { listeningPath, passedSockets } from "../../../../src/core/systemd/passedSockets.ts";

const PID = 42;
const passed = (LISTEN_FDS: string | undefined, LISTEN_FDNAMES?: string, LISTEN_PID = String(PID)) =>
  passedSockets({ LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES }, PID);
const TABLE = `Num       RefCount Protocol Flags    Type St Inode Path
00000000691949f1: 00000003 00000000 00000000 0001 03 33178
00000000d4103d68: 00000002 00000000 00010000 0001 01 24535 /run/rxlet/local.sock
00000000d4103d69: 00000002 00000000 00010000 0001 01 24536 @abstract
00000000d4103d6a: 00000002 00000000 00000000 0002 01 24537 /run/datagram.sock
00000000d4103d6b: 00000003 00000000 00000000 0001 03 24538 /run/rxlet/local.sock
00000000d4103d6c: 00000002 00000000 00010000 0001 01 24539 /a path/with spaces
`;

describe("passedSockets", () => {
  it("numbers descriptors from 3 and takes the names of their units", () => {
    expect(passed("2", "local:other")).toEqual({
      ok: true,
      value: [
        { fd: 3, name: "local" },
        { fd: 4, name: "other" },
      ],
    });
  });

  it.each([
    ["no name", undefined, ["unknown", "unknown"]],
    ["one name too few", "local", ["local", "unknown"]],
    ["an empty name", ":local", ["unknown", "local"]],
    ["more names than sockets", "a:b:c", ["a", "b"]],
  ])("has a name for each with %s", (_title, names, expected) => {
    const found = passed("2", names);
    expect(found.ok && found.value.map(({ name }) => name)).toEqual(expected);
  });

  it.each([
    ["another process", passed("1", "local", "41")],
    ["no process", passedSockets({}, PID)],
    ["nothing", passed("0")],
  ])("is empty for sockets of %s", (_title, found) => {
    expect(found).toEqual({ ok: true, value: [] });
  });

  it.each([undefined, "", "-1", "x", "1.5", "65", "9".repeat(40)])("refuses the count %s", (count) => {
    expect(passed(count)).toMatchObject({ ok: false, error: { code: "InvalidArgument" } });
  });

  it("takes up to 64", () => {
    const found = passed("64");
    expect(found.ok && found.value.length).toBe(64);
  });
});

describe("listeningPath", () => {
  it.each([
    [24_535, "/run/rxlet/local.sock"],
    [24_539, "/a path/with spaces"],
  ])("finds the path of inode %i", (inode, path) => {
    expect(listeningPath(inode, TABLE)).toBe(path);
  });

  it.each([
    ["a connection", 33_178],
    ["an abstract name", 24_536],
    ["datagrams", 24_537],
    ["a connection that was accepted there", 24_538],
    ["an unknown inode", 1],
  ])("has none for %s", (_title, inode) => {
    expect(listeningPath(inode, TABLE)).toBeUndefined();
  });
});
