import { concat, defer, ignoreElements, map, type Observable, throwError, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { createTreeCounts } from "../../../../src/pipelines/stats/treeCounts.ts";
import type { VolumeFiles } from "../../../../src/ports/volumeFiles.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

/** A directory that is counted at a rate of one file each millisecond; `sizes` are those of one count after the other. */
function counting({ clock }: Marbles, sizes: readonly number[]) {
  const telemetry = recordingTelemetry();
  let begun = 0;
  const usage: VolumeFiles["usage"] = (_dir, soFar) =>
    defer(() => {
      const size = sizes[Math.min(begun, sizes.length - 1)] ?? 0;
      begun += 1;
      if (size < 0) return throwError(() => kubeletError(size === -1 ? "NotFound" : "Io", "cannot count"));
      soFar?.({ bytes: BigInt(size / 2), inodes: BigInt(size / 2) });
      return timer(size, clock.scheduler).pipe(map(() => ({ bytes: BigInt(size), inodes: BigInt(size) })));
    });
  const counts = createTreeCounts({ clock, telemetry, volumeFiles: { usage } as unknown as VolumeFiles });
  const askedAt = (at: number, patienceMs = 10): Observable<bigint | undefined> =>
    concat(timer(at, clock.scheduler).pipe(ignoreElements()), counts.usage("/dir", patienceMs)).pipe(
      map((used) => used?.bytes),
    );
  return { counts, askedAt, telemetry, begun: () => begun };
}

describe("counts of directories", () => {
  it(
    "continue when they take long: the partial result is valid first, then the whole",
    marbles((m) => {
      const { counts, askedAt, begun } = counting(m, [40]);
      m.expectObservable(counts.run$, "200ms !").toBe("");
      m.expectObservable(askedAt(0)).toBe("10ms (a|)", { a: 20n });
      // The count goes on, and is not waited for once more.
      m.expectObservable(askedAt(20)).toBe("20ms (a|)", { a: 20n });
      m.expectObservable(askedAt(50)).toBe("50ms (a|)", { a: 40n });
      m.flush();
      expect(begun()).toBe(1);
    }),
  );

  it(
    "rest three times as long as they took, with the last result valid meanwhile",
    marbles((m) => {
      const { counts, askedAt, begun } = counting(m, [4, 8]);
      m.expectObservable(counts.run$, "200ms !").toBe("");
      m.expectObservable(askedAt(0)).toBe("4ms (a|)", { a: 4n });
      m.expectObservable(askedAt(15)).toBe("15ms (a|)", { a: 4n });
      m.expectObservable(askedAt(16)).toBe("24ms (a|)", { a: 8n });
      m.flush();
      expect(begun()).toBe(2);
    }),
  );

  it(
    "that fail keep the last result; a removed directory has none",
    marbles((m) => {
      const { counts, askedAt, telemetry } = counting(m, [2, -2, -1]);
      m.expectObservable(counts.run$, "200ms !").toBe("");
      m.expectObservable(askedAt(0)).toBe("2ms (a|)", { a: 2n });
      m.expectObservable(askedAt(20)).toBe("20ms (a|)", { a: 2n });
      m.expectObservable(askedAt(30)).toBe("30ms (a|)", { a: undefined });
      m.flush();
      expect(telemetry.lines.map(({ level }) => level)).toEqual(["warn"]);
    }),
  );

  it(
    "are not started without time",
    marbles((m) => {
      const { counts, askedAt, begun } = counting(m, [40]);
      m.expectObservable(counts.run$, "200ms !").toBe("");
      m.expectObservable(askedAt(0, 0)).toBe("(a|)", { a: undefined });
      m.flush();
      expect(begun()).toBe(0);
    }),
  );
});
