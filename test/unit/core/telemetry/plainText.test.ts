import { expect, it } from "vitest";
import { durationText, oneLine } from "../../../../src/core/telemetry/plainText.ts";

it.each([
  [0, "0s"],
  [0.0124, "0.012s"],
  [0.9994, "0.999s"],
  [1, "1s"],
  [1.26, "1.3s"],
  [9.94, "9.9s"],
  [10, "10s"],
  [10.26, "10s"],
  [45.5, "46s"],
  [119, "119s"],
  [120, "2m"],
  [121, "2m1s"],
  [200, "3m20s"],
  [7199, "119m59s"],
  [7200, "2h"],
  [7259, "2h"],
  [7260, "2h1m"],
  [90_000, "25h"],
])("%d seconds are shown as %s", (seconds, text) => {
  expect(durationText(seconds)).toBe(text);
});

it("a line has a space for each run of control characters", () => {
  expect(oneLine("a\n\tb\u001b[31mc\u007fd\u0080\u009fe f\u00a0g~")).toBe("a b [31mc d e f\u00a0g~");
});
