import { type Observable, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { type ErrorCode, kubeletError } from "../../../../src/core/errors.ts";
import { podWriteRequest } from "../../../../src/pipelines/cluster/podWriteRequest.ts";
import type { PodWriterMemories, PodWriterMemory } from "../../../../src/pipelines/cluster/podWriterMemory.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const OBJECT = { metadata: { namespace: "demo", name: "web", uid: "u-1", resourceVersion: "7" } };

/** Asks for a pod after a write whose outcome is unknown; returns what came of it. */
function ask(answer: Observable<unknown>) {
  const memory = { isInDoubt: true, gone: undefined } as unknown as PodWriterMemory;
  const asked: unknown[] = [];
  const get = (...given: readonly unknown[]): Observable<unknown> => (asked.push(given), answer);
  const memories = { of: () => memory, view: () => ({ object: OBJECT }) } as unknown as PodWriterMemories;
  const telemetry = recordingTelemetry();
  const clock = { monotonicMs: () => 5_000 };
  const deps = { api: { pods: { get } }, telemetry, clock } as unknown as Parameters<typeof podWriteRequest>[2];
  const outcomes: unknown[] = [];
  podWriteRequest("demo/web", memories, deps).subscribe((outcome) => void outcomes.push(outcome));
  const { isInDoubt, gone, answered } = memory;
  return { asked, outcomes, lines: telemetry.lines, memory: { isInDoubt, gone, answered } };
}
const failing = (code: ErrorCode, retryAfterMs?: number) =>
  ask(throwError(() => ({ ...kubeletError(code, "why"), ...(retryAfterMs === undefined ? {} : { retryAfterMs }) })));

describe("a pod in doubt", () => {
  it("is read, and written again at once without a reset of the backoff", () => {
    expect(ask(of(OBJECT))).toEqual({
      asked: [["pods", { namespace: "demo", name: "web" }]],
      outcomes: [{ kind: "later", afterMs: 0 }],
      lines: [],
      memory: { isInDoubt: false, gone: undefined, answered: OBJECT },
    });
  });

  it("that does not exist has gone", () => {
    const { outcomes, lines, memory } = failing("NotFound");
    expect([outcomes, lines]).toEqual([[{ kind: "answered" }], []]);
    expect(memory).toEqual({
      isInDoubt: false,
      gone: { uid: "u-1", missed: { version: "7", untilMs: 15_000 } },
      answered: undefined,
    });
  });

  it.each<[ErrorCode, number | undefined, object]>([
    ["Unavailable", undefined, { kind: "away", pauseMs: 0 }],
    ["TooManyRequests", 3_000, { kind: "away", pauseMs: 3_000 }],
    ["DeadlineExceeded", undefined, { kind: "away", pauseMs: 0 }],
    ["Unknown", undefined, { kind: "away", pauseMs: 0 }],
    ["Conflict", undefined, { kind: "failed" }],
    ["PermissionDenied", 3_000, { kind: "failed" }],
  ])("stays in doubt after %s, which is logged", (code, retryAfterMs, outcome) => {
    const { outcomes, lines, memory } = failing(code, retryAfterMs);
    expect([outcomes, memory.isInDoubt, memory.gone]).toEqual([[outcome], true, undefined]);
    expect(lines).toEqual([
      { level: "warn", message: "Failed to get pod", fields: { pod: "demo/web", code, why: "why" } },
    ]);
  });

  it("is no longer in doubt when its write was not sent", () => {
    const { outcomes, memory } = failing("Backoff");
    expect([outcomes, memory.isInDoubt]).toEqual([[{ kind: "failed" }], false]);
  });
});
