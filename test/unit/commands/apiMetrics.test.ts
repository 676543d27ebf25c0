/** Requests to the API server in the log: from verbosity 6 on, with neither headers nor contents. */
import { expect, it } from "vitest";
import { countApiRequests } from "../../../src/commands/apiMetrics.ts";
import { epochMs } from "../../../src/core/ids.ts";
import { createLogger } from "../../../src/sinks/logger.ts";
import { toOne } from "../../../src/sinks/logOutput.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";

it.each([
  [5, []],
  [6, ['"API server asked" method="GET" path="/api/v1/nodes/n1" code=200 durationMs=3']],
])("verbosity %i", (verbosity, wanted) => {
  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  const log = createLogger({ format: "text", verbosity, wallTime: () => epochMs(0), output: toOne(destination) });
  const { metrics } = recordingTelemetry();
  const call = { durationMs: 3, requestBytes: 0, responseBytes: 9 };
  countApiRequests({ metrics, log }).onRequest({ method: "GET", path: "/api/v1/nodes/n1", host: "h", code: 200, call });
  expect(lines.map((line) => line.slice(line.indexOf("] ") + 2).trimEnd())).toEqual(wanted);
});
