import { expect, it } from "vitest";
import { noticeStalls } from "../../../src/commands/noticeStalls.ts";
import type { LoopStall } from "../../../src/core/telemetry/loopStalls.ts";
import { marbles } from "../../support/marbles.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";

const STALL: LoopStall = {
  kind: "runtime_answer",
  stage: "PodSandboxStatus answer",
  owner: "pod worker default/web",
  durationMs: 80.4,
  cpuMs: 90,
};

it(
  "logs a stall with its stage, and observes it under its kind",
  marbles(({ cold, clock, expectObservable, flush }) => {
    const stalls = "  -s-u-l---";
    const unsub = "   -------!";
    const expected = "---------";

    const telemetry = recordingTelemetry();
    const unknown: LoopStall = {
      kind: "unknown",
      stage: "unknown",
      durationMs: 200,
      cpuMs: 230,
      recent: ["GET /pods 40 ms"],
    };
    const start: LoopStall = { kind: "start", stage: "start", durationMs: 400, cpuMs: 500, recent: [] };
    const stalls$ = cold(stalls, { s: STALL, u: unknown, l: start });
    expectObservable(noticeStalls(stalls$, telemetry, clock), unsub).toBe(expected);
    flush();
    expect(telemetry.lines).toEqual([
      {
        level: "warn",
        message: "The event loop stalled",
        fields: { stage: STALL.stage, durationMs: 80, cpuMs: 90, onBehalfOf: STALL.owner },
      },
      {
        level: "warn",
        message: "The event loop stalled",
        fields: { stage: "unknown", durationMs: 200, cpuMs: 230, longestTurns: ["GET /pods 40 ms"] },
      },
    ]);
    expect([...telemetry.samples].filter(([series]) => series.startsWith("rxlet_event_loop_stall_seconds"))).toEqual([
      ['rxlet_event_loop_stall_seconds{stage="runtime_answer"} observed', 1],
      ['rxlet_event_loop_stall_seconds{stage="unknown"} observed', 1],
      ['rxlet_event_loop_stall_seconds{stage="start"} observed', 1],
    ]);
  }),
);

it(
  "writes ten lines a minute, and counts the omitted ones in the next line",
  marbles(({ cold, clock, expectObservable, flush }) => {
    const stalls = "  (ssssssssssss) 59986ms s";
    const unsub = "   60001ms !";
    const expected = "";

    const telemetry = recordingTelemetry();
    const stalls$ = cold(stalls, { s: STALL });
    expectObservable(noticeStalls(stalls$, telemetry, clock), unsub).toBe(expected);
    flush();
    expect(telemetry.lines.map(({ fields }) => fields["suppressed"])).toEqual([...new Array(10), 2]);
  }),
);
