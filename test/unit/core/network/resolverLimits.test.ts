/** The limits of the node's resolver file, in upstream's words. */
import { describe, expect, it } from "vitest";
import { resolverProblem } from "../../../../src/core/network/resolverLimits.ts";

const PATH = "/etc/resolv.conf";
const domains = (count: number, length = 3): string =>
  Array.from({ length: count }, (_, index) => `d${index}`.padEnd(length, "x")).join(" ");
const search = (list: string): string => `nameserver 192.0.2.53\nsearch ${list}\n`;
const TOO_MANY = (limit: number): string =>
  `Resolv.conf file '/etc/resolv.conf' contains search line consisting of more than ${limit} domains!`;
const TOO_LONG_PATH =
  'Resolv.conf file "/etc/resolv.conf" contains a search path which length is more than allowed 253 chars!';
const TOO_LONG_LINE =
  "Resolv.conf file '/etc/resolv.conf' contains search line which length is more than allowed 2048 chars!";

describe("resolverProblem", () => {
  it.each<[string, string, string, string | undefined]>([
    ["an empty file", "", "", undefined],
    ["as many domains as pods get", search(domains(32)), "", undefined],
    ["one domain too many", search(domains(33)), "", TOO_MANY(32)],
    ["room for the domains of a cluster", search(domains(29)), "cluster.local", undefined],
    ["no room for the domains of a cluster", search(domains(30)), "cluster.local", TOO_MANY(29)],
    ["the longest domain", search("x".repeat(253)), "", undefined],
    ["a domain that is too long", search("x".repeat(254)), "", TOO_LONG_PATH],
    // 8 domains of 253 characters and 7 spaces are 2031 characters.
    ["the longest line", search(`${domains(8, 253)} ${"y".repeat(16)}`), "", undefined],
    ["a line that is too long", search(`${domains(8, 253)} ${"y".repeat(17)}`), "", TOO_LONG_LINE],
    ["a name server without address", "nameserver \n", "", "nameserver list is empty "],
    ["the last search line", `${search(domains(33))}search short\n`, "", undefined],
  ])("%s", (_what, content, clusterDomain, expected) => {
    expect(resolverProblem(PATH, content, clusterDomain)).toBe(expected);
  });
});
