import { expect, it } from "vitest";
import { VERBOSITY } from "../../../../src/core/telemetry/verbosity.ts";

it("each level adds its lines to those of the levels below", () => {
  expect(Object.entries(VERBOSITY).map(([lines, level]) => `${level} ${lines}`)).toEqual([
    "1 flags",
    "2 podUpdates",
    "3 podStatuses",
    "4 debug",
    "5 runtimeCalls",
    "6 apiRequests",
    "7 runtimeEvents",
    "8 probes",
    "9 inspections",
  ]);
});
