import { expect, it } from "vitest";
import { shortAmount } from "../../../../src/core/eviction/shortAmount.ts";

const KI = 1024;

it.each<[number, string]>([
  [0, "0"],
  [-0.4, "0"],
  [0.4, "0"],
  [0.6, "1"],
  [1, "1"],
  [9.4, "9"],
  [1023, "1023"],
  [1023.4, "1023"],
  [1023.5, "1Ki"],
  [KI, "1Ki"],
  [1.5 * KI, "1.5Ki"],
  [-2 * KI, "-2Ki"],
  [9.94 * KI, "9.9Ki"],
  [10 * KI, "10Ki"],
  [10.4 * KI, "10Ki"],
  [100 * KI ** 2, "100Mi"],
  [1023.4 * KI ** 2, "1023Mi"],
  [1023.6 * KI ** 2, "1Gi"],
  [1.25 * KI ** 3, "1.3Gi"],
  [3 * KI ** 4, "3Ti"],
  [3 * KI ** 5, "3Pi"],
  [3 * KI ** 6, "3Ei"],
  [5000 * KI ** 6, "5000Ei"],
])("writes %s bytes as %s", (bytes, text) => {
  expect(shortAmount(bytes, "bytes")).toBe(text);
});

it.each(["inodes", "pids"] as const)("writes %s in full", (unit) => {
  expect([shortAmount(1_234_567.4, unit), shortAmount(-12, unit)]).toEqual(["1234567", "-12"]);
});
