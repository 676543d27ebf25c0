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
      const unsub = "            200ms !";
      const expectedRun = "";
      const expectedPartial = "  10ms (a|)";
      const expectedMeanwhile = "20ms (a|)";
      const expectedWhole = "    50ms (a|)";

      const { counts, askedAt, begun } = counting(m, [40]);
      m.expectObservable(counts.run$, unsub).toBe(expectedRun);
      m.expectObservable(askedAt(0)).toBe(expectedPartial, { a: 20n });
      // The count goes on, and is not waited for once more.
      m.expectObservable(askedAt(20)).toBe(expectedMeanwhile, { a: 20n });
      m.expectObservable(askedAt(50)).toBe(expectedWhole, { a: 40n });
      m.flush();
      expect(begun()).toBe(1);
    }),
  );

  it(
    "rest three times as long as they took, with the last result valid meanwhile",
    marbles((m) => {
      const unsub = "            200ms !";
      const expectedRun = "";
      const expectedFirst = "    4ms (a|)";
      const expectedMeanwhile = "15ms (a|)";
      const expectedSecond = "   24ms (a|)";

      const { counts, askedAt, begun } = counting(m, [4, 8]);
      m.expectObservable(counts.run$, unsub).toBe(expectedRun);
      m.expectObservable(askedAt(0)).toBe(expectedFirst, { a: 4n });
      m.expectObservable(askedAt(15)).toBe(expectedMeanwhile, { a: 4n });
      m.expectObservable(askedAt(16)).toBe(expectedSecond, { a: 8n });
      m.flush();
      expect(begun()).toBe(2);
    }),
  );

  it(
    "that fail keep the last result",
    marbles((m) => {
      const ownerUnsub = "    200ms !";
      const expectedRun = "   ---";
      const expectedFirst = " 2ms (a|)";
      const expectedFailed = "20ms (a|)";

      const { counts, askedAt, telemetry } = counting(m, [2, -2]);
      m.expectObservable(counts.run$, ownerUnsub).toBe(expectedRun);
      m.expectObservable(askedAt(0)).toBe(expectedFirst, { a: 2n });
      m.expectObservable(askedAt(20)).toBe(expectedFailed, { a: 2n });
      m.flush();
      expect(telemetry.lines.map(({ level }) => level)).toEqual(["warn"]);
    }),
  );

  it(
    "of a removed directory have no result",
    marbles((m) => {
      const ownerUnsub = "     200ms !";
      const expectedRun = "    ---";
      const expectedFirst = "  2ms (a|)";
      const expectedRemoved = "30ms (a|)";

      const { counts, askedAt, telemetry } = counting(m, [2, -1]);
      m.expectObservable(counts.run$, ownerUnsub).toBe(expectedRun);
      m.expectObservable(askedAt(0)).toBe(expectedFirst, { a: 2n });
      m.expectObservable(askedAt(30)).toBe(expectedRemoved, { a: undefined });
      m.flush();
      expect(telemetry.lines).toEqual([]);
    }),
  );

  it(
    "are not started without time",
    marbles((m) => {
      const unsub = "            200ms !";
      const expectedRun = "";
      const expectedUncounted = "(a|)";

      const { counts, askedAt, begun } = counting(m, [40]);
      m.expectObservable(counts.run$, unsub).toBe(expectedRun);
      m.expectObservable(askedAt(0, 0)).toBe(expectedUncounted, { a: undefined });
      m.flush();
      expect(begun()).toBe(0);
    }),
  );
});
