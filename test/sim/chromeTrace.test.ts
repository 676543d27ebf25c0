import { describe, expect, it } from "vitest";
import { createChromeTrace } from "../../src/sim/chromeTrace.ts";
import { simulateSeed } from "../../src/sim/simulateSeed.ts";

interface Entry {
  readonly ph: "M" | "B" | "E" | "i";
  readonly name?: string;
  readonly pid: number;
  readonly tid?: number;
  readonly ts?: number;
  readonly args?: { readonly name?: string; readonly sort_index?: number };
}

/** A run with plenty of faults on two nodes, as its trace tells it. */
function tracedRun() {
  const chrome = createChromeTrace();
  const statuses = new Set<string>();
  const result = simulateSeed({
    seed: "chrome",
    pods: 10,
    durationMs: 20 * 60_000,
    nodes: 2,
    watch: (observation, node) => {
      chrome.see(observation, node);
      if (observation.kind === "status") statuses.add(`${node + 1} ${observation.subject}`);
    },
  });
  const document = JSON.parse(chrome.text()) as { readonly traceEvents: readonly Entry[] };
  return { result, statuses, entries: document.traceEvents };
}

const namesOf = (entries: readonly Entry[], what: string): readonly string[] =>
  entries.flatMap(({ ph, name, pid, args }) => (ph === "M" && name === what ? [`${pid} ${args?.name}`] : []));

describe("createChromeTrace", () => {
  const { result, statuses, entries } = tracedRun();
  const timed = entries.filter(({ ph }) => ph !== "M");

  it("records a successful run with faults", () => {
    expect([result.outcome, timed.length > 1_000]).toEqual(["ok", true]);
  });

  it("has a process per node and names every track it uses once", () => {
    expect(new Set(namesOf(entries, "process_name"))).toEqual(new Set(["1 node 0", "2 node 1"]));
    const named = entries.filter(({ name }) => name === "thread_name").map(({ pid, tid }) => `${pid}/${tid}`);
    expect(new Set(named).size).toBe(named.length);
    expect(new Set(timed.map(({ pid, tid }) => `${pid}/${tid}`))).toEqual(new Set(named));
    const order = entries.filter(({ name }) => name === "thread_sort_index").map(({ args }) => args?.sort_index);
    expect([order.length, new Set(order).size]).toEqual([named.length, named.length]);
  });

  it("has one track for each pod with a reported status", () => {
    const tracks = namesOf(entries, "thread_name");
    expect(new Set(tracks).size).toBe(tracks.length);
    expect([...statuses].filter((pod) => !tracks.includes(pod))).toEqual([]);
  });

  it("is in order of time, in whole microseconds", () => {
    const times = timed.map(({ ts }) => ts ?? Number.NaN);
    expect(times.every(Number.isSafeInteger)).toBe(true);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.at(-1)).toBeLessThanOrEqual(result.virtualMs * 1000);
  });

  it("begins and ends one bar at a time on a track, for each sandbox and each run of a container", () => {
    const open = new Map<string, string>();
    const bars: string[] = [];
    for (const { ph, pid, tid, name = "" } of timed) {
      const track = `${pid}/${tid}`;
      if (ph === "B") {
        expect(open.has(track)).toBe(false);
        open.set(track, name);
        bars.push(name.replace(/#\d+$/, ""));
      } else if (ph === "E") expect(open.delete(track)).toBe(true);
    }
    expect([...open]).toEqual([]);
    expect(bars.filter((name) => name === "sandbox").length).toBeGreaterThan(20);
    expect(bars.filter((name) => name === "steady").length).toBeGreaterThan(5);
  });
});

describe("the tracks of a Chrome trace", () => {
  it("puts overlapping bars on another track and closes open bars", () => {
    const chrome = createChromeTrace();
    const see = (atMs: number, kind: "container started" | "container exited", id: string, attempt: number) =>
      chrome.see({ kind: "change", atMs, change: { atMs, kind, id, podUid: "u", name: `a/b/c#${attempt}` } }, 0);
    see(1, "container started", "first", 0);
    see(2, "container started", "second", 1);
    see(3, "container exited", "first", 0);
    see(4, "container started", "third", 2);
    const { traceEvents } = JSON.parse(chrome.text()) as { readonly traceEvents: readonly Entry[] };
    expect(namesOf(traceEvents, "thread_name")).toEqual(["1 a/b c", "1 a/b c (2)"]);
    expect(traceEvents.filter(({ ph }) => ph !== "M")).toEqual([
      { ph: "B", name: "c#0", pid: 1, tid: 1, ts: 1_000 },
      { ph: "B", name: "c#1", pid: 1, tid: 2, ts: 2_000 },
      { ph: "E", pid: 1, tid: 1, ts: 3_000 },
      { ph: "B", name: "c#2", pid: 1, tid: 1, ts: 4_000 },
      { ph: "E", pid: 1, tid: 2, ts: 4_000 },
      { ph: "E", pid: 1, tid: 1, ts: 4_000 },
    ]);
  });
});
