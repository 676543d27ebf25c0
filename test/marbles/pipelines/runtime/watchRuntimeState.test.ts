import { defer, map, type Observable, of, throwError, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { monotonicMs } from "../../../../src/core/ids.ts";
import { type RuntimeState, unknownRuntimeState } from "../../../../src/core/runtime/runtimeState.ts";
import * as cri from "../../../../src/gen/cri.ts";
import { runtimeState } from "../../../../src/pipelines/runtime/watchRuntimeState.ts";
import type { RuntimeService } from "../../../../src/ports/cri.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const READY: RuntimeState = {
  runtimeProblems: [],
  networkProblems: [],
  downSince: undefined,
  runtimeName: "sim",
  runtimeVersion: "v1",
  handlers: [{ name: "", recursiveReadOnlyMounts: true, userNamespaces: false }],
  supplementalGroupsPolicy: true,
};
const NO_NETWORK: RuntimeState = {
  ...READY,
  networkProblems: ["container runtime network not ready: NetworkReady=false reason:NoCni message:no config"],
};
const DOWN: RuntimeState = { ...READY, runtimeProblems: ["container runtime is down: connection refused"] };

type Answer = "ready" | "noNetwork" | "down";

/** A runtime that answers after `latencyMs` what it is set to when it is asked. */
function fake({ clock }: Marbles, latencyMs = 0) {
  const conditions = (network: boolean) => [
    cri.RuntimeCondition.create({ type: "RuntimeReady", status: true }),
    cri.RuntimeCondition.create({
      type: "NetworkReady",
      status: network,
      ...(network ? {} : { reason: "NoCni", message: "no config" }),
    }),
  ];
  const late = <T>(value: T): Observable<T> =>
    latencyMs === 0 ? of(value) : timer(latencyMs, clock.scheduler).pipe(map(() => value));
  const self = {
    answer: "ready" as Answer,
    /** When Status was asked. */
    asked: [] as number[],
    versions: 0,
    latencyMs,
    runtime: {
      status: () =>
        defer(() => {
          self.asked.push(clock.monotonicMs());
          if (self.answer === "down") return throwError(() => kubeletError("Unavailable", "connection refused"));
          return late(
            cri.StatusResponse.create({
              status: { conditions: conditions(self.answer === "ready") },
              runtimeHandlers: [{ name: "", features: { recursiveReadOnlyMounts: true, userNamespaces: false } }],
              features: { supplementalGroupsPolicy: true },
            }),
          );
        }),
      version: () =>
        defer(() => {
          self.versions += 1;
          return of(cri.VersionResponse.create({ runtimeName: "sim", runtimeVersion: "v1" }));
        }),
    } as unknown as RuntimeService,
  };
  return self;
}

function follow(m: Marbles, world: ReturnType<typeof fake>, lookAgain$: Observable<unknown>) {
  const cell = createCell(unknownRuntimeState);
  const telemetry = recordingTelemetry();
  const ports = { runtime: world.runtime, clock: m.clock, telemetry };
  return { cell, telemetry, output$: runtimeState({ lookAgain$ }, ports, { runtimeStatusPeriodMs: 5_000 }, cell) };
}

const downSince = (ms: number): RuntimeState => ({ ...DOWN, downSince: monotonicMs(ms) });

const states = { r: READY, n: NO_NETWORK };

describe("watchRuntimeState", () => {
  it(
    "calls Status at once and periodically, and emits only changes",
    marbles((m) => {
      const lookAgain = "-";
      const unsub = "    12500ms !";
      const expected = " r";

      const world = fake(m);
      const { output$ } = follow(m, world, m.hot(lookAgain));
      m.expectObservable(output$, unsub).toBe(expected, states);
      m.flush();
      expect(world.asked).toEqual([0, 5_000, 10_000]);
    }),
  );

  it(
    "calls Status each second while the runtime is not ready",
    marbles((m) => {
      const lookAgain = "-";
      const unsub = "    12500ms !";
      const expected = " r 9999ms n";

      const world = fake(m);
      const { output$, cell } = follow(m, world, m.hot(lookAgain));
      m.at(7_000, () => (world.answer = "noNetwork"));
      m.expectObservable(output$, unsub).toBe(expected, states);
      m.flush();
      expect([world.asked, cell.value]).toEqual([[0, 5_000, 10_000, 11_000, 12_000], NO_NETWORK]);
    }),
  );

  it(
    "calls Version once",
    marbles((m) => {
      const lookAgain = "-";
      const unsub = "    12500ms !";
      const expected = " r";

      const world = fake(m);
      const { output$ } = follow(m, world, m.hot(lookAgain));
      m.expectObservable(output$, unsub).toBe(expected, states);
      m.flush();
      expect(world.versions).toBe(1);
    }),
  );

  it(
    "calls Status at once when the event stream opened or broke",
    marbles((m) => {
      const lookAgain = "----------x---y";
      const unsub = "    20ms !";
      const expected = " r---------d---r";

      const world = fake(m);
      const { output$ } = follow(m, world, m.hot(lookAgain, {}));
      m.at(9, () => (world.answer = "down"));
      m.at(12, () => (world.answer = "ready"));
      m.expectObservable(output$, unsub).toBe(expected, { ...states, d: downSince(10) });
    }),
  );

  it(
    "is down while Status fails, keeps the name, and reports the error with upstream's text",
    marbles((m) => {
      const lookAgain = "-";
      const unsub = "    16s !";
      const expected = " r 4999ms d 8999ms r";

      const world = fake(m);
      const { output$, telemetry } = follow(m, world, m.hot(lookAgain));
      m.at(4_000, () => (world.answer = "down"));
      m.at(14_000, () => (world.answer = "ready"));
      m.expectObservable(output$, unsub).toBe(expected, { ...states, d: downSince(5_000) });
      m.flush();
      expect(telemetry.lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
        "info Container runtime is ready",
        "error Container runtime is not ready",
        "info Container runtime is ready",
      ]);
    }),
  );

  it(
    "never has two calls at once: a response is never older than the previous one",
    marbles((m) => {
      const lookAgain = "1s x 99ms y 99ms z";
      const unsub = "    7s !";
      const expected = " 3s r 2999ms n";

      const world = fake(m, 3_000);
      const { output$ } = follow(m, world, m.hot(lookAgain, {}));
      // Without that rule the first request would be answered last.
      m.at(1_500, () => (world.answer = "noNetwork"));
      m.expectObservable(output$, unsub).toBe(expected, states);
      m.flush();
      expect(world.asked).toEqual([0, 3_000, 6_000]);
    }),
  );

  it(
    "leaves call and timer on unsubscribe",
    marbles((m) => {
      const lookAgain = "-";
      const unsub = "    1s !";
      const expected = "";

      const world = fake(m, 3_000);
      const { output$, cell } = follow(m, world, m.hot(lookAgain));
      m.expectObservable(output$, unsub).toBe(expected);
      m.flush();
      expect([cell.value, m.scheduler.frame]).toEqual([unknownRuntimeState, 1_000]);
    }),
  );
});
