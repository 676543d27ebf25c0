import { describe, expect, it } from "vitest";
import {
  ancestorFault,
  groupFault,
  groupId,
  localSocketPath,
  placeFault,
  type PlaceFacts,
  proofFault,
  serverFault,
} from "../../../../src/core/local/localSocket.ts";

const directory: PlaceFacts = { kind: "directory", uid: 0, gid: 0, mode: 0o750, links: 2 };
const file: PlaceFacts = { kind: "file", uid: 1000, gid: 50, mode: 0o644, links: 1 };
const socket: PlaceFacts = { kind: "socket", uid: 0, gid: 50, mode: 0o660, links: 1 };
const RULES = { uid: 0, gid: 50 };

describe("the path of the socket", () => {
  it.each([
    ["", true, "/root/local/local.sock"],
    ["", false, undefined],
    ["off", true, undefined],
    ["/run/x.sock", false, "/run/x.sock"],
  ])("flag %j, standalone %j: %j", (flag, isStandalone, path) => {
    expect(localSocketPath(flag, "/root", isStandalone)).toBe(path);
  });
});

describe("directories above the socket", () => {
  it.each([
    ["of root", {}, undefined],
    ["of root, for all to enter", { mode: 0o755 }, undefined],
    ["of root, with files of each user's own", { mode: 0o1777 }, undefined],
    ["of root, for root's group to write", { mode: 0o775 }, undefined],
    ["for a group to write", { mode: 0o775, gid: 50 }, "/d has mode 0775: others could replace the socket"],
    ["for all to write", { mode: 0o777 }, "/d has mode 0777: others could replace the socket"],
    ["of another user", { uid: 7 }, "/d belongs to user 7, who could replace the socket"],
    ["a file", { kind: "file" }, "/d is not a directory"],
  ] as const)("%s", (_title, more, fault) => {
    expect(ancestorFault("/d", { ...directory, ...more }, RULES)).toBe(fault);
  });
});

it("needs a directory of its own for the socket", () => {
  expect(placeFault("/d", directory, RULES)).toBeUndefined();
  expect(placeFault("/d", { ...directory, mode: 0o755 }, RULES)).toBe(
    "/d has mode 0755: the socket needs a directory of its own with mode 0750",
  );
  expect(placeFault("/d", { ...directory, mode: 0o770 }, RULES)).toContain("mode 0770");
  expect(placeFault("/d", { ...directory, uid: 7 }, RULES)).toBe("/d belongs to user 7 instead of 0");
});

it("tells which directory keeps the group out", () => {
  expect(groupFault("/d", directory, RULES)).toBe("group 50 may not search /d");
  expect(groupFault("/d", { ...directory, gid: 50 }, RULES)).toBeUndefined();
  expect(groupFault("/d", { ...directory, mode: 0o755 }, RULES)).toBeUndefined();
  expect(groupFault("/d", directory, { uid: 0, gid: undefined })).toBeUndefined();
});

describe("a proof", () => {
  it.each([
    ["of a member", {}, "c", RULES, undefined],
    ["of root", { uid: 0, gid: 0 }, "c", RULES, undefined],
    ["of the daemon's user", { uid: 9, gid: 9 }, "c", { uid: 9, gid: 50 }, undefined],
    ["of a stranger", { gid: 51 }, "c", RULES, "user 1000 does not belong to group 50"],
    ["without a group", {}, "c", { uid: 0, gid: undefined }, "user 1000 is not root, and no group is allowed"],
    ["with another content", {}, "d", RULES, "it does not hold the challenge"],
    ["with a second name", { links: 2 }, "c", RULES, "it is not a file of its own"],
    ["that is no file", { kind: "other" }, "c", RULES, "it is not a file of its own"],
  ] as const)("%s", (_title, more, content, rules, fault) => {
    expect(proofFault({ ...file, ...more }, content, "c", rules)).toBe(fault);
  });
});

describe("a server's socket", () => {
  it.each([
    ["of root", socket, directory, undefined],
    ["of the own user", { ...socket, uid: 1000 }, { ...directory, uid: 1000 }, undefined],
    ["of another user", { ...socket, uid: 7 }, directory, "/s belongs to user 7"],
    ["in a directory of another user", socket, { ...directory, uid: 7 }, "the directory of /s belongs to user 7"],
    ["in a directory for all to write", socket, { ...directory, mode: 0o1777 }, "the directory of /s has mode 1777"],
    ["a file", { ...socket, kind: "file" }, directory, "/s is not a socket"],
  ] as const)("%s", (_title, facts, place, fault) => {
    expect(serverFault("/s", facts, place, 1000)).toBe(fault);
  });
});

it("finds a group by name or number", () => {
  const lines = "root:x:0:\nadm:x:4:syslog\nbad:x:four:\n";
  expect(["adm", "4242", "bad", "none", "99999999999", ""].map((group) => groupId(group, lines))).toEqual([
    4,
    4242,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
