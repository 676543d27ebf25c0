import { describe, expect, it } from "vitest";
import { reportHealth } from "../../../src/commands/reportHealth.ts";
import { kubeletError } from "../../../src/core/errors.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";

describe("reportHealth", () => {
  it("reports each resource's health as a gauge, and logs each change once", () => {
    const telemetry = recordingTelemetry();
    const report = reportHealth(telemetry);
    const away = kubeletError("Unavailable", "away");
    report("pods", undefined);
    report("pods", away);
    report("pods", away);
    report("nodes", away);
    const during = new Map(telemetry.samples);
    report("pods", undefined);
    expect([[...during], [...telemetry.samples]]).toEqual([
      [
        ['rxlet_source_up{source="api"}', 0],
        ['rxlet_source_up{source="nodes"}', 0],
      ],
      [
        ['rxlet_source_up{source="api"}', 1],
        ['rxlet_source_up{source="nodes"}', 0],
      ],
    ]);
    expect(telemetry.lines.map(({ level, fields }) => `${level} ${String(fields["source"])}`)).toEqual([
      "warn api",
      "warn nodes",
      "info api",
    ]);
  });
});
