import { EMPTY, NEVER, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { FIGURE_DEADLINE_MS, figuresOf } from "../../../../src/pipelines/stats/measuredFigure.ts";
import { marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const away = throwError(() => kubeletError("Unavailable", "away"));

describe("figuresOf", () => {
  it(
    "emits figures that are measured side by side, once all have ended",
    marbles(({ cold, clock, expectObservable }) => {
      const ports = { clock, telemetry: recordingTelemetry() };
      const figures$ = figuresOf({ a: cold("--(a|)"), b: cold("----(b|)"), c: of("c") }, ports);
      expectObservable(figures$).toBe("----(f|)", { f: { a: "a", b: "b", c: "c" } });
    }),
  );

  it(
    "omits figures that fail, have no value, or take too long",
    marbles(({ clock, expectObservable, flush }) => {
      const telemetry = recordingTelemetry();
      const figures$ = figuresOf({ fails: away, empty: EMPTY, late: NEVER, reported: of("x") }, { clock, telemetry });
      expectObservable(figures$).toBe(`${FIGURE_DEADLINE_MS}ms (f|)`, { f: { reported: "x" } });
      flush();
      expect(telemetry.lines.map(({ fields }) => fields["error"])).toMatchObject([
        { code: "Unavailable", message: "away" },
        { code: "DeadlineExceeded", message: "late: no end within 10000 ms" },
      ]);
    }),
  );

  it(
    "sets no timer when all figures arrive at once, or none is requested",
    marbles(({ clock, scheduler, expectObservable, flush }) => {
      const ports = { clock, telemetry: recordingTelemetry() };
      expectObservable(figuresOf({ fails: away, reported: of("x") }, ports)).toBe("(f|)", { f: { reported: "x" } });
      expectObservable(figuresOf({}, ports)).toBe("(f|)", { f: {} });
      flush();
      expect(scheduler.frame).toBe(0);
    }),
  );

  it(
    "cancels its calls when it is unsubscribed",
    marbles(({ cold, clock, expectObservable, expectSubscriptions }) => {
      const call$ = cold("-----(a|)");
      expectObservable(figuresOf({ a: call$ }, { clock, telemetry: recordingTelemetry() }), "--!").toBe("--");
      expectSubscriptions(call$).toBe("^-!");
    }),
  );
});
