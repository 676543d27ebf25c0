import { describe, expect, it } from "vitest";
import type { KubeletEvent } from "../../../src/core/events.ts";
import { CORRELATOR_LIMITS } from "../../../src/sinks/eventCorrelator.ts";
import { recordEvents } from "../../../src/sinks/events.ts";
import { marbles } from "../../support/marbles.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";

const event = (pod: string, reason: string, message: string, type: KubeletEvent["type"] = "Normal"): KubeletEvent => ({
  type,
  reason,
  message,
  object: { kind: "Pod", namespace: "default", name: pod, uid: `${pod}-uid`, fieldPath: "spec.containers{main}" },
});

const unlimited = { qps: 0, burst: 0 };
const EVENTS = {
  a: event("web", "Pulled", "image present"),
  b: event("web", "BackOff", "back-off 10s", "Warning"),
  c: event("job", "Pulled", "image present"),
};

/** `message` and `count` of the lines written. */
const reported = (telemetry: ReturnType<typeof recordingTelemetry>): readonly string[] =>
  telemetry.lines.map(({ fields }) => `${String(fields["message"])} x${String(fields["count"] ?? 1)}`);

describe("recordEvents", () => {
  it(
    "writes one line per event and completes with its source",
    marbles(({ hot, clock, expectObservable, flush }) => {
      const events = "  -a--b--|";
      const expected = "-------|";

      const telemetry = recordingTelemetry();
      expectObservable(recordEvents(hot(events, EVENTS), { telemetry, clock, ...unlimited })).toBe(expected);
      flush();
      expect(telemetry.lines).toEqual([
        {
          level: "info",
          message: "Event occurred",
          fields: {
            logger: "events",
            object: { namespace: "default", name: "web" },
            kind: "Pod",
            fieldPath: "spec.containers{main}",
            type: "Normal",
            reason: "Pulled",
            message: "image present",
          },
        },
        {
          level: "warn",
          message: "Event occurred",
          fields: {
            logger: "events",
            object: { namespace: "default", name: "web" },
            kind: "Pod",
            fieldPath: "spec.containers{main}",
            type: "Warning",
            reason: "BackOff",
            message: "back-off 10s",
          },
        },
      ]);
    }),
  );

  it(
    "counts equal events per object and message",
    marbles(({ hot, clock, expectObservable, flush }) => {
      const events = "  a-b-a-c-a|";
      const expected = "---------|";

      const telemetry = recordingTelemetry();
      expectObservable(recordEvents(hot(events, EVENTS), { telemetry, clock, ...unlimited })).toBe(expected);
      flush();
      expect(reported(telemetry)).toEqual([
        "image present x1",
        "back-off 10s x1",
        "image present x2",
        "image present x1",
        "image present x3",
      ]);
    }),
  );

  it(
    "folds events that differ by message alone from the tenth message within 10 minutes on",
    marbles(({ hot, clock, expectObservable, flush }) => {
      const expected = "------------|";

      const telemetry = recordingTelemetry();
      const letters = "abcdefghijkl";
      const values = Object.fromEntries([...letters].map((name) => [name, event("web", "Unhealthy", `probe ${name}`)]));
      expectObservable(recordEvents(hot(`${letters}|`, values), { telemetry, clock, ...unlimited })).toBe(expected);
      flush();
      expect(reported(telemetry).slice(8)).toEqual([
        "probe i x1",
        "(combined from similar events): probe j x1",
        "(combined from similar events): probe k x2",
        "(combined from similar events): probe l x3",
      ]);
    }),
  );

  it(
    "forgets similar events after 10 quiet minutes",
    marbles(({ hot, clock, expectObservable, flush }) => {
      const expected = "--------- 11m -|";

      const telemetry = recordingTelemetry();
      const letters = "abcdefghi";
      const values = Object.fromEntries(
        [...letters, "z"].map((name) => [name, event("web", "Unhealthy", `probe ${name}`)]),
      );
      expectObservable(recordEvents(hot(`${letters} 11m z|`, values), { telemetry, clock, ...unlimited })).toBe(
        expected,
      );
      flush();
      expect(reported(telemetry).at(-1)).toBe("probe z x1");
    }),
  );

  it(
    "lets one object speak 25 times at once, then once every 5 minutes, while others speak freely",
    marbles(({ hot, clock, expectObservable, flush }) => {
      const telemetry = recordingTelemetry();
      const diagram = `${"a".repeat(30)}c 5m aa|`;
      expectObservable(recordEvents(hot(diagram, EVENTS), { telemetry, clock, ...unlimited })).toBe(
        `${"-".repeat(31)} 5m --|`,
      );
      flush();
      const last = reported(telemetry).slice(24);
      const dropped = telemetry.samples.get('rxlet_dropped_total{queue="events"}');
      expect({ last, dropped }).toEqual({
        last: ["image present x25", "image present x1", "image present x31"],
        dropped: 6,
      });
    }),
  );

  const numbered = Object.fromEntries([..."abcdef"].map((name) => [name, event(name, "Started", name)]));

  it(
    "limits the rate over all objects",
    marbles(({ hot, clock, expectObservable, flush }) => {
      const events = "  (abc) 495ms d 499ms e 499ms f|";
      const expected = "----- 495ms - 499ms - 499ms -|";

      const telemetry = recordingTelemetry();
      const recorded$ = recordEvents(hot(events, numbered), { telemetry, clock, qps: 1, burst: 2 });
      expectObservable(recorded$).toBe(expected);
      flush();
      expect(reported(telemetry)).toEqual(["a x1", "b x1", "e x1"]);
    }),
  );

  it(
    "counts the events that the rate over all objects drops",
    marbles(({ hot, clock, expectObservable, flush }) => {
      const events = "  (abcdef)|";
      const expected = "--------|";

      const telemetry = recordingTelemetry();
      const recorded$ = recordEvents(hot(events, numbered), { telemetry, clock, qps: 1, burst: 2 });
      expectObservable(recorded$).toBe(expected);
      flush();
      expect(telemetry.samples.get('rxlet_dropped_total{queue="events"}')).toBe(4);
    }),
  );

  it(
    "counts every event by type and reason, written or not",
    marbles(({ hot, clock, expectObservable, flush }) => {
      const events = "  aaab|";
      const expected = "----|";

      const telemetry = recordingTelemetry();
      const limits = { ...CORRELATOR_LIMITS, objectBurst: 1 };
      expectObservable(recordEvents(hot(events, EVENTS), { telemetry, clock, ...unlimited, limits })).toBe(expected);
      flush();
      expect([telemetry.lines.length, Object.fromEntries(telemetry.samples)]).toEqual([
        1,
        {
          'rxlet_events_total{type="Normal",reason="Pulled"}': 3,
          'rxlet_events_total{type="Warning",reason="BackOff"}': 1,
          'rxlet_dropped_total{queue="events"}': 3,
        },
      ]);
    }),
  );

  it(
    "keeps a bounded number of keys: the least recently used one is counted from the start",
    marbles(({ hot, clock, expectObservable, flush }) => {
      const events = "  abacab|";
      const expected = "------|";

      const telemetry = recordingTelemetry();
      const values = Object.fromEntries([..."abc"].map((name) => [name, event(name, "Started", name)]));
      const limits = { ...CORRELATOR_LIMITS, maxKeys: 2 };
      expectObservable(recordEvents(hot(events, values), { telemetry, clock, ...unlimited, limits })).toBe(expected);
      flush();
      expect(reported(telemetry)).toEqual(["a x1", "b x1", "a x2", "c x1", "a x3", "b x1"]);
    }),
  );

  it(
    "passes the error of its source",
    marbles(({ hot, clock, expectObservable }) => {
      const events = "  a-#";
      const expected = "--#";

      const telemetry = recordingTelemetry();
      expectObservable(recordEvents(hot(events, EVENTS), { telemetry, clock, ...unlimited })).toBe(expected);
    }),
  );

  it(
    "leaves its source when unsubscribed",
    marbles(({ hot, clock, expectObservable, expectSubscriptions }) => {
      const events = "      a-b-a";
      const eventsSubs = "  ^--!";
      const subscription = "^--!";
      const expected = "    ----";

      const events$ = hot(events, EVENTS);
      const telemetry = recordingTelemetry();
      expectObservable(recordEvents(events$, { telemetry, clock, ...unlimited }), subscription).toBe(expected);
      expectSubscriptions(events$).toBe(eventsSubs);
    }),
  );
});
