import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { METRICS, metricsDocument } from "../../../scripts/generateMetrics.ts";
import { withoutPadding } from "../../../scripts/generateOperations.ts";

it("the table of upstream's metrics is true: run `npm run docs` when it is not", () => {
  const written = readFileSync(METRICS, "utf8").trimEnd();
  expect(withoutPadding(written)).toBe(withoutPadding(metricsDocument().trimEnd()));
});
