import { describe, expect, it } from "vitest";
import {
  shownBytes,
  shownCount,
  shownCountdown,
  shownDuration,
  shownShare,
  shownTimeOfDay,
} from "../../../../src/livePage/model/shownFigures.ts";

describe("shownDuration", () => {
  it.each([
    [-5, "0 ms"],
    [0, "0 ms"],
    [999.4, "999 ms"],
    [999.6, "1.0 s"],
    [1_340, "1.3 s"],
    [9_949, "9.9 s"],
    [9_950, "10 s"],
    [59_400, "59 s"],
    [59_600, "1m 0s"],
    [200_000, "3m 20s"],
    [7_500_000, "2h 5m"],
    [300_000_000, "3d 11h"],
  ])("shows %d ms as %s", (ms, shown) => {
    expect(shownDuration(ms)).toBe(shown);
  });
});

describe("shownCountdown", () => {
  it.each([
    [1_000, "1 s"],
    [500, "1 s"],
    [499, "now"],
    [12_499, "12 s"],
    [12_500, "13 s"],
    [60_000, "1m 0s"],
    [0, "now"],
    [-3_000, "now"],
  ])("shows a timer %d ms ahead as %s", (leftMs, shown) => {
    expect(shownCountdown(50_000 + leftMs, 50_000)).toBe(shown);
  });
});

describe("figures", () => {
  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1_000, "0.98 KiB"],
    [1_536, "1.50 KiB"],
    [10 * 1_024, "10.0 KiB"],
    [100 * 2 ** 30, "100 GiB"],
    [2 ** 60, "1024 PiB"],
  ])("shows %d bytes as %s", (bytes, shown) => {
    expect(shownBytes(bytes)).toBe(shown);
  });
  it.each([
    [0, "0"],
    [2.25, "2.3"],
    [999, "999"],
    [1_250, "1.3k"],
    [999_949, "999.9k"],
    [3_400_000, "3.4M"],
  ])("shows the count %d as %s", (count, shown) => {
    expect(shownCount(count)).toBe(shown);
  });
  it("shows a share only of what is known", () => {
    expect([shownShare(1, 3), shownShare(undefined, 3), shownShare(1, undefined), shownShare(1, 0)]).toEqual([
      "33%",
      undefined,
      undefined,
      undefined,
    ]);
  });
  it("shows the time of day in UTC", () => {
    expect(shownTimeOfDay(1_700_000_000_042)).toBe("22:13:20");
    expect(shownTimeOfDay(1_700_000_000_042, true)).toBe("22:13:20.042");
    expect(shownTimeOfDay(-1, true)).toBe("23:59:59.999");
  });
});
