/** Limits of CSI drivers: asked for in the period of their CSIDriver, and when the node has too many volumes. */
import { defer, map, of, Subject, throwError, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import type { CsiDriverFacts, CsiDrivers } from "../../../../src/core/csi/csiDriverFacts.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import type { CsiDriver } from "../../../../src/core/volume/csiVolume.ts";
import { volumeLimits } from "../../../../src/pipelines/csi/volumeLimits.ts";
import type { CsiDriverPort } from "../../../../src/ports/csiDrivers.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const facts = (endpoint: string): CsiDriverFacts => ({
  ...{ name: "d", endpoint, version: [1, 0], vendorVersion: "", nodeId: "n", maxVolumes: 1, topology: {} },
  capabilities: new Set(),
});
const registered = (endpoint: string): CsiDrivers => new Map([["d", facts(endpoint)]]);
const withPeriod = (seconds: number | undefined): ReadonlyMap<string, CsiDriver> =>
  new Map([["d", { spec: { nodeAllocatableUpdatePeriodSeconds: seconds } } as CsiDriver]]);

/** Drivers that answer each question after 5 ms with the next limit; 0 is a failure, 99 is an answer for another node. */
function asking({ clock, at }: Marbles, limits: readonly number[], periodSeconds: number | undefined) {
  const telemetry = recordingTelemetry();
  const drivers = createCell<CsiDrivers>(registered("/a"));
  const known = createCell(withPeriod(periodSeconds));
  const exhausted$ = new Subject<string>();
  const asked: string[] = [];
  let follows = 0;
  const nodeGetInfo = (endpoint: string) =>
    defer(() => {
      asked.push(`${endpoint}@${clock.monotonicMs()}`);
      const limit = limits[Math.min(asked.length, limits.length) - 1] ?? 0;
      if (limit === 0) return throwError(() => kubeletError("Unavailable", "no"));
      const answer = { nodeId: limit === 99 ? "other" : "n", maxVolumesPerNode: BigInt(limit) };
      return timer(5, clock.scheduler).pipe(map(() => answer));
    });
  const port = {
    at: ({ endpoint }: { readonly endpoint: string }) => ({ nodeGetInfo: () => nodeGetInfo(endpoint) }),
  } as unknown as CsiDriverPort;
  const csiDrivers$ = defer(() => {
    follows += 1;
    return known.changes$;
  });
  const limits$ = volumeLimits({ clock, telemetry, port, drivers, csiDrivers$, exhausted$ });
  const exhaust = (ms: number, name = "d"): void => at(ms, () => exhausted$.next(name));
  return { limits$, drivers, known, asked, exhaust, telemetry, follows: () => follows };
}

const count = map(({ maxVolumes }: { readonly maxVolumes: number | undefined }) => maxVolumes);

describe("limits of CSI drivers", () => {
  it(
    "are asked for in each period, also after a failure",
    marbles((m) => {
      const unsub = "   70s !";
      const expected = "20s 5ms a 39999ms b";

      const { limits$, asked, telemetry } = asking(m, [7, 0, 8], 20);
      m.expectObservable(limits$.pipe(count), unsub).toBe(expected, { a: 7, b: 8 });
      m.flush();
      expect(asked).toEqual(["/a@20000", "/a@40000", "/a@60000"]);
      expect(telemetry.lines.map(({ message }) => message)).toEqual(["Failed to update CSIDriver"]);
    }),
  );

  it.each([
    ["no timer for a driver without a period", undefined, []],
    ["the API's shortest period at least", 1, ["/a@10000", "/a@20000"]],
  ])("have %s", (_what, period, expectedAsked) =>
    marbles((m) => {
      const unsub = "   29s !";
      const expected = "";

      const { limits$, asked, exhaust } = asking(m, [99], period);
      if (period === undefined) exhaust(5);
      m.expectObservable(limits$, unsub).toBe(expected);
      m.flush();
      expect(asked).toEqual(expectedAsked);
    })(),
  );

  it(
    "are asked for at once for an exhausted driver, one question at a time",
    marbles((m) => {
      const unsub = "   50ms !";
      const expected = "-- 5ms a 4ms b";

      const { limits$, asked, exhaust } = asking(m, [7, 8], 600);
      for (const ms of [2, 3, 4]) exhaust(ms);
      exhaust(4, "another");
      m.expectObservable(limits$.pipe(count), unsub).toBe(expected, { a: 7, b: 8 });
      m.flush();
      expect(asked).toEqual(["/a@2", "/a@7"]);
    }),
  );

  it(
    "follow the period, the registration and the socket of the driver",
    marbles((m) => {
      const unsub = "   100s !";
      const expected = "";

      const { limits$, drivers, known, asked, follows } = asking(m, [0], 20);
      m.at(10_000, () => known.set(withPeriod(30)));
      m.at(15_000, () => drivers.set(new Map([["d", { ...facts("/a"), maxVolumes: 5 }]])));
      m.at(41_000, () => drivers.set(registered("/b")));
      m.at(72_000, () => drivers.set(new Map()));
      m.expectObservable(limits$, unsub).toBe(expected);
      m.flush();
      expect([asked, follows()]).toEqual([["/a@40000", "/b@71000"], 1]);
    }),
  );

  it(
    "of a standalone node are never asked for",
    marbles((m) => {
      const { clock, expectObservable } = m;
      const expected = "|";

      const drivers = createCell<CsiDrivers>(registered("/a"));
      const port = {} as CsiDriverPort;
      const deps = { clock, telemetry: recordingTelemetry(), port, drivers, csiDrivers$: undefined };
      expectObservable(volumeLimits({ ...deps, exhausted$: of() })).toBe(expected);
    }),
  );
});
