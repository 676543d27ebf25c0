import { describe, expect, it } from "vitest";
import {
  cleanPayload,
  directoriesOf,
  generationPrefix,
  isGeneration,
  visibleNames,
} from "../../../../src/core/mount/payload.ts";

const empty = { content: new Uint8Array(0) };
const clean = (...paths: readonly string[]) => {
  const result = cleanPayload(new Map(paths.map((path) => [path, empty])));
  return result.ok ? [...result.value.keys()] : result.error.message;
};

describe("the payload of a volume", () => {
  it("has clean paths, sorted", () => {
    expect(clean("z", "./a//b/", "a/./c")).toEqual(["a/b", "a/c", "z"]);
  });

  it("keeps the later of two files with one path", () => {
    const [first, second] = [{ content: new Uint8Array(1) }, { content: new Uint8Array(2) }];
    const result = cleanPayload(
      new Map([
        ["a/b", first],
        ["a//b", second],
      ]),
    );
    expect(result).toEqual({ ok: true, value: new Map([["a/b", second]]) });
  });

  it.each([
    ["", 'invalid path: must not be empty: ""'],
    ["/a", "invalid path: must be relative path: /a"],
    ["a/../b", `invalid path: must not contain '..': a/../b`],
    ["..data", `invalid path: must not start with '..': ..data`],
    ["./..data", `invalid path: must not start with '..': ./..data`],
    ["./", "invalid path: must name a file: ./"],
    ["a\0", 'invalid path: must be UTF-8 without NUL: "a\\u0000"'],
    ["\udc00", 'invalid path: must be UTF-8 without NUL: "\\udc00"'],
  ])("rejects a file at %j", (path, why) => {
    expect(clean("fine", path)).toBe(why);
  });

  it("accepts names that start with two dots below the root", () => {
    expect(clean("a/..b")).toEqual(["a/..b"]);
  });

  it("accepts names of at most 255 bytes", () => {
    expect(clean("a".repeat(255))).toHaveLength(1);
    expect(clean("a".repeat(256))).toContain("filenames must be less than or equal to 255 characters");
  });

  it("counts names and paths in bytes", () => {
    expect(clean("é".repeat(127))).toHaveLength(1);
    expect(clean("é".repeat(128))).toContain("filenames must be less than or equal to 255 characters");
    const directories = "é".repeat(100).concat("/").repeat(20);
    expect(clean(`${directories}${"a".repeat(76)}`)).toHaveLength(1);
    expect(clean(`${directories}${"a".repeat(77)}`)).toContain("must be less than or equal to 4096 characters");
  });

  it("rejects a file where another one needs a directory", () => {
    expect(clean("a/b/c", "a/b")).toBe("invalid path: another file is where it needs a directory: a/b/c");
  });

  it("is limited to 64 MiB", () => {
    const half = { content: new Uint8Array(32 * 1024 * 1024) };
    const files = new Map([
      ["a", half],
      ["b", half],
    ]);
    expect(cleanPayload(files).ok).toBe(true);
    expect(cleanPayload(new Map([...files, ["c", { content: new Uint8Array(1) }]])).ok).toBe(false);
  });

  it("is visible by the first element of each path", () => {
    expect([...visibleNames(["a/b", "a/c", "d"])]).toEqual(["a", "d"]);
    expect(directoriesOf("a/b/c")).toEqual(["a", "a/b"]);
  });

  it("is stored in generations named after the time", () => {
    const time = { year: 2026, month: 1, day: 2, hour: 3, minute: 4, second: 5, micros: 6 };
    expect(generationPrefix(time)).toBe("..2026_01_02_03_04_05.");
    expect([`${generationPrefix(time)}x`, "..data", "..data_tmp", "2026", "..."].map(isGeneration)).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});
