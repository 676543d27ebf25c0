import { BehaviorSubject, defer, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { heldLock, watchShutdowns } from "../../../../src/pipelines/shutdown/followLogind.ts";
import type { Logind } from "../../../../src/ports/logind.ts";
import { fixedRng } from "../../../support/fixedRng.ts";
import { type Marbles, marbles } from "../../../support/marbles.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const BOOL = { t: true, f: false };
const GONE = kubeletError("Unavailable", "the bus is gone");

/** A login manager that allows these delays one after the other, in seconds. */
function follow({ clock }: Marbles, more: Partial<Logind>, delays: readonly number[] = [60]) {
  const telemetry = recordingTelemetry();
  const calls: string[] = [];
  let asked = 0;
  const logind: Logind = {
    inhibitDelayMs: () =>
      defer(() => {
        calls.push("ask");
        asked += 1;
        return of((delays[Math.min(asked, delays.length) - 1] ?? 0) * 1_000);
      }),
    overrideInhibitDelay: (seconds) => defer(() => of(void calls.push(`override ${seconds}`))),
    reload: () => defer(() => of(void calls.push("reload"))),
    inhibit: () => throwError(() => GONE),
    shutdowns: () => throwError(() => GONE),
    ...more,
  };
  const context = {
    ports: { clock, rng: fixedRng(0), telemetry, api: undefined },
    config: { nodeName: "one", shutdownPeriods: [20, 10].map((seconds, priority) => ({ priority, seconds })) },
  };
  const errors = () => telemetry.lines.filter(({ level }) => level === "error").map(({ message }) => message);
  return { logind, context, calls, errors };
}

describe("the watch of the login manager", () => {
  it(
    "passes signals on, and begins again a second after it broke",
    marbles((test) => {
      const first = "   f-t#";
      const then = "    t--f";
      const unsub = "   1010ms !";
      const expected = "f-t 1s t--f";

      const runs = [test.cold<boolean>(first, BOOL, GONE), test.cold<boolean>(then, BOOL)];
      const { logind, context, errors, calls } = follow(test, { shutdowns: () => runs.shift() ?? of() });
      test.expectObservable(watchShutdowns(logind, context), unsub).toBe(expected, BOOL);
      test.flush();
      expect(errors()).toEqual(["Unable to watch the node for shutdown events"]);
      expect(calls).toEqual(["ask", "ask"]);
    }),
  );

  it(
    "raises a shorter delay, and asks until it is in force",
    marbles((test) => {
      const shutdowns = "f";
      const unsub = "    500ms !";
      const expected = " 400ms f";

      const source = test.cold<boolean>(shutdowns, BOOL);
      const { logind, context, calls } = follow(test, { shutdowns: () => source }, [5, 5, 5, 30]);
      test.expectObservable(watchShutdowns(logind, context), unsub).toBe(expected, BOOL);
      test.flush();
      expect(calls).toEqual(["ask", "override 30", "reload", "ask", "ask", "ask"]);
    }),
  );

  it(
    "fails where the delay stays too short, says so once and tries again",
    marbles((test) => {
      const unsub = "   30s !";
      const expected = "";

      const { logind, context, calls, errors } = follow(test, {}, [5]);
      test.expectObservable(watchShutdowns(logind, context), unsub).toBe(expected);
      test.flush();
      expect(errors()).toEqual(["Failed to start node shutdown manager"]);
      // A look, then ten after the order to reload; again after 1, 2, 4 and 8 s.
      expect(calls.filter((call) => call === "reload")).toHaveLength(5);
      expect(calls.filter((call) => call === "ask")).toHaveLength(5 * 11);
    }),
  );
});

describe("the lock", () => {
  it(
    "is held while it is wanted, and taken again when it is lost",
    marbles((test) => {
      const lock = "    h-#";
      const first = "   -^-!";
      const again = "   1003ms ^!";
      const unsub = "   3s !";
      const expected = "";

      const source = test.cold<void>(lock, { h: undefined }, GONE);
      const { logind, context, errors } = follow(test, { inhibit: () => source });
      const isWanted = new BehaviorSubject(false);
      test.at(1, () => isWanted.next(true));
      test.at(1_004, () => isWanted.next(false));
      test.expectObservable(heldLock(logind, isWanted, context), unsub).toBe(expected);
      test.expectSubscriptions(source).toBe(first, again);
      test.flush();
      expect(errors()).toEqual(["Cannot delay a shutdown of the node"]);
    }),
  );
});
