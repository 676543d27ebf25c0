import { describe, expect, it } from "vitest";
import { createPrng } from "../../../src/sim/prng.ts";
import { usualApiLatency } from "../../../src/sim/apiServer/simApiServer.ts";
import { connectionLost, tooManyRequests } from "../../../src/core/apiObjects/refusals.ts";
import type { SimEventAction } from "../../../src/sim/apiServer/watchStream.ts";
import { newPod, simApi } from "../../support/simApi.ts";

const ref = (name: string) => ({ namespace: "default", name });
const onNode = { fieldSelector: "spec.nodeName=n1" };
const labelled = (name: string, value: string) => ({
  ...newPod(name, { nodeName: "n1" }, { labels: { v: value } }),
});

describe("simulated API server: watches", () => {
  it("goes on from the version of a list and misses nothing", () => {
    const { admin, run, watch, scheduler, server } = simApi();
    server.put("pods", newPod("a", { nodeName: "n1" }));
    const { metadata } = run(admin.list("pods", onNode));
    server.put("pods", newPod("b", { nodeName: "n1" }));
    server.put("pods", newPod("elsewhere", { nodeName: "n2" }));
    const pods = watch(admin.watch("pods", { ...onNode, resourceVersion: metadata.resourceVersion }));
    scheduler.advanceTo(100);
    server.put("pods", labelled("b", "1"));
    server.delete("pods", ref("a"), { gracePeriodSeconds: 0 });
    scheduler.advanceTo(200);
    expect(pods.seen).toEqual(["ADDED b@7", "MODIFIED b@9", "MODIFIED a@10", "DELETED a@11"]);
    pods.stop();
    expect([scheduler.pending, server.watchCount]).toEqual([0, 0]);
  });

  it("shows what is there first when it has no version, and marks the end of that on request", () => {
    const { admin, watch, scheduler, server } = simApi();
    for (const name of ["b", "a"]) server.put("pods", newPod(name, { nodeName: "n1" }));
    const plain = watch(admin.watch("pods", onNode));
    const marked = watch(admin.watch("pods", { ...onNode, sendInitialEvents: true, allowWatchBookmarks: true }));
    scheduler.advanceTo(10);
    expect([plain.seen, marked.seen]).toEqual([
      ["ADDED a@7", "ADDED b@6"],
      ["ADDED a@7", "ADDED b@6", "BOOKMARK@7"],
    ]);
  });

  it("shows objects that come into and leave its selection as added and deleted", () => {
    const { admin, watch, scheduler, server } = simApi();
    const labelSelector = "v=1";
    const pods = watch(admin.watch("pods", { labelSelector, resourceVersion: String(server.revision) }));
    scheduler.advanceTo(10);
    for (const value of ["0", "1", "2"]) server.put("pods", labelled("a", value));
    server.put("pods", newPod("bound", {}, { labels: { v: "1" } }));
    server.schedule(ref("bound"), "n1");
    scheduler.advanceTo(20);
    expect(pods.seen).toEqual(["ADDED a@7", "DELETED a@8", "ADDED bound@9", "MODIFIED bound@10"]);
  });

  it("shows a pod to its node when it is bound to it", () => {
    const { admin, watch, scheduler, server } = simApi();
    const pods = watch(admin.watch("pods", { ...onNode, resourceVersion: String(server.revision) }));
    scheduler.advanceTo(10);
    server.put("pods", newPod("a"));
    server.put("pods", newPod("b"));
    server.schedule(ref("a"), "n1");
    server.schedule(ref("b"), "n2");
    scheduler.advanceTo(20);
    expect(pods.seen).toEqual(["ADDED a@8"]);
  });

  it("sends bookmarks each minute and shortly before its end, and ends after its time", () => {
    const { admin, watch, scheduler } = simApi();
    const bookmarks = watch(
      admin.watch("nodes", { allowWatchBookmarks: true, timeoutSeconds: 150, resourceVersion: "5" }),
    );
    const silent = watch(admin.watch("nodes", { timeoutSeconds: 150, resourceVersion: "5" }));
    scheduler.advanceTo(200_000);
    expect([bookmarks.seen, bookmarks.end, silent.seen, silent.end]).toEqual([
      ["BOOKMARK@5", "BOOKMARK@5", "BOOKMARK@5"],
      { atMs: 150_002 },
      [],
      { atMs: 150_002 },
    ]);
    expect(scheduler.pending).toBe(0);
  });

  it("ends by itself within 30 to 60 minutes when nobody says how long", () => {
    const { admin, watch, scheduler } = simApi();
    const watched = watch(admin.watch("nodes"));
    scheduler.advanceTo(3_700_000);
    expect(watched.end?.atMs).toBeGreaterThan(1_800_000);
    expect(watched.end?.atMs).toBeLessThan(3_601_000);
  });

  it("says 410 when its version is out of the window, and nothing else", () => {
    const { admin, watch, scheduler, server } = simApi({ windowSize: 10 });
    const old = String(server.revision);
    for (let version = 0; version < 40; version += 1) server.put("pods", labelled("a", String(version)));
    const tooOld = watch(admin.watch("pods", { resourceVersion: old }));
    const recent = watch(admin.watch("pods", { resourceVersion: String(server.revision - 5) }));
    scheduler.advanceTo(10);
    expect([tooOld.seen, tooOld.end?.error, recent.seen.length]).toEqual([["ERROR 410"], undefined, 5]);
    expect(tooOld.end).toBeDefined();
  });

  it("drops a client that takes nothing for too long", () => {
    const { admin, watch, scheduler, server } = simApi({ watchBuffer: 10 });
    const slow = watch(admin.watch("pods", { resourceVersion: String(server.revision) }));
    scheduler.advanceTo(10);
    for (let version = 0; version < 12; version += 1) server.put("pods", labelled("a", String(version)));
    scheduler.advanceTo(20);
    expect([slow.seen, slow.end?.error]).toEqual([[], connectionLost()]);
  });

  it("answers 429 beyond the watches it can bear", () => {
    const { admin, watch, scheduler } = simApi({ maxWatches: 1 });
    const [first, second] = [watch(admin.watch("pods")), watch(admin.watch("nodes"))];
    scheduler.advanceTo(10);
    expect([first.end, second.end?.error]).toEqual([undefined, tooManyRequests()]);
    expect(second.end?.error?.retryAfterMs).toBe(1_000);
  });
});

describe("simulated API server: accidents of watches", () => {
  const playEvents = (actions: readonly SimEventAction[]) => {
    const left = [...actions];
    const api = simApi({ interceptEvent: () => left.shift() ?? { kind: "deliver" } });
    const pods = api.watch(api.admin.watch("pods", { resourceVersion: "5" }));
    api.scheduler.advanceTo(10);
    for (const name of ["a", "b", "c"]) api.server.put("pods", newPod(name));
    api.scheduler.advanceTo(20);
    const soon = [...pods.seen];
    api.scheduler.advanceTo(2_000);
    return { soon, all: pods.seen, error: pods.end?.error };
  };
  const [a, b, c] = ["ADDED a@6", "ADDED b@7", "ADDED c@8"];
  const ok: SimEventAction = { kind: "deliver" };

  it.each([
    ["loses an event", [ok, { kind: "drop" }], [a, c], [a, c]],
    ["sends an event twice", [{ kind: "duplicate" }], [a, a, b, c], [a, a, b, c]],
    ["delays an event and all after it", [ok, { kind: "delay", ms: 1_000 }], [a], [a, b, c]],
  ] as const)("%s", (_what, actions, soon, all) => {
    expect(playEvents(actions)).toEqual({ soon, all, error: undefined });
  });

  it("cuts the connection before an event", () => {
    expect(playEvents([ok, { kind: "cut" }])).toEqual({ soon: [], all: [], error: connectionLost() });
  });

  it("breaks, expires and restarts on request", () => {
    const { admin, watch, scheduler, server } = simApi();
    const from = (resourceVersion: string) => watch(admin.watch("pods", { resourceVersion }));
    const [cut, nodes] = [from("5"), watch(admin.watch("nodes", { resourceVersion: "5" }))];
    scheduler.advanceTo(10);
    server.cutWatches("pods");
    const expired = from("5");
    scheduler.advanceTo(20);
    server.put("pods", newPod("a"));
    server.expireWatches();
    scheduler.advanceTo(30);
    server.restart();
    const [old, fresh] = [from("5"), from("6")];
    scheduler.advanceTo(40);
    expect([cut.end?.error, expired.seen, nodes.seen, old.seen, fresh.seen]).toEqual([
      connectionLost(),
      ["ADDED a@6", "ERROR 410"],
      ["ERROR 410"],
      ["ERROR 410"],
      [],
    ]);
    expect(server.watchCount).toBe(1);
  });

  it("repeats a run from its seed, instant by instant", () => {
    const play = (seed: string) => {
      const prng = createPrng(seed);
      const actions = prng.fork("faults");
      const api = simApi({
        prng,
        latency: usualApiLatency(prng.fork("latency")),
        interceptEvent: () => (actions.chance(0.2) ? { kind: "delay", ms: actions.int(1, 500) } : { kind: "deliver" }),
      });
      const times: string[] = [];
      const events = api.admin.watch("pods").subscribe({
        next: ({ type, object }) => times.push(`${api.scheduler.now()} ${type} ${JSON.stringify(object)}`),
      });
      for (let pod = 0; pod < 30; pod += 1) api.run(api.admin.create("pods", newPod(`pod-${pod}`)));
      api.scheduler.advanceTo(60_000);
      events.unsubscribe();
      return times;
    };
    expect(play("a")).toEqual(play("a"));
    expect(play("a")).not.toEqual(play("b"));
    expect(play("a").length).toBe(30);
  });
});
