import { describe, expect, it } from "vitest";
import { epochMs } from "../../../../src/core/ids.ts";
import {
  compressibleFiles,
  excessFiles,
  nextRotatedName,
  rotatedFiles,
  rotationOf,
} from "../../../../src/core/logs/logFileNames.ts";

const stamp = (n: number): string => `0.log.20260102-00000${n}`;

describe("rotatedFiles", () => {
  it("returns the files of this log by age, and leftovers of failed rotations separately", () => {
    const names = [
      ...["0.log", "1.log", `${stamp(3)}`, `${stamp(2)}.tmp`, stamp(2), `${stamp(1)}.gz`, stamp(1)],
      ...["1.log.20260102-000001", "0.log.swp", "0.log.20260102-00000", "10.log.20260102-000001"],
    ];
    expect(rotatedFiles(names, "0.log")).toEqual({
      inUse: [`${stamp(1)}.gz`, stamp(2), stamp(3)],
      unused: [stamp(1), `${stamp(2)}.tmp`],
    });
  });

  it.each([
    ["the second in UTC", [], "0.log.20260102-030405"],
    ["the second in UTC, after older ones", ["0.log.20260102-030404.gz"], "0.log.20260102-030405"],
    ["the next one, if that is taken", ["0.log.20260102-030405"], "0.log.20260102-030406"],
    ["the one after the newest, if the clock was set back", ["0.log.20261231-235959.gz"], "0.log.20270101-000000"],
  ])("are named after %s", (_rule, inUse, name) => {
    expect(nextRotatedName("0.log", inUse, epochMs(1_767_323_045_999))).toBe(name);
  });

  it("keep their base name when compressed", () => {
    expect([stamp(1), `${stamp(1)}.gz`].map(rotationOf)).toEqual([stamp(1), stamp(1)]);
  });
});

describe("before a rotation", () => {
  const inUse = [`${stamp(1)}.gz`, stamp(2), stamp(3)];
  it.each([
    ["the oldest is removed, so that two more fit", 4, [`${stamp(1)}.gz`]],
    ["nothing is removed below the limit", 5, []],
    ["all are removed when only one fits next to the log", 2, inUse],
  ])("%s", (_rule, maxFiles, excess) => {
    expect(excessFiles({ inUse, unused: [] }, maxFiles)).toEqual(excess);
  });

  it("removes the leftovers of a file's compression with it", () => {
    const unused = [stamp(1), `${stamp(2)}.tmp`];
    expect(excessFiles({ inUse, unused }, 4)).toEqual([stamp(1), `${stamp(1)}.gz`]);
  });

  it("compresses all files but the newest", () => {
    expect(compressibleFiles({ inUse, unused: [] })).toEqual([stamp(2)]);
    expect(compressibleFiles({ inUse: [], unused: [] })).toEqual([]);
  });
});
