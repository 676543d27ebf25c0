import { describe, expect, it } from "vitest";
import { type PodUid, podUid } from "../../../../src/core/ids.ts";
import {
  allocateRange,
  type IdPool,
  type IdRange,
  type IdRanges,
  idPoolOf,
  noIdRanges,
  parseSubordinateIds,
  recordRange,
  releaseRange,
  withUnknown,
} from "../../../../src/core/userns/idRanges.ts";

const UNIT = 65_536;
const A = podUid("a");
const B = podUid("b");
const C = podUid("c");
/** Room for three pods. */
const POOL: IdPool = { firstId: 2 * UNIT, length: 3 * UNIT, idsPerPod: UNIT };
const used = (...pairs: readonly (readonly [PodUid, number])[]): IdRanges => ({
  ...noIdRanges,
  usedBy: new Map(pairs),
});
const messageOf = (result: { readonly ok: boolean; readonly error?: { readonly message: string } }) =>
  result.error?.message;

describe("idPoolOf", () => {
  it.each<[string, IdRange | undefined, number, IdPool]>([
    ["all but the first range", undefined, UNIT, { firstId: UNIT, length: 2 ** 32 - UNIT, idsPerPod: UNIT }],
    [
      "all whole ranges but the first",
      undefined,
      3 * UNIT,
      { firstId: 3 * UNIT, length: 21_844 * 3 * UNIT, idsPerPod: 3 * UNIT },
    ],
    [
      "what the system has set aside",
      { firstId: 2 * UNIT, length: 110 * UNIT },
      UNIT,
      { firstId: 2 * UNIT, length: 110 * UNIT, idsPerPod: UNIT },
    ],
  ])("is %s", (_, subordinate, idsPerPod, value) => {
    expect(idPoolOf(subordinate, idsPerPod, 110)).toEqual({ ok: true, value });
  });

  it.each<[IdRange, string]>([
    [{ firstId: 0, length: 110 * UNIT }, "kubelet user assigned ID 0 must be greater or equal to 65536"],
    [{ firstId: UNIT + 1, length: 110 * UNIT }, "kubelet user assigned ID 65537 is not a multiple of 65536"],
    [{ firstId: UNIT, length: 110 * UNIT + 5 }, "kubelet user assigned IDs length 7208965 is not a multiple of 65536"],
    [{ firstId: UNIT, length: 109 * UNIT }, "kubelet user assigned IDs are not enough to support 110 pods"],
  ])("rejects %j", (subordinate, message) => {
    expect(messageOf(idPoolOf(subordinate, UNIT, 110))).toBe(message);
  });
});

describe("parseSubordinateIds", () => {
  it("parses the single line", () => {
    expect(parseSubordinateIds("0: kubelet 65536 7208960\n")).toEqual({
      ok: true,
      value: { firstId: 65_536, length: 7_208_960 },
    });
  });

  it.each([
    ["0: kubelet 65536 1\n1: kubelet 99 1\n", /it must contain only one line$/],
    ["", /^invalid line ""$/],
    ["0: kubelet 65536", /^invalid line/],
    ["0: kubelet x 5", /^invalid line/],
    ["0: kubelet 5 5 5", /^invalid line/],
  ])("rejects %j", (output, message) => {
    expect(messageOf(parseSubordinateIds(output))).toMatch(message);
  });
});

describe("allocateRange", () => {
  it.each<[string, IdRanges, number]>([
    ["the first of an untouched pool", noIdRanges, 2 * UNIT],
    ["the lowest that is free", used([B, 2 * UNIT], [C, 4 * UNIT]), 3 * UNIT],
    ["the last", used([B, 2 * UNIT], [C, 3 * UNIT]), 4 * UNIT],
    ["again the one the pod has", used([A, 4 * UNIT]), 4 * UNIT],
  ])("assigns %s", (_, ranges, firstId) => {
    expect(allocateRange(ranges, POOL, A)).toEqual({
      ok: true,
      value: { ranges: { ...ranges, usedBy: new Map(ranges.usedBy).set(A, firstId) }, firstId },
    });
  });

  it("fails when all ranges are assigned", () => {
    const full = used([B, 2 * UNIT], [C, 3 * UNIT], [podUid("d"), 4 * UNIT]);
    expect(messageOf(allocateRange(full, POOL, A))).toBe("could not find an empty slot to allocate a user namespace");
  });

  it("assigns no new range while a pod has unknown IDs, but returns existing ones", () => {
    const ranges = withUnknown(used([A, 2 * UNIT]), B, "cannot read it");
    expect(messageOf(allocateRange(ranges, POOL, C))).toBe(
      'no user namespace IDs can be assigned while those of pod "b" are unknown: cannot read it',
    );
    expect(allocateRange(ranges, POOL, A)).toEqual({ ok: true, value: { ranges, firstId: 2 * UNIT } });
  });
});

describe("recordRange", () => {
  it.each<[string, IdRanges, number]>([
    ["a free one", noIdRanges, 3 * UNIT],
    ["what is recorded already", used([A, 3 * UNIT]), 3 * UNIT],
  ])("accepts %s", (_, ranges, firstId) => {
    expect(recordRange(ranges, POOL, A, { firstId, length: UNIT })).toEqual({ ok: true, value: used([A, firstId]) });
  });

  it.each<[IdRange, string]>([
    [{ firstId: 2 * UNIT, length: 2 * UNIT }, "wrong user namespace length 131072"],
    [{ firstId: 2 * UNIT + 1, length: UNIT }, "wrong user namespace offset specified 131073"],
    [{ firstId: UNIT, length: UNIT }, "id 65536 is out of range"],
    [{ firstId: 5 * UNIT, length: UNIT }, "id 327680 is out of range"],
    [{ firstId: 2 * UNIT, length: UNIT }, 'range picked for pod "a" already taken'],
  ])("rejects %j", (range, message) => {
    expect(messageOf(recordRange(used([B, 2 * UNIT]), POOL, A, range))).toBe(message);
  });
});

describe("releaseRange", () => {
  it("frees a range for the next pod", () => {
    const full = used([A, 2 * UNIT], [B, 3 * UNIT], [C, 4 * UNIT]);
    expect(allocateRange(releaseRange(full, B), POOL, podUid("d"))).toMatchObject({
      ok: true,
      value: { firstId: 3 * UNIT },
    });
  });

  it("ends the wait for an unknown range", () => {
    expect(releaseRange(withUnknown(noIdRanges, A, "why"), A)).toEqual(noIdRanges);
  });

  it("changes nothing for a pod without a range", () => {
    const ranges = used([B, 2 * UNIT]);
    expect(releaseRange(ranges, A)).toBe(ranges);
  });
});
