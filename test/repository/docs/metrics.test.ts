import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { METRICS, metricsDocument } from "../../../scripts/generateMetrics.ts";
import { fedMetrics, withoutPadding } from "../../../scripts/generateOperations.ts";
import { metricTable } from "../../../src/core/telemetry/metricTable.ts";

it("the table of upstream's metrics is true: run `npm run docs` when it is not", () => {
  const written = readFileSync(METRICS, "utf8").trimEnd();
  expect(withoutPadding(written)).toBe(withoutPadding(metricsDocument().trimEnd()));
});

it("every metric of the table is fed, by code that spells its name", () => {
  const isFed = fedMetrics();
  expect(Object.keys(metricTable).filter((name) => !isFed(name))).toEqual([]);
});
