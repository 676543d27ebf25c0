import { describe, expect, it } from "vitest";
import { entryNames, readCopySide, remotePlace, staysInside } from "../../../../src/core/copy/copyPaths.ts";

describe("a side of a copy", () => {
  it.each([
    ["file", { kind: "local", path: "file" }],
    ["./a:b", { kind: "local", path: "./a:b" }],
    ["/a:b", { kind: "local", path: "/a:b" }],
    ["pod:/etc", { kind: "pod", namespace: undefined, pod: "pod", path: "/etc" }],
    ["demo/pod:a:b", { kind: "pod", namespace: "demo", pod: "pod", path: "a:b" }],
    ["", undefined],
    ["pod:", undefined],
    [":/etc", undefined],
    ["a/b/c:/etc", undefined],
    ["/pod:x", { kind: "local", path: "/pod:x" }],
  ])("%j", (text, side) => {
    expect(readCopySide(text)).toEqual(side);
  });
});

it.each([
  ["/var/log", { directory: "/var", name: "log" }],
  ["/var/log//", { directory: "/var", name: "log" }],
  ["/log", { directory: "/", name: "log" }],
  ["log", { directory: ".", name: "log" }],
  ["/", { directory: "/", name: "." }],
  ["/var/.", { directory: "/var/.", name: "." }],
  ["../..", { directory: "../..", name: "." }],
  ["-x/-y", { directory: "-x", name: "-y" }],
])("splits %j", (path, place) => {
  expect(remotePlace(path)).toEqual(place);
});

it.each([
  ["./a/b/", ["a", "b"]],
  ["a//./b", ["a", "b"]],
  ["./", []],
  ["/etc/passwd", undefined],
  ["a/../../b", undefined],
  ["..", undefined],
  ["a\0b", undefined],
  ["x".repeat(256), undefined],
  ["a/".repeat(2_049), undefined],
])("an entry %j has the names %j", (path, names) => {
  expect(entryNames(path)).toEqual(names);
});

it.each([
  [["l"], "file", true],
  [["d", "l"], "../file", true],
  [["d", "l"], "../../file", false],
  [["l"], "..", false],
  [["l"], "a/../../b", false],
  [["l"], "/etc/passwd", false],
  [["l"], "", false],
])("a link at %j to %j stays inside: %j", (at, target, isInside) => {
  expect(staysInside(at, target)).toBe(isInside);
});
