import { expect, it } from "vitest";
import { createMemoryShedder } from "../../../src/commands/memoryShedder.ts";
import type { MemoryReading } from "../../../src/core/memory/memoryShedding.ts";
import { type Marbles, marbles } from "../../support/marbles.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";

const reading = (percent: number): MemoryReading => ({ of: "heap", usedBytes: percent, limitBytes: 100 });
const LINE = "Memory is low; the kubelet frees what it can rebuild";

/** Registers something of each kind, and runs the shedder while memory runs low, then out. */
function shedAll({ cold, clock, expectObservable, flush }: Marbles) {
  const readings = "-l-c-a--";
  const unsub = "   -------!";
  const expected = "--------";

  const telemetry = recordingTelemetry();
  const shedder = createMemoryShedder();
  const order: string[] = [];
  const add = (name: string, kind: "caches" | "requests" | "watchers", count: number) =>
    shedder.register({
      name,
      kind,
      shed: () => {
        order.push(name);
        return count;
      },
    });
  add("objects", "watchers", 7);
  add("tokens", "caches", 3);
  add("waiting", "requests", 5);
  add("reviews", "caches", 4);
  const takeOut = add("gone", "caches", 1);
  takeOut();
  const readings$ = cold(readings, { l: reading(80), c: reading(86), a: reading(96) });
  expectObservable(shedder.run(readings$, telemetry, clock), unsub).toBe(expected);
  flush();
  return { order, telemetry };
}

it(
  "sheds caches first, requests and watchers later",
  marbles((m) => {
    expect(shedAll(m).order).toEqual(["tokens", "reviews", "waiting", "objects"]);
  }),
);

it(
  "logs each shedding",
  marbles((m) => {
    const line = (usedBytes: number, kind: string, shed: Readonly<Record<string, number>>) => ({
      level: "warn",
      message: LINE,
      fields: { memory: "heap", usedBytes, limitBytes: 100, kind, shed },
    });
    expect(shedAll(m).telemetry.lines).toEqual([
      line(86, "caches", { tokens: 3, reviews: 4 }),
      line(96, "requests", { waiting: 5 }),
      line(96, "watchers", { objects: 7 }),
    ]);
  }),
);

it(
  "counts each shedding by kind and name",
  marbles((m) => {
    expect([...shedAll(m).telemetry.samples]).toEqual([
      ['rxlet_memory_shed_total{kind="caches",name="tokens"}', 3],
      ['rxlet_memory_shed_total{kind="caches",name="reviews"}', 4],
      ['rxlet_memory_shed_total{kind="requests",name="waiting"}', 5],
      ['rxlet_memory_shed_total{kind="watchers",name="objects"}', 7],
    ]);
  }),
);

it(
  "sheds the rest when a part fails, and logs the failure",
  marbles(({ cold, clock, expectObservable, flush }) => {
    const readings = "-c-";
    const unsub = "   --!";
    const expected = "---";

    const telemetry = recordingTelemetry();
    const shedder = createMemoryShedder();
    const failing = (): number => {
      throw new Error("broken");
    };
    shedder.register({ name: "tokens", kind: "caches", shed: failing });
    shedder.register({ name: "reviews", kind: "caches", shed: () => 4 });
    expectObservable(shedder.run(cold(readings, { c: reading(90) }), telemetry, clock), unsub).toBe(expected);
    flush();
    expect(telemetry.lines.map(({ level, message }) => [level, message])).toEqual([
      ["error", "Memory could not be shed"],
      ["warn", LINE],
    ]);
    expect([...telemetry.samples]).toEqual([['rxlet_memory_shed_total{kind="caches",name="reviews"}', 4]]);
  }),
);
