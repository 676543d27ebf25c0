/** Health streams of drivers. */
import { map } from "rxjs";
import { describe, expect, it } from "vitest";
import type { DeviceHealths } from "../../../../src/core/dra/deviceHealth.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import { NodeWatchResourcesResponse } from "../../../../src/gen/dra.ts";
import { deviceHealth } from "../../../../src/pipelines/dra/deviceHealth.ts";
import type { DraDriver, DraDriverMap } from "../../../../src/ports/draDrivers.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const report = (health: 1 | 2) =>
  NodeWatchResourcesResponse.fromPartial({ devices: [{ device: { poolName: "p", deviceName: "d" }, health }] });
const REPORTS = { h: report(1), u: report(2) };

function followed(t: Marbles, streams: readonly string[], error = kubeletError("Unavailable", "gone"), isOn = true) {
  const prepare = "  #";
  const unprepare = "#";
  const silence = "  -";

  const opened = streams.map((stream) => t.cold(stream, REPORTS, error));
  let next = 0;
  const driver: DraDriver = {
    name: "d",
    isConnected: true,
    prepare: () => t.cold(prepare),
    unprepare: () => t.cold(unprepare),
    get health$() {
      next += 1;
      return opened[next - 1] ?? t.cold(silence);
    },
  };
  const drivers = createCell<DraDriverMap>(new Map([["d", driver]]));
  const healths = createCell<DeviceHealths>(new Map());
  const telemetry = recordingTelemetry();
  const draGates = { extendedResources: true, health: isOn, healthMessages: true };
  const run$ = deviceHealth({ clock: t.clock, telemetry }, { draGates }, drivers, healths);
  const said$ = healths.changes$.pipe(map((all) => all.get("d")?.get("p/d")?.health.slice(0, 1) ?? "-"));
  return { driver, drivers, run$, said$, telemetry, opened: () => next };
}

describe("the health of devices", () => {
  it(
    "follows the driver, at most every 200 ms",
    marbles((t) => {
      const unsub = "       2s !";
      const expectedRun = " -";
      const expectedSaid = "n 199ms U 1000ms H";

      const { run$, said$ } = followed(t, ["h 9ms u 990ms h"]);
      t.expectObservable(run$, unsub).toBe(expectedRun);
      t.expectObservable(said$, unsub).toBe(expectedSaid, { n: "-", U: "U", H: "H" });
    }),
  );

  it(
    "is unknown after 30 s without news",
    marbles((t) => {
      const unsub = "       60s !";
      const expectedRun = " -";
      const expectedSaid = "n 199ms H 29999ms n";

      const { run$, said$ } = followed(t, ["h"]);
      t.expectObservable(run$, unsub).toBe(expectedRun);
      t.expectObservable(said$, unsub).toBe(expectedSaid, { n: "-", H: "H" });
    }),
  );

  it(
    "is unknown once the stream broke, which is opened again after 5 s",
    marbles((t) => {
      const unsub = "       10s !";
      const expectedRun = " -";
      const expectedSaid = "n 199ms H 799ms n 5199ms U";

      const { run$, said$, telemetry, opened } = followed(t, ["h 999ms #", "u"]);
      t.expectObservable(run$, unsub).toBe(expectedRun);
      t.expectObservable(said$, unsub).toBe(expectedSaid, { n: "-", H: "H", U: "U" });
      t.flush();
      expect([telemetry.lines.length, opened()]).toEqual([1, 2]);
    }),
  );

  it(
    "is unknown once the driver is gone",
    marbles((t) => {
      const unsub = "       2s !";
      const expectedRun = " -";
      const expectedSaid = "n 199ms H 799ms n";

      const { run$, said$, drivers, driver } = followed(t, ["h"]);
      t.at(1_000, () => drivers.set(new Map([["d", { ...driver, isConnected: false }]])));
      t.expectObservable(run$, unsub).toBe(expectedRun);
      t.expectObservable(said$, unsub).toBe(expectedSaid, { n: "-", H: "H" });
    }),
  );

  it.each([
    ["the driver has no such service", kubeletError("Unimplemented", "no"), true, 1],
    ["the gate is off", kubeletError("Unavailable", "gone"), false, 0],
  ])("is not asked for again if %s", (_, error, isOn, streams) =>
    marbles((t) => {
      const unsub = "              60s !";
      const expected = "           -";
      const expectedSwitchedOff = "|";

      const { run$, telemetry, opened } = followed(t, ["#"], error, isOn);
      t.expectObservable(run$, unsub).toBe(isOn ? expected : expectedSwitchedOff);
      t.flush();
      expect([opened(), telemetry.lines]).toEqual([streams, []]);
    })(),
  );
});
