/** When prlimit can change the limit on open files. */
import { expect, it } from "vitest";
import { openFilesStep } from "../../../../src/core/node/openFilesLimit.ts";

const limits = (soft: string, hard: string) =>
  `Limit                     Soft Limit           Hard Limit           Units
Max processes             100                  100                  processes
Max open files            ${soft.padEnd(20)} ${hard.padEnd(20)} files
`;
const WITH = "CapPrm:\t0000000000000000\nCapEff:\t0000000001000000\n";
const WITHOUT = "CapPrm:\t0000000001000000\nCapEff:\t000001fffeffffff\n";

it.each([
  ["1000", "1000", WITHOUT, 1000, { kind: "done" }],
  ["500", "1000", WITHOUT, 1000, { kind: "set" }],
  ["1000", "2000", WITHOUT, 1000, { kind: "set" }],
  ["1000", "1000", WITHOUT, 2000, { kind: "denied", hardLimit: 1000 }],
  ["1000", "1000", WITH, 2000, { kind: "set" }],
  ["1000", "1000", "", 2000, { kind: "set" }],
  ["1000", "unlimited", WITHOUT, 2000, { kind: "set" }],
])("limits %s and %s, %j, to %i: %j", (soft, hard, status, count, step) => {
  expect(openFilesStep(limits(soft, hard), status, count)).toEqual(step);
});

it("tries it without a readable limit", () => {
  expect(openFilesStep("", "", 1000)).toEqual({ kind: "set" });
});
