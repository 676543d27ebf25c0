import { concat, defer, ignoreElements, map, type Observable, throwError, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { type CsiDriverFacts, type CsiDrivers, NO_CSI_DRIVERS } from "../../../../src/core/csi/csiDriverFacts.ts";
import type { CsiLayout } from "../../../../src/core/csi/csiVolumeLayout.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { createCsiStats } from "../../../../src/pipelines/stats/csiStats.ts";
import type { CsiDriverPort } from "../../../../src/ports/csiDrivers.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const PERIOD_MS = 60_000;
const DEADLINE_MS = 120_000;

/** A driver answers with `used` after `ms`, fails, or hangs until the deadline of the port. */
type Fate = { readonly ms: number; readonly used: bigint } | "fails" | "hangs" | "lies";

/** Drivers d1 and d2. The fates of the calls for each volume are in order, and the last one is repeated. */
function asking({ clock, at }: Marbles, fates: Readonly<Record<string, readonly Fate[]>>) {
  const telemetry = recordingTelemetry();
  const calls: string[] = [];
  const facts = (name: string): CsiDriverFacts => ({
    ...{ name, endpoint: "/s", version: [1, 0], vendorVersion: "", nodeId: "n", maxVolumes: undefined, topology: {} },
    capabilities: new Set(["GET_VOLUME_STATS"] as const),
  });
  const drivers = createCell<CsiDrivers>(new Map(["d1", "d2"].map((name) => [name, facts(name)])));
  const nodeGetVolumeStats = ({ volumeId }: { readonly volumeId: string }): Observable<unknown> =>
    defer(() => {
      const ofVolume = fates[volumeId] ?? [];
      const fate = ofVolume[Math.min(calls.filter((id) => id === volumeId).length, ofVolume.length - 1)];
      calls.push(volumeId);
      const fails$ = throwError(() => kubeletError("Io", "no"));
      if (fate === "hangs") return concat(timer(DEADLINE_MS, clock.scheduler).pipe(ignoreElements()), fails$);
      if (fate === "fails" || fate === undefined) return fails$;
      const used = fate === "lies" ? -1n : fate.used;
      const usage = [{ unit: 1, total: 100n, used, available: 1n }];
      return timer(fate === "lies" ? 1 : fate.ms, clock.scheduler).pipe(map(() => ({ usage })));
    });
  const csiDrivers = { at: () => ({ nodeGetVolumeStats }) } as unknown as CsiDriverPort;
  const stats = createCsiStats({ csiDrivers, clock, telemetry }, drivers, {
    periodMs: PERIOD_MS,
    includesHealth: false,
  });
  const seen: string[] = [];
  const ask = (ms: number, handle: string, driver = "d1"): void =>
    at(ms, () => {
      const csi = { driver, handle, target: `/mnt/${handle}` } as unknown as CsiLayout;
      stats.figures(csi).subscribe((figures) => {
        seen.push(`${handle}@${clock.monotonicMs()} ${figures?.used.bytes ?? "unknown"}`);
      });
    });
  return { stats, drivers, calls, seen, ask, telemetry };
}

describe("statistics of CSI volumes", () => {
  it(
    "are asked for once in a period",
    marbles((m) => {
      const unsub = "      200s !";
      const expectedRun = "";

      const [first, second] = [{ ms: 5, used: 1n } as const, { ms: 3, used: 2n } as const];
      const { stats, ask, seen, calls, telemetry } = asking(m, { h: [first, second] });
      m.expectObservable(stats.run$, unsub).toBe(expectedRun);
      for (const ms of [0, 1, 60_004, 60_005]) ask(ms, "h");
      m.flush();
      expect([seen, calls]).toEqual([
        ["h@5 1", "h@5 1", "h@60004 1", "h@60008 2"],
        ["h", "h"],
      ]);
      const series = 'kubelet_volume_metric_collection_duration_seconds{metric_source="d1"}';
      expect(telemetry.observations.get(series)).toEqual([0.005, 0.003]);
    }),
  );

  it(
    "delay nobody by more than a second while a call hangs, and are unknown after it has failed",
    marbles((m) => {
      const unsub = "      500s !";
      const expectedRun = "";

      const { stats, ask, seen, calls } = asking(m, { h: [{ ms: 1, used: 1n }, "hangs"] });
      m.expectObservable(stats.run$, unsub).toBe(expectedRun);
      for (const ms of [0, 61_000, 61_400, 65_000, 181_001, 182_000, 241_000]) ask(ms, "h");
      m.flush();
      const meanwhile = ["h@62000 1", "h@62000 1", "h@65000 1"];
      expect(seen).toEqual(["h@1 1", ...meanwhile, "h@181001 unknown", "h@182000 unknown", "h@242000 unknown"]);
      expect(calls).toEqual(["h", "h", "h"]);
    }),
  );

  it.each(["fails", "lies"] as const)(
    "are unknown after an answer that %s, and asked for again a period later",
    (fate) =>
      marbles((m) => {
        const unsub = "      200s !";
        const expectedRun = "";

        const { stats, ask, seen } = asking(m, { h: [fate, { ms: 0, used: 2n }], other: [{ ms: 0, used: 3n }] });
        m.expectObservable(stats.run$, unsub).toBe(expectedRun);
        for (const ms of [0, 10, 61_000]) ask(ms, "h");
        ask(10, "other");
        m.flush();
        const at = fate === "lies" ? 1 : 0;
        expect(seen).toEqual([`h@${at} unknown`, "h@10 unknown", "other@10 3", "h@61000 2"]);
      })(),
  );

  it(
    "are asked of a driver in four calls at once, of which each holds its slot for five seconds at most",
    marbles((m) => {
      const unsub = "      200s !";
      const expectedRun = "";

      const hung = ["a", "b", "c", "d"];
      const fates = Object.fromEntries(hung.map((handle) => [handle, ["hangs"] as const]));
      const well = { ms: 1, used: 7n };
      const { stats, ask, seen, calls } = asking(m, { ...fates, well: [well], far: [well] });
      m.expectObservable(stats.run$, unsub).toBe(expectedRun);
      for (const handle of hung) ask(0, handle);
      ask(1, "well");
      ask(2, "far", "d2");
      m.at(4_999, () => expect(calls).toEqual([...hung, "far"]));
      ask(5_002, "well");
      m.flush();
      expect(seen.filter((line) => /well|far/.test(line))).toEqual(["far@3 7", "well@1001 unknown", "well@5002 7"]);
    }),
  );

  it(
    "are unknown for a driver without them, and for one that has gone",
    marbles((m) => {
      const unsub = "      200s !";
      const expectedRun = "";

      const { stats, drivers, ask, seen, calls } = asking(m, { h: [{ ms: 0, used: 1n }] });
      m.expectObservable(stats.run$, unsub).toBe(expectedRun);
      ask(0, "h");
      m.at(1, () => drivers.set(NO_CSI_DRIVERS));
      ask(2, "h");
      ask(61_000, "h");
      m.flush();
      expect([seen, calls]).toEqual([["h@0 1", "h@2 unknown", "h@61000 unknown"], ["h"]]);
    }),
  );

  it(
    "are forgotten after ten minutes without a request",
    marbles((m) => {
      const unsub = "      2000s !";
      const expectedRun = "";

      const { stats, ask, seen, calls } = asking(m, {
        h: [
          { ms: 0, used: 1n },
          { ms: 2_000, used: 2n },
        ],
      });
      m.expectObservable(stats.run$, unsub).toBe(expectedRun);
      ask(0, "h");
      m.at(600_000, () => stats.prune());
      ask(600_000, "h");
      m.at(1_200_001, () => stats.prune());
      ask(1_200_001, "h");
      m.flush();
      expect([seen, calls.length]).toEqual([["h@0 1", "h@601000 1", "h@1201001 unknown"], 3]);
    }),
  );
});
