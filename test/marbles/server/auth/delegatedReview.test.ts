import { defer } from "rxjs";
import { describe, expect, it } from "vitest";
import { apiError } from "../../../../src/core/api/apiStatus.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { delegatedReview } from "../../../../src/server/auth/delegatedReview.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const BROKEN = apiError({ code: 500, message: "etcd is gone" });
const FORBIDDEN = apiError({ code: 403, message: "no" });
const AWAY = kubeletError("Unavailable", "connection refused");

/** Answers one after the other, the last one for ever. */
function review({ cold, clock }: Marbles, ...answers: readonly (readonly [diagram: string, error?: unknown])[]) {
  const telemetry = recordingTelemetry();
  let asked = 0;
  const ask = () =>
    defer(() => {
      const [diagram = "", error] = answers[Math.min(asked, answers.length - 1)] ?? [];
      asked += 1;
      return cold(diagram, undefined, error);
    });
  const answer$ = delegatedReview(ask, { kind: "authz", clock, metrics: telemetry.metrics });
  const counts = () => [...telemetry.samples].filter(([series]) => series.includes("_total"));
  return { answer$, counts };
}
const counted = (code: string, times: number) => [`apiserver_delegated_authz_request_total{code="${code}"}`, times];

describe("a question about a user", () => {
  it(
    "is retried after half a second, doubling, when the API server has an internal error",
    marbles((m) => {
      const failing = " -#";
      const answer = "  -(y|)";
      const expected = "- 500ms - 750ms - (y|)";

      const { answer$, counts } = review(m, [failing, BROKEN], [failing, BROKEN], [answer]);
      m.expectObservable(answer$).toBe(expected);
      m.flush();
      expect(counts()).toEqual([counted("500", 2), counted("201", 1)]);
    }),
  );

  it(
    "fails after five attempts",
    marbles((m) => {
      const failing = " #";
      const expected = "4063ms #";

      const { answer$, counts } = review(m, [failing, BROKEN]);
      m.expectObservable(answer$).toBe(expected, {}, BROKEN);
      m.flush();
      expect(counts()).toEqual([counted("500", 5)]);
    }),
  );

  it.each([
    ["refuses", FORBIDDEN, "403"],
    ["cannot be reached", AWAY, "<error>"],
  ] as const)("is asked once when the API server %s", (_what, error, code) => {
    marbles((m) => {
      const failing = " -#";
      const expected = "-#";

      const { answer$, counts } = review(m, [failing, error]);
      m.expectObservable(answer$).toBe(expected, {}, error);
      m.flush();
      expect(counts()).toEqual([counted(code, 1)]);
    })();
  });

  it(
    "is cancelled with its subscriber, also between two attempts",
    marbles((m) => {
      const failing = " -#";
      const unsub = "   ----!";
      const expected = "";

      const { answer$, counts } = review(m, [failing, BROKEN]);
      m.expectObservable(answer$, unsub).toBe(expected);
      m.flush();
      expect(counts()).toEqual([counted("500", 1)]);
    }),
  );
});
