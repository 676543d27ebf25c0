import { describe, expect, it } from "vitest";
import { cpuSet, cpuSetText, cpusOfBoth, cpusWithout, parseCpuSet, sameCpus } from "../../../../src/core/cpu/cpuSet.ts";

describe("cpuSet", () => {
  it("sorts CPUs by number and drops duplicates", () => {
    expect(cpuSet([10, 2, 10, 1])).toEqual([1, 2, 10]);
  });

  it("combines sets", () => {
    expect(cpusOfBoth([0, 2], [1, 2])).toEqual([0, 1, 2]);
    expect(cpusWithout([0, 1, 2], [1, 5])).toEqual([0, 2]);
  });

  it.each([
    [[0, 1], [0, 1], true],
    [[0, 1], [0, 2], false],
    [[0, 1], [0], false],
  ])("compares %j with %j", (a, b, expected) => {
    expect(sameCpus(a, b)).toBe(expected);
  });
});

describe("cpuSetText", () => {
  it.each<[readonly number[], string]>([
    [[], ""],
    [[3], "3"],
    [[0, 1], "0-1"],
    [[0, 1, 2, 3, 8, 10, 11], "0-3,8,10-11"],
  ])("writes %j as %j, and reads it back", (cpus, text) => {
    expect(cpuSetText(cpus)).toBe(text);
    expect(parseCpuSet(text)).toEqual({ cpus });
  });
});

describe("parseCpuSet", () => {
  it("accepts overlapping ranges in any order", () => {
    expect(parseCpuSet("8,0-3,2-4")).toEqual({ cpus: [0, 1, 2, 3, 4, 8] });
  });

  it.each([
    ["0,", '"" is not a CPU number or range such as 0-3'],
    ["a", '"a" is not a CPU number or range such as 0-3'],
    ["1-", '"1-" is not a CPU number or range such as 0-3'],
    ["0-1-2", '"0-1-2" is not a CPU number or range such as 0-3'],
    ["-1", '"-1" is not a CPU number or range such as 0-3'],
    ["2-1", 'the range "2-1" runs backwards'],
    ["0-8192", "CPU 8192 is above 8191"],
    ["0-999999", "CPU 999999 is above 8191"],
    ["1,".repeat(40_000), "it is longer than 65536 characters"],
  ])("rejects %.20j", (text, fault) => {
    expect(parseCpuSet(text)).toEqual({ fault });
  });

  it("accepts the largest machine", () => {
    expect(parseCpuSet("0-8191")).toHaveProperty("cpus.length", 8_192);
  });
});
