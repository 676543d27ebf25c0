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

  it("returns a group in the order of key insertion", () => {
    const map = filled();
    expect([map.inGroup("first", "a"), map.inGroup("last", "b"), map.inGroup("last", "x")]).toEqual([
      ["ab", "ad"],
      ["ab", "cb"],
      [],
    ]);
  });

  it("moves a replaced value to its new group and keeps its place in an unchanged group", () => {
    const map = filled().set("ab", "a!");
    expect([map.inGroup("first", "a"), map.inGroup("last", "b"), map.inGroup("last", "!"), [...map.keys()]]).toEqual([
      ["a!", "ad"],
      ["cb"],
      ["a!"],
      ["ab", "cb", "ad"],
    ]);
  });

  it("deletes a value once", () => {
    const map = filled();
    expect([map.delete("ab"), map.delete("ab"), map.inGroup("first", "a"), map.inGroup("last", "b")]).toEqual([
      true,
      false,
      ["ad"],
      ["cb"],
    ]);
  });

  it("has no groups after clear", () => {
    const map = filled();
    map.clear();
    expect([map.size, map.inGroup("first", "a"), map.inGroup("last", "b")]).toEqual([0, [], []]);
  });
});
