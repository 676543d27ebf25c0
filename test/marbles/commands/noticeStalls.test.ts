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
  "a stall is logged with its stage and observed under its kind",
  marbles(({ cold, clock, expectObservable, flush }) => {
    const telemetry = recordingTelemetry();
    const unknown: LoopStall = {
      kind: "unknown",
      stage: "unknown",
      durationMs: 200,
      cpuMs: 230,
      recent: ["GET /pods 40 ms"],
    };
    const start: LoopStall = { kind: "start", stage: "start", durationMs: 400, cpuMs: 500, recent: [] };
    const stalls$ = cold("                                          -s-u-l---", { s: STALL, u: unknown, l: start });
    expectObservable(noticeStalls(stalls$, telemetry, clock), "-------!").toBe("---------");
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
  "ten lines a minute are written, and the next one counts those left out",
  marbles(({ cold, clock, expectObservable, flush }) => {
    const telemetry = recordingTelemetry();
    const stalls$ = cold("(ssssssssssss) 59986ms s", { s: STALL });
    const expected = "    ";
    expectObservable(noticeStalls(stalls$, telemetry, clock), "60001ms !").toBe(expected);
    flush();
    expect(telemetry.lines.map(({ fields }) => fields["suppressed"])).toEqual([...new Array(10), 2]);
  }),
);
