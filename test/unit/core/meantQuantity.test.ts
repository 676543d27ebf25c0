import { expect, it } from "vitest";
import { meantQuantity } from "../../../src/core/meantQuantity.ts";

it.each([
  ["100MB", "100M or 100Mi"],
  ["100mb", "100M or 100Mi"],
  ["1.5 GByte", "1.5G or 1.5Gi"],
  ["64MiB", "64Mi"],
  ["64mi", "64Mi"],
  ["8K", "8k or 8Ki"],
  ["512 bytes", "512"],
  ["64 Mi", "64Mi"],
  ["0,5", "0.5"],
  ["-1kb", "-1k or -1Ki"],
  ["12XB", undefined],
  ["0", undefined],
  ["-1Gi", undefined],
  ["", undefined],
  [" ", undefined],
  ["lots", undefined],
  [`${"9".repeat(38)}MB`, `${"9".repeat(38)}M or ${"9".repeat(38)}Mi`],
  [`${"9".repeat(39)}MB`, undefined],
])("%j suggests %j", (text, meant) => {
  expect(meantQuantity(text)).toBe(meant);
});
