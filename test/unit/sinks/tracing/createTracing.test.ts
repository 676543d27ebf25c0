/** Spans on their way to a collector, and collectors that do not take them. */
import { join } from "node:path";
import { firstValueFrom, toArray } from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import type { SpanContext } from "../../../../src/core/tracing/spanContext.ts";
import type { SpanExport } from "../../../../src/ports/tracing.ts";
import { createTracing, type TracingOptions } from "../../../../src/sinks/tracing/createTracing.ts";
import { type Collector, startCollector } from "../../../support/otlpCollector.ts";
import { freePort } from "../../../support/ports.ts";
import { realClock } from "../../../support/realClock.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";
import { temporaryDirectory } from "../../../support/temporaryDirectory.ts";
import { waitFor } from "../../../support/waitFor.ts";

const ALWAYS = 1_000_000;
const open: Collector[] = [];
const exports: SpanExport[] = [];
afterEach(async () => {
  await Promise.all(exports.splice(0).map(closed));
  for (const each of open.splice(0)) each.stop();
});

const closed = (spans: SpanExport): Promise<readonly unknown[]> => firstValueFrom(spans.close().pipe(toArray()));

async function collector(address?: string): Promise<Collector> {
  const started = await startCollector(address);
  open.push(started);
  return started;
}

function tracing(endpoint: string, more: Partial<TracingOptions> = {}) {
  const telemetry = recordingTelemetry();
  const made = createTracing({
    endpoint,
    samplingRatePerMillion: ALWAYS,
    hostName: "node-1",
    log: telemetry.log,
    clock: realClock,
    batchDelayMs: 5,
    ...more,
  });
  exports.push(made);
  let dropped = 0;
  made.dropped$.subscribe((count) => (dropped += count));
  const one = (name = "work"): void => made.start({ name, scope: "test" }).end();
  return { tracing: made, one, telemetry, dropped: () => dropped };
}

const PARENT: SpanContext = {
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  isSampled: true,
};

describe("spans that are exported", () => {
  it("have their names, kinds, parents, attributes, events, links and failures, and the node", async () => {
    const { address, spans } = await collector();
    const { tracing: made } = tracing(address);
    const root = made.start({ name: "root", scope: "a", attributes: { text: "t", count: 3 } });
    const child = made.start({ name: "child", scope: "b", kind: "client", parent: root.context, links: [PARENT] });
    child.set({ more: "m" });
    child.event("message", { id: 1 });
    child.fail("refused");
    child.end();
    root.end();
    await waitFor("the spans", () => spans.length === 2);
    const resource = { "service.name": "kubelet", "host.name": "node-1" };
    const shared = { traceId: root.context.traceId, resource: expect.objectContaining(resource) };
    expect(spans).toEqual([
      {
        ...shared,
        ...{ name: "child", scope: "b", kind: 3, spanId: child.context.spanId, parentSpanId: root.context.spanId },
        attributes: { more: "m" },
        events: [{ name: "message", attributes: { id: 1 } }],
        links: [PARENT.spanId],
        ...{ status: 2, message: "refused" },
      },
      {
        ...shared,
        ...{ name: "root", scope: "a", kind: 1, spanId: root.context.spanId, parentSpanId: "" },
        attributes: { text: "t", count: 3 },
        ...{ events: [], links: [], status: 0, message: "" },
      },
    ]);
  });

  it("are exported by the close that follows them", async () => {
    const { address, spans } = await collector();
    const { one, tracing: made } = tracing(address, { batchDelayMs: 60_000 });
    one();
    expect(await closed(made)).toEqual([]);
    expect(spans.map(({ name }) => name)).toEqual(["work"]);
  });

  it("go to a Unix socket too", async () => {
    const folder = directory();
    const { spans } = await collector(`unix:${join(folder, "o.sock")}`);
    const { one } = tracing(`unix://${join(folder, "o.sock")}`);
    one();
    await waitFor("the span", () => spans.length === 1);
  });

  const directory = temporaryDirectory();
});

describe("the decision whether a trace is exported", () => {
  it.each<[string, number | undefined, Partial<SpanContext> | undefined, boolean]>([
    ["never without a rate", undefined, undefined, false],
    ["never with the rate 0", 0, undefined, false],
    ["always with a rate of a million", ALWAYS, undefined, true],
    ["as a sampled parent, with the rate 0", 0, { isSampled: true }, true],
    ["as a parent that is not sampled, with a rate of a million", ALWAYS, { isSampled: false }, false],
  ])("is made once, %s", async (_, samplingRatePerMillion, parent, isSampled) => {
    const { tracing: made } = tracing("127.0.0.1:1", { samplingRatePerMillion });
    const given = parent === undefined ? {} : { parent: { ...PARENT, ...parent } };
    const span = made.start({ name: "root", scope: "test", ...given });
    const child = made.start({ name: "child", scope: "test", parent: span.context });
    expect([span.context.isSampled, child.context.isSampled]).toEqual([isSampled, isSampled]);
    expect(child.context.traceId).toBe(span.context.traceId);
    expect(span.context.traceId === PARENT.traceId).toBe(parent !== undefined);
  });

  it("follows the rate: about half of the traces", () => {
    const { tracing: made } = tracing("127.0.0.1:1", { samplingRatePerMillion: ALWAYS / 2 });
    const sampled = Array.from({ length: 1_000 }, () => made.start({ name: "r", scope: "test" }).context.isSampled);
    const count = sampled.filter(Boolean).length;
    expect([count > 400, count < 600]).toEqual([true, true]);
  });

  it("passes on the state of the trace", () => {
    const { tracing: made } = tracing("127.0.0.1:1");
    const parent = { ...PARENT, traceState: "vendor=1" };
    expect(made.start({ name: "r", scope: "test", parent }).context.traceState).toBe("vendor=1");
  });
});

describe("a collector that takes no spans", () => {
  it("is logged once when it goes away, and once when it is back; its spans are counted", async () => {
    const port = await freePort();
    const { one, telemetry, dropped } = tracing(`127.0.0.1:${port}`);
    const refusing = await collector(`127.0.0.1:${port}`);
    refusing.answer = "refuse";
    for (const batch of [1, 2, 3]) {
      one();
      await waitFor("the batch", () => dropped() === batch);
    }
    refusing.answer = "accept";
    one();
    await waitFor("the line", () => telemetry.lines.length === 2);
    expect(telemetry.lines.map(({ level, message }) => [level, message])).toEqual([
      ["warn", "The collector takes no spans; they are dropped until it is back"],
      ["info", "The collector takes spans again"],
    ]);
    expect(dropped()).toBe(3);
  });

  it("may answer with garbage: the spans count as taken", async () => {
    const taking = await collector();
    taking.answer = "garbage";
    const { one, telemetry, dropped } = tracing(taking.address);
    one();
    await waitFor("the batch", () => taking.batches === 1);
    one();
    await waitFor("the next batch", () => taking.batches === 2);
    expect([telemetry.lines, dropped()]).toEqual([[], 0]);
  });

  it("delays the close by two seconds at most", async () => {
    const hanging = await collector();
    hanging.answer = "hang";
    const { one, tracing: made, telemetry } = tracing(hanging.address);
    one();
    await waitFor("the batch", () => hanging.batches === 1);
    one();
    const startedAt = performance.now();
    await closed(made);
    const tookMs = performance.now() - startedAt;
    expect([tookMs >= 1_900, tookMs < 4_000]).toEqual([true, true]);
    expect(telemetry.lines.map(({ message }) => message)).toEqual(["The last spans were not exported"]);
  });

  it("costs no more than 2048 waiting spans: the others are dropped and counted", async () => {
    const hanging = await collector();
    hanging.answer = "hang";
    const { one, dropped } = tracing(hanging.address, { batchDelayMs: 60_000 });
    // A full batch leaves the queue at once, and hangs.
    for (let index = 0; index < 512; index += 1) one();
    await waitFor("the batch", () => hanging.batches === 1);
    for (let index = 0; index < 2_048; index += 1) one();
    expect(dropped()).toBe(0);
    one();
    expect(dropped()).toBe(1);
  });

  it("fails the start, if its endpoint is no address", () => {
    expect(() => tracing("a b")).toThrow(/tracing.endpoint "a b"/);
  });
});
