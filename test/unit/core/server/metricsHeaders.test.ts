import { expect, it } from "vitest";
import { epochMs } from "../../../../src/core/ids.ts";
import { metricsHeaders } from "../../../../src/core/server/metricsHeaders.ts";

it.each([
  [1_767_225_600_000, "1767225600"],
  [1_767_225_600_999, "1767225600"],
  [1_767_225_601_000, "1767225601"],
])("a process that started at %d ms names the second %s", (startedAt, second) => {
  expect(metricsHeaders(epochMs(startedAt))).toEqual({
    "content-type": "text/plain; version=0.0.4; charset=utf-8; escaping=underscores",
    "process-start-time-unix": second,
  });
});
