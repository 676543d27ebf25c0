/** In the diagrams: a and A are listings with a driver and with its second version, n one without, i what init answers. */
import { map, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import type { FlexDriverMap, FlexOutput } from "../../../../src/core/flex/flexAnswer.ts";
import type { FlexExecutable } from "../../../../src/core/flex/flexDriverFiles.ts";
import { MAX_DRIVERS, probeFlexDrivers } from "../../../../src/pipelines/plugins/probeFlexDrivers.ts";
import type { FlexDrivers } from "../../../../src/ports/flexDrivers.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { fixedRng } from "../../../support/fixedRng.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

type Listing = readonly FlexExecutable[];

const ANSWER: FlexOutput = { printed: '{"status":"Success","capabilities":{"attach":false}}' };
const LISTINGS: Record<string, Listing> = {
  n: [],
  a: [{ driver: "d", stamp: "1" }],
  A: [{ driver: "d", stamp: "2" }],
  b: [
    { driver: "d", stamp: "1" },
    { driver: "e", stamp: "1" },
  ],
};

/** Follows the names of known drivers, as one text. */
function probe({ hot, clock }: Marbles, listings: string, run: FlexDrivers["run"]) {
  const cell = createCell<FlexDriverMap>(new Map());
  let listed: Listing = [];
  const changes$ = hot(listings, LISTINGS).pipe(map((list) => (listed = list)));
  const flexDrivers: FlexDrivers = { changes$, list: () => of(listed), run };
  const probing$ = probeFlexDrivers({ clock, rng: fixedRng(), telemetry: recordingTelemetry(), flexDrivers }, cell);
  return { probing$, names$: cell.changes$.pipe(map((known) => [...known.keys()].sort().join() || "-")) };
}

const NAMES = { n: "-", d: "d", e: "e", b: "d,e" };

describe("flexVolume drivers", () => {
  it("are known once they have started, until they are gone", () =>
    marbles((m) => {
      const listings = "-a----n";
      const init = "    --(i|)";
      const unsub = "   10ms !";
      const expected = "n--d--n";
      const nothing = "";

      const { probing$, names$ } = probe(m, listings, () => m.cold<FlexOutput>(init, { i: ANSWER }));
      m.expectObservable(probing$, unsub).toBe(nothing);
      m.expectObservable(names$, unsub).toBe(expected, NAMES);
    })());

  it("are asked again when they change only", () =>
    marbles((m) => {
      const listings = "a-a-A-A";
      const unsub = "   10ms !";
      const expected = "(nd)d";
      const nothing = "";

      const asked: string[] = [];
      const { probing$, names$ } = probe(m, listings, (driver, args) => {
        asked.push([driver, ...args].join(" "));
        return of(ANSWER);
      });
      m.expectObservable(names$, unsub).toBe(expected, NAMES);
      m.expectObservable(probing$, unsub).toBe(nothing);
      m.flush();
      expect(asked).toEqual(["d init", "d init"]);
    })());

  it("do not wait for one that hangs", () =>
    marbles((m) => {
      const listings = "b";
      const hangs = "   -";
      const unsub = "   10ms !";
      const expected = "(ne)";
      const nothing = "";

      const { probing$, names$ } = probe(m, listings, (driver) =>
        driver === "d" ? m.cold<FlexOutput>(hangs) : of(ANSWER),
      );
      m.expectObservable(names$, unsub).toBe(expected, NAMES);
      m.expectObservable(probing$, unsub).toBe(nothing);
    })());

  it("are asked again after a failure, or an answer that is none", () =>
    marbles((m) => {
      const listings = "a";
      const unsub = "   2s !";
      const expected = "n 1499ms d";
      const nothing = "";

      const answers = [throwError(() => kubeletError("Io", "ETXTBSY")), of({ printed: "garbage" }), of(ANSWER)];
      const { probing$, names$ } = probe(m, listings, () => answers.shift() ?? of(ANSWER));
      m.expectObservable(names$, unsub).toBe(expected, NAMES);
      m.expectObservable(probing$, unsub).toBe(nothing);
    })());

  it("are as many as the bound", () =>
    marbles((m) => {
      const listings = "m";
      const unsub = "   10ms !";
      const nothing = "";

      const many = Array.from({ length: MAX_DRIVERS + 1 }, (_, n) => ({ driver: `d${n}`, stamp: "1" }));
      const asked: string[] = [];
      const cell = createCell<FlexDriverMap>(new Map());
      const flexDrivers: FlexDrivers = {
        changes$: m.hot(listings),
        list: () => of(many),
        run: (driver) => {
          asked.push(driver);
          return of(ANSWER);
        },
      };
      const ports = { clock: m.clock, rng: fixedRng(), telemetry: recordingTelemetry(), flexDrivers };
      m.expectObservable(probeFlexDrivers(ports, cell), unsub).toBe(nothing);
      m.flush();
      expect([asked.length, cell.value.size]).toEqual([MAX_DRIVERS, MAX_DRIVERS]);
    })());
});
