import { map, NEVER, type Observable, of, switchMap, throwError, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { createRemoteSpaces } from "../../../../src/pipelines/stats/remoteSpaces.ts";
import type { KubeletPorts } from "../../../../src/ports/kubeletPorts.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

/** Storage answers with `used` after `ms`, fails at once, or hangs. */
type Fate = { readonly ms: number; readonly used: bigint } | "fails" | "hangs";

/** The fates of the looks at each path are in order, and the last one is repeated. */
function looking({ clock, at }: Marbles, fates: Readonly<Record<string, readonly Fate[]>>) {
  const telemetry = recordingTelemetry();
  const looks: string[] = [];
  const remoteFileSystem = (path: string): Observable<unknown> =>
    of(path).pipe(
      switchMap(() => {
        const ofPath = fates[path] ?? [];
        const fate = ofPath[Math.min(looks.filter((each) => each === path).length, ofPath.length - 1)];
        looks.push(path);
        if (fate === "hangs") return NEVER;
        if (fate === "fails" || fate === undefined) return throwError(() => kubeletError("Io", "no"));
        return timer(fate.ms, clock.scheduler).pipe(map(() => ({ usedBytes: fate.used })));
      }),
    );
  const hostUsage = { remoteFileSystem } as unknown as KubeletPorts["hostUsage"];
  const spaces = createRemoteSpaces({ hostUsage, clock, telemetry });
  const seen: string[] = [];
  const ask = (ms: number, path: string): void =>
    at(ms, () => {
      spaces.space(path).subscribe((space) => {
        seen.push(`${path}@${clock.monotonicMs()} ${space?.usedBytes ?? "unknown"}`);
      });
    });
  return { spaces, looks, seen, ask, telemetry };
}

describe("the space of storage that may not answer", () => {
  it(
    "is looked up for each request, and once for those that come together",
    marbles((m) => {
      const unsub = "      100s !";
      const expectedRun = "";

      const { spaces, ask, seen, looks, telemetry } = looking(m, {
        a: [
          { ms: 5, used: 1n },
          { ms: 3, used: 2n },
        ],
      });
      m.expectObservable(spaces.run$, unsub).toBe(expectedRun);
      for (const ms of [0, 1, 10]) ask(ms, "a");
      m.flush();
      expect([seen, looks]).toEqual([
        ["a@5 1", "a@5 1", "a@13 2"],
        ["a", "a"],
      ]);
      const series = 'kubelet_volume_metric_collection_duration_seconds{metric_source="statfs"}';
      expect(telemetry.observations.get(series)).toEqual([0.005, 0.003]);
    }),
  );

  it(
    "keeps nobody waiting for more than a second while a look hangs, and is unknown after it has failed",
    marbles((m) => {
      const unsub = "      100s !";
      const expectedRun = "";

      const { spaces, ask, seen, looks } = looking(m, { a: [{ ms: 1, used: 1n }, "hangs", "fails"] });
      m.expectObservable(spaces.run$, unsub).toBe(expectedRun);
      for (const ms of [0, 1_000, 1_400, 5_000, 10_999, 11_001]) ask(ms, "a");
      m.flush();
      const meanwhile = ["a@2000 1", "a@2000 1", "a@5000 1", "a@10999 1"];
      expect([seen, looks]).toEqual([
        ["a@1 1", ...meanwhile, "a@11001 unknown"],
        ["a", "a", "a"],
      ]);
    }),
  );

  it(
    "is known in time beside sixteen file systems that hang: each holds its slot for half a second at most",
    marbles((m) => {
      const unsub = "      100s !";
      const expectedRun = "";

      const hung = Array.from({ length: 16 }, (_, index) => `dead${index}`);
      const fates = Object.fromEntries(hung.map((path) => [path, ["hangs"] as const]));
      const { spaces, ask, seen, looks } = looking(m, { ...fates, well: [{ ms: 1, used: 7n }] });
      m.expectObservable(spaces.run$, unsub).toBe(expectedRun);
      for (const path of hung) ask(0, path);
      ask(1, "well");
      m.at(499, () => expect(looks).toEqual(hung));
      m.flush();
      expect(seen.filter((line) => line.startsWith("well"))).toEqual(["well@501 7"]);
    }),
  );

  it(
    "is forgotten ten minutes after the last request",
    marbles((m) => {
      const unsub = "      2000s !";
      const expectedRun = "";

      const { spaces, ask, seen } = looking(m, {
        a: [{ ms: 1, used: 1n }, "hangs"],
        b: [{ ms: 1, used: 2n }, "hangs"],
      });
      m.expectObservable(spaces.run$, unsub).toBe(expectedRun);
      for (const path of ["a", "b"]) ask(0, path);
      m.at(600_000, () => spaces.prune());
      ask(600_000, "a");
      m.at(610_001, () => spaces.prune());
      ask(610_001, "b");
      m.flush();
      expect(seen).toEqual(["a@1 1", "b@1 2", "a@601000 1", "b@611001 unknown"]);
    }),
  );
});
