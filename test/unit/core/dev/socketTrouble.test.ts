import { expect, it } from "vitest";
import { socketTrouble } from "../../../../src/core/dev/socketTrouble.ts";

const facts = { isSocket: true, owner: "root", group: "docker", mode: 0o660 };

it.each([
  [
    "is missing",
    "ENOENT",
    undefined,
    "there is no socket /s: Docker is not installed or does not run, or its socket is elsewhere (--runtime-endpoint)",
  ],
  ["has no listener", "ECONNREFUSED", facts, "nothing listens on /s: Docker does not run"],
  [
    "is for a group",
    "EACCES",
    facts,
    "this user may not use /s (root:docker, mode 0660): run as root or as a member of the group docker",
  ],
  [
    "is for root alone",
    "EACCES",
    { ...facts, mode: 0o600 },
    "this user may not use /s (root:docker, mode 0600): run as root",
  ],
  [
    "is for root and its group",
    "EACCES",
    { ...facts, group: "root" },
    "this user may not use /s (root:root, mode 0660): run as root",
  ],
  ["is in a directory that hides it", "EACCES", undefined, "this user may not use /s"],
  [
    "is a file",
    "ECONNREFUSED",
    { ...facts, isSocket: false },
    "/s is not a socket: --runtime-endpoint names the socket of Docker",
  ],
  ["does not answer", "ETIMEDOUT", facts, "cannot connect to /s: ETIMEDOUT"],
])("the socket of Docker %s", (_, errno, shown, expected) => {
  expect(socketTrouble("docker", "/s", errno, shown)).toBe(expected);
});
