import { describe, expect, it } from "vitest";
import { GroupedMap } from "../../../src/sim/runtime/groupedMap.ts";

describe("GroupedMap", () => {
  const first = (word: string): string => word.slice(0, 1);
  const last = (word: string): string => word.slice(-1);
  const filled = (): GroupedMap<string, "first" | "last"> => {
    const map = new GroupedMap({ first, last });
    for (const word of ["ab", "cb", "ad"]) map.set(word, word);
    return map;
  };

  it("has all of a group, in the order in which their keys came", () => {
    const map = filled();
    expect([map.inGroup("first", "a"), map.inGroup("last", "b"), map.inGroup("last", "x")]).toEqual([
      ["ab", "ad"],
      ["ab", "cb"],
      [],
    ]);
  });

  it("moves a value that is replaced by one of another group, and keeps its place in that it stays in", () => {
    const map = filled().set("ab", "a!");
    expect([map.inGroup("first", "a"), map.inGroup("last", "b"), map.inGroup("last", "!"), [...map.keys()]]).toEqual([
      ["a!", "ad"],
      ["cb"],
      ["a!"],
      ["ab", "cb", "ad"],
    ]);
  });

  it("forgets what is deleted, once", () => {
    const map = filled();
    expect([map.delete("ab"), map.delete("ab"), map.inGroup("first", "a"), map.inGroup("last", "b")]).toEqual([
      true,
      false,
      ["ad"],
      ["cb"],
    ]);
  });

  it("has nothing of any group once it is cleared", () => {
    const map = filled();
    map.clear();
    expect([map.size, map.inGroup("first", "a"), map.inGroup("last", "b")]).toEqual([0, [], []]);
  });
});
