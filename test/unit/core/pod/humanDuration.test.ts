import { describe, expect, it } from "vitest";
import { humanDuration } from "../../../../src/core/pod/humanDuration.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe("humanDuration", () => {
  it.each([
    [-5 * SECOND, "<invalid>"],
    [-1.9 * SECOND, "0s"],
    [0, "0s"],
    [119 * SECOND, "119s"],
    [2 * MINUTE, "2m"],
    [9 * MINUTE + 59 * SECOND, "9m59s"],
    [10 * MINUTE + 59 * SECOND, "10m"],
    [179 * MINUTE, "179m"],
    [3 * HOUR, "3h"],
    [7 * HOUR + 5 * MINUTE, "7h5m"],
    [8 * HOUR + 5 * MINUTE, "8h"],
    [47 * HOUR, "47h"],
    [2 * DAY, "2d"],
    [7 * DAY + 3 * HOUR, "7d3h"],
    [8 * DAY + 3 * HOUR, "8d"],
    [729 * DAY, "729d"],
    [730 * DAY, "2y"],
    [731 * DAY, "2y1d"],
    [8 * 365 * DAY + DAY, "8y"],
  ])("%d ms is %s", (ms, text) => {
    expect(humanDuration(ms)).toBe(text);
  });
});
