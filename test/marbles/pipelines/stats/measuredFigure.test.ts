import { EMPTY, NEVER, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { FIGURE_DEADLINE_MS, figuresOf } from "../../../../src/pipelines/stats/measuredFigure.ts";
import { marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const away = throwError(() => kubeletError("Unavailable", "away"));

describe("figuresOf", () => {
  it(
    "omits figures that fail, have no value, or take too long, and logs why",
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
});
