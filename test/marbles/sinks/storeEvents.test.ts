import { defer, type Observable } from "rxjs";
import { describe, expect, it } from "vitest";
import { apiError } from "../../../src/core/api/apiStatus.ts";
import type { CountedEvent } from "../../../src/core/apiEvent.ts";
import { kubeletError } from "../../../src/core/errors.ts";
import { epochMs } from "../../../src/core/ids.ts";
import { type ApiEventsOptions, storeEvents } from "../../../src/sinks/apiEvents.ts";
import { type Marbles, marbles, TEST_EPOCH_MS } from "../../support/marbles.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";

const counted = (name: string, count = 1): CountedEvent => ({
  event: {
    type: "Normal",
    reason: "Started",
    message: "Container started",
    object: { kind: "Pod", namespace: "demo", name, uid: `${name}-uid`, fieldPath: "" },
  },
  count,
  beganNs: 255n,
  lastAt: epochMs(TEST_EPOCH_MS),
});
const EVENTS = { a: counted("a"), b: counted("b"), c: counted("c"), A: counted("a", 2) };
const AWAY = kubeletError("Unavailable", "connection refused");
const GONE = apiError({ code: 404 });

/** A server that answers as the diagrams say, one after the other, the last one for ever; and what it was asked, when. */
function server({ cold, clock }: Marbles, diagrams: readonly string[], error: unknown = AWAY) {
  const asked: string[] = [];
  const answer = (verb: string, name: string): Observable<string> =>
    defer(() => {
      const diagram = diagrams[Math.min(asked.length, diagrams.length - 1)] ?? "";
      asked.push(`${clock.monotonicMs()} ${verb} ${name}`);
      return cold(diagram, {}, error);
    });
  const api = {
    create: (_resource: string, object: { metadata: { name?: string } }) =>
      answer("create", object.metadata.name ?? ""),
    patch: (_resource: string, ref: { name: string }) => answer("patch", ref.name),
  } as unknown as ApiEventsOptions["api"];
  return { asked, api };
}

function storing(m: Marbles, diagrams: readonly string[], error?: unknown) {
  const telemetry = recordingTelemetry();
  const { asked, api } = server(m, diagrams, error);
  const rng = { next: () => 0.5, uuid: () => "" };
  const store = (events$: Observable<CountedEvent>) =>
    storeEvents(events$, { api, nodeName: "node-1", clock: m.clock, rng, telemetry });
  return { store, asked, telemetry };
}

describe("storeEvents", () => {
  it(
    "creates what is new and patches what repeats, one after the other",
    marbles((m) => {
      const events = "  (abA)|";
      const stored = "  ---(x|)";
      const expected = "---------|";

      const { store, asked } = storing(m, [stored]);
      m.expectObservable(store(m.hot(events, EVENTS))).toBe(expected);
      m.flush();
      expect(asked).toEqual(["0 create a.ff", "3 create b.ff", "6 patch a.ff"]);
    }),
  );

  it(
    "creates an event of a series that the server has deleted",
    marbles((m) => {
      const events = "  A|";
      const deleted = " -#";
      const stored = "  -(x|)";
      const expected = "--|";

      const { store, asked } = storing(m, [deleted, stored], GONE);
      m.expectObservable(store(m.hot(events, EVENTS))).toBe(expected);
      m.flush();
      expect(asked).toEqual(["0 patch a.ff", "1 create a.ff"]);
    }),
  );

  it(
    "waits for a server that is away, half of ten seconds at first, while others wait in line",
    marbles((m) => {
      const events = "  (ab)";
      const away = "    #";
      const stored = "  (x|)";
      const unsub = "   20s !";
      const expected = "";

      const { store, asked } = storing(m, [away, away, stored]);
      m.expectObservable(store(m.hot(events, EVENTS)), unsub).toBe(expected);
      m.flush();
      expect(asked).toEqual(["0 create a.ff", "5000 create a.ff", "15000 create a.ff", "15000 create b.ff"]);
    }),
  );

  it(
    "drops an event after twelve attempts, and logs it",
    marbles((m) => {
      const events = "  a";
      const away = "    #";
      const unsub = "   200s !";
      const expected = "";

      const { store, asked, telemetry } = storing(m, [away]);
      m.expectObservable(store(m.hot(events, EVENTS)), unsub).toBe(expected);
      m.flush();
      expect([asked.length, asked.at(-1), telemetry.lines.map(({ message }) => message)]).toEqual([
        12,
        "105000 create a.ff",
        ["Unable to write event (retry limit exceeded!)"],
      ]);
    }),
  );

  it(
    "drops an event that the server rejects, and continues",
    marbles((m) => {
      const events = "  (ab)|";
      const rejected = "#";
      const stored = "  (x|)";
      const expected = "----|";

      const { store, asked, telemetry } = storing(m, [rejected, stored], apiError({ code: 422 }));
      m.expectObservable(store(m.hot(events, EVENTS))).toBe(expected);
      m.flush();
      expect([asked, telemetry.lines.map(({ message }) => message)]).toEqual([
        ["0 create a.ff", "0 create b.ff"],
        ["Server rejected event (will not retry!)"],
      ]);
    }),
  );

  it(
    "lets a thousand events wait and counts those that find no place",
    marbles((m) => {
      const hanging = " -";
      const unsub = "   5s !";
      const expected = "";

      const { store, asked, telemetry } = storing(m, [hanging]);
      m.expectObservable(store(m.hot(`(${"a".repeat(1_003)})`, EVENTS)), unsub).toBe(expected);
      m.flush();
      expect([asked.length, telemetry.samples.get('rxlet_dropped_total{queue="apiEvents"}')]).toEqual([1, 2]);
    }),
  );

  it(
    "cancels the request under way when it is unsubscribed",
    marbles((m) => {
      const events = "  a";
      const hanging = " -";
      const unsub = "   --!";
      const expected = "";

      const { store } = storing(m, [hanging]);
      m.expectObservable(store(m.hot(events, EVENTS)), unsub).toBe(expected);
    }),
  );
});
