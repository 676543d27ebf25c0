import { describe, expect, it } from "vitest";
import { formatDuration, parseDuration } from "../../../../src/core/config/duration.ts";

describe("parseDuration", () => {
  it.each<[string, number]>([
    ["0", 0],
    ["+0", 0],
    ["-0", 0],
    ["0s", 0],
    ["5s", 5_000],
    ["30s", 30_000],
    ["1478s", 1_478_000],
    ["-5s", -5_000],
    ["+5s", 5_000],
    ["5.0s", 5_000],
    ["5.6s", 5_600],
    ["5.s", 5_000],
    [".5s", 500],
    ["1.004s", 1_004],
    ["100.00100s", 100_001],
    ["10ns", 0.00001],
    ["11us", 0.011],
    ["12\u00b5s", 0.012],
    ["12\u03bcs", 0.012],
    ["13ms", 13],
    ["1.5ms", 1.5],
    ["14s", 14_000],
    ["15m", 900_000],
    ["16h", 57_600_000],
    ["3h30m", 12_600_000],
    ["10.5s4m", 250_500],
    ["-2m3.4s", -123_400],
    ["1h2m3s4ms5us6ns", 3_723_004.005006],
    ["39h9m14.425s", 140_954_425],
    ["1m0s", 60_000],
    ["4h0m0s", 14_400_000],
    ["2562047h47m16.854775807s", 9_223_372_036_854.775],
    ["0.3333333333333333333h", 1_200_000 - 0.000001],
  ])("reads %s", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each<[string]>([
    [""],
    ["3"],
    ["-"],
    ["s"],
    ["."],
    ["-."],
    [".s"],
    ["+.s"],
    ["1d"],
    ["1 s"],
    [" 1s"],
    ["1s "],
    ["1.2.3s"],
    ["--1s"],
    ["1m 0s"],
    ["1S"],
    ["1e3s"],
    ["10m5"],
    ["3000000h"],
    ["9223372036854775808ns"],
    ["9223372036854.775808s"],
  ])("rejects %s", (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});

describe("formatDuration", () => {
  it.each<[number, string]>([
    [0, "0s"],
    [0.000001, "1ns"],
    [0.0011, "1.1\u00b5s"],
    [2.2, "2.2ms"],
    [100, "100ms"],
    [3_300, "3.3s"],
    [20_000, "20s"],
    [60_000, "1m0s"],
    [245_000, "4m5s"],
    [245_001, "4m5.001s"],
    [14_400_000, "4h0m0s"],
    [18_367_001, "5h6m7.001s"],
    [-90_000, "-1m30s"],
    [480_000_000, "133h20m0s"],
  ])("formats %d ms as %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it("is the inverse of parseDuration", () => {
    const texts = ["1m0s", "100ms", "4h0m0s", "2.5s", "1.000001ms", "999ns", "-1h0m0.5s"];
    expect(texts.map((text) => formatDuration(parseDuration(text) ?? Number.NaN))).toEqual(texts);
  });
});
