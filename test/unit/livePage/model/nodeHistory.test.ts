import { describe, expect, it } from "vitest";
import type { LiveCalls, LiveNode } from "../../../../src/core/live/liveMessages.ts";
import {
  callKey,
  MAX_CALLS,
  MAX_POINTS,
  NO_HISTORY,
  rankedCalls,
  withNode,
} from "../../../../src/livePage/model/nodeHistory.ts";

const call = (name: string, meanMs?: number, more: Partial<LiveCalls> = {}): LiveCalls => ({
  target: "runtime",
  name,
  count: 1,
  failed: 0,
  ...(meanMs !== undefined && { meanMs }),
  ...more,
});
const node = (at: number, cpuMillis?: number, calls: readonly LiveCalls[] = []): LiveNode => ({
  kind: "node",
  at,
  problems: [],
  usage: { ...(cpuMillis !== undefined && { cpuMillis }) },
  pressures: [],
  signals: [],
  evictionOrder: [],
  devices: [],
  calls,
});

describe("withNode", () => {
  it("adds a point to each series, and nothing where nothing was measured", () => {
    const history = [node(1_000, 5), node(3_000)].reduce(withNode, NO_HISTORY);
    expect(history).toEqual({ at: [1, 3], cpu: [5, null], memory: [null, null], disk: [null, null], calls: new Map() });
  });
  it("keeps latencies of calls that begin late or pause", () => {
    const history = [node(1_000), node(2_000, 0, [call("Status", 7)]), node(3_000)].reduce(withNode, NO_HISTORY);
    expect(history.calls).toEqual(new Map([["runtime Status", [null, 7, null]]]));
  });
  it("keeps no more points and calls than its bounds", () => {
    let history = NO_HISTORY;
    const calls = Array.from({ length: 100 }, (_, index) => call(`call-${index}`, index));
    for (let at = 1; at <= MAX_POINTS + 40; at += 1) history = withNode(history, node(at * 1_000, at, calls));
    expect([history.at.length, history.cpu.length, history.cpu[0]]).toEqual([MAX_POINTS, MAX_POINTS, 41]);
    expect([history.calls.size, history.calls.get("runtime call-0")?.length]).toEqual([MAX_CALLS, MAX_POINTS]);
  });
  it("starts anew when time goes back", () => {
    expect([node(9_000, 1), node(2_000, 2)].reduce(withNode, NO_HISTORY)).toMatchObject({ at: [2], cpu: [2] });
  });
});

it("ranks calls by failures, then by latency, then by number", () => {
  const calls = [call("a", 1, { count: 9 }), call("b", 1), call("c", 1, { maxMs: 80 }), call("d", 1, { failed: 1 })];
  expect(rankedCalls(calls).map(({ name }) => name)).toEqual(["d", "c", "a", "b"]);
});
it("tells calls to the runtime from those to the API server", () => {
  expect(callKey({ target: "api", name: "GET pods" })).toBe("api GET pods");
});
