/** Steps of the eviction manager while a threshold is met, each with its time. */
import { ignoreElements, of, throwError, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import type { Clock } from "../../../../src/ports/clock.ts";
import { below, evictionNode } from "../../../support/evictionNode.ts";
import { marbles } from "../../../support/marbles.ts";
import { podOf } from "../../../support/pods.ts";

const pod = (name: string, more: Parameters<typeof podOf>[0] = {}) => podOf({ name, uid: name, ...more });
const MEMORY = below("memory.available", 100);
const DISK = below("nodefs.available", 100);
/** Upstream's order; once more after the wait for freed space. */
const DISK_STEPS = ["deletes unused containers", "deletes unused images"];
const LIMITED = { volumes: [{ name: "data", emptyDir: { sizeLimit: "10" } }] };

describe("relief of pressure", () => {
  it(
    "measures no pod while no threshold is met and no pod has a storage limit",
    marbles(({ clock, expectObservable, flush }) => {
      const unsub = "   65s !";
      const expected = "";

      const node = evictionNode(clock, [MEMORY, DISK]);
      node.start(pod("a"), 900);
      expectObservable(node.run(), unsub).toBe(expected);
      flush();
      expect(node.story).toEqual([]);
      expect(node.cells.eviction.value).toMatchObject({ lookedAt: { mono: 60_000 }, decision: undefined });
    }),
  );

  it(
    "ranks pods for a full disk by directories counted in the last second; limits of pods do with older counts",
    marbles(({ clock, expectObservable, at, flush }) => {
      const unsub = "   25s !";
      const expected = "";

      const node = evictionNode(clock, [MEMORY, DISK]);
      node.start(pod("limited", { spec: LIMITED }), 300);
      at(5_000, () => (node.free.disk = 50));
      expectObservable(node.run(), unsub).toBe(expected);
      flush();
      expect([...new Set(node.countAges)]).toEqual([undefined, 1_000]);
      expect(node.story.filter((line) => line.includes("evicts"))).toHaveLength(1);
    }),
  );

  it(
    "evicts one pod, waits until the registry has it cleaned up, and looks again at once",
    marbles(({ clock, expectObservable, at, flush }) => {
      const unsub = "   16s !";
      const expected = "";

      const node = evictionNode(clock, [MEMORY]);
      node.start(pod("small"), 300);
      node.start(pod("big"), 600);
      node.free.memory = 50;
      at(2_000, () => node.becomes("big", { state: "terminating", graceSeconds: 1 }));
      at(3_000, () => node.becomes("big", { state: "terminated" }));
      at(4_000, () => {
        node.free.memory = 99;
        node.becomes("big", { reclaimed: true });
      });
      at(5_000, () => {
        node.free.memory = 400;
        node.becomes("small", { state: "terminated", reclaimed: true });
      });
      expectObservable(node.run(), unsub).toBe(expected);
      flush();
      const acts = ["event EvictionThresholdMet"];
      expect(node.story).toEqual([
        "0 measures pods",
        ...acts.map((act) => `0 ${act}`),
        "0 EvictionRanking big",
        "0 event Evicted",
        "0 evicts big within 1 s",
        "4000 measures pods",
        ...acts.map((act) => `4000 ${act}`),
        "4000 EvictionRanking small",
        "4000 event Evicted",
        "4000 evicts small within 1 s",
      ]);
      expect(node.telemetry.samples.get('kubelet_evictions{eviction_signal="memory.available"}')).toBe(2);
      const ages = node.telemetry.observations.get(
        'kubelet_eviction_stats_age_seconds{eviction_signal="memory.available"}',
      );
      expect(ages).toEqual([0, 0]);
      expect(node.cells.eviction.value).toMatchObject({
        lookedAt: { mono: 15_000 },
        decision: { signal: "memory.available", threshold: "100", available: "99", evicted: [{ name: "small" }] },
        ranking: { signal: "memory.available", pods: [{ name: "small" }] },
      });
    }),
  );

  it(
    "goes on to the next pod when one neither stops nor is cleaned up in time, and reports that",
    marbles(({ clock, expectObservable, at, flush }) => {
      const unsub = "   41s !";
      const expected = "";

      const node = evictionNode(clock, [MEMORY]);
      node.start(pod("stuck"), 600);
      node.start(pod("other"), 300);
      node.free.memory = 50;
      at(1, () => node.becomes("stuck", { state: "terminating", graceSeconds: 1 }));
      expectObservable(node.run(), unsub).toBe(expected);
      flush();
      expect(node.story.filter((line) => !line.includes("measures"))).toEqual([
        "0 event EvictionThresholdMet",
        "0 EvictionRanking stuck",
        "0 event Evicted",
        "0 evicts stuck within 1 s",
        "10000 event ExceededGracePeriod",
        "40000 event EvictionThresholdMet",
        "40000 EvictionRanking other",
        "40000 event Evicted",
        "40000 evicts other within 1 s",
      ]);
    }),
  );

  it(
    "acts on a soft threshold after its grace period, and leaves the pod as much time as the configuration allows",
    marbles(({ clock, expectObservable, at, flush }) => {
      const unsub = "   196s !";
      const expected = "";

      const soft = below("memory.available", 200, { graceMs: 25_000 });
      const node = evictionNode(clock, [soft], { evictionMaxPodGraceSeconds: 90 });
      node.start(pod("a", { spec: { terminationGracePeriodSeconds: 600 } }), 600);
      node.start(pod("b"), 100);
      node.free.memory = 150;
      at(35_000, () => node.becomes("a", { state: "terminating", graceSeconds: 90 }));
      expectObservable(node.run(), unsub).toBe(expected);
      flush();
      expect(node.story.filter((line) => !line.includes("measures"))).toEqual([
        "30000 event EvictionThresholdMet",
        "30000 EvictionRanking a",
        "30000 event Evicted",
        "30000 evicts a within 90 s",
        // Upstream waits for one and a half times the grace period.
        "165000 event ExceededGracePeriod",
        "195000 event EvictionThresholdMet",
        "195000 EvictionRanking b",
        "195000 event Evicted",
        "195000 evicts b within 30 s",
      ]);
    }),
  );

  it(
    "acts on a hard threshold while a pod that was evicted at a soft one takes its time",
    marbles(({ clock, expectObservable, at, flush }) => {
      const unsub = "   45s !";
      const expected = "";

      const soft = below("memory.available", 200, { graceMs: 5_000 });
      const node = evictionNode(clock, [MEMORY, soft], { evictionMaxPodGraceSeconds: 30 });
      for (const [name, bytes] of [
        ["a", 500],
        ["b", 300],
        ["c", 100],
      ] as const) {
        node.start(pod(name), bytes);
      }
      node.free.memory = 150;
      at(15_000, () => {
        node.free.memory = 50;
        node.becomes("a", { state: "terminating", graceSeconds: 30 });
      });
      at(20_001, () => node.becomes("a", { state: "terminating", graceSeconds: 1 }));
      expectObservable(node.run(), unsub).toBe(expected);
      flush();
      expect(node.story.filter((line) => line.includes("evicts"))).toEqual([
        "10000 evicts a within 30 s",
        "20000 evicts a within 1 s",
      ]);
    }),
  );

  it(
    "keeps the conditions of the node up to date while an evicted pod stops",
    marbles(({ clock, expectObservable, at, flush }) => {
      const unsub = "   12s !";
      const expected = "";

      const node = evictionNode(clock, [MEMORY]);
      node.start(pod("a"), 900);
      node.free.memory = 50;
      at(5_000, () => (node.free.memory = 500));
      expectObservable(node.run(), unsub).toBe(expected);
      flush();
      expect(node.cells.pressures.value.memory).toBe(false);
      expect(node.story.filter((line) => line.includes("measures"))).toEqual(["0 measures pods"]);
    }),
  );

  it(
    "goes on until the amount to reclaim is available too",
    marbles(({ clock, expectObservable, at, flush }) => {
      const unsub = "   30s !";
      const expected = "";

      const node = evictionNode(clock, [below("memory.available", 100, { reclaim: { units: 100 } })]);
      const gone = { state: "terminated", reclaimed: true } as const;
      for (const [name, bytes] of [
        ["a", 300],
        ["b", 200],
        ["c", 100],
      ] as const)
        node.start(pod(name), bytes);
      node.free.memory = 50;
      at(1_000, () => {
        node.free.memory = 199;
        node.becomes("a", gone);
      });
      at(2_000, () => {
        node.free.memory = 200;
        node.becomes("b", gone);
      });
      expectObservable(node.run(), unsub).toBe(expected);
      flush();
      expect(node.story.filter((line) => line.includes("evicts"))).toEqual([
        "0 evicts a within 1 s",
        "1000 evicts b within 1 s",
      ]);
    }),
  );

  it(
    "frees unused containers and images first, and evicts no pod when that is enough",
    marbles(({ clock, expectObservable, flush }) => {
      const unsub = "   15s !";
      const expected = "";

      const node = evictionNode(clock, [DISK, MEMORY]);
      node.start(pod("a"), 1);
      node.free.disk = 50;
      node.reclaim.images = () => (node.free.disk = 100);
      expectObservable(node.run(), unsub).toBe(expected);
      flush();
      expect(node.story).toEqual([
        "0 measures pods",
        "0 event EvictionThresholdMet",
        "0 deletes unused containers",
        "0 deletes unused images",
      ]);
      expect(node.cells.eviction.value.decision).toMatchObject({
        available: "50",
        reclaimed: ["containers", "images"],
        evicted: [],
      });
    }),
  );

  it.each([
    [
      "when that is not enough",
      { hasImageFs: false, isSplit: false },
      [...DISK_STEPS, ...DISK_STEPS, "evicts a within 1 s"],
    ],
    ["when it has no step for the signal", { hasImageFs: true, isSplit: false }, ["evicts a within 1 s"]],
    [
      "when the disk of containers is another one than that of images, whose removal would not help",
      { hasImageFs: true, isSplit: true },
      ["deletes unused containers", "deletes unused containers", "evicts a within 1 s"],
    ],
  ])("evicts a pod %s", (_, layout, deeds) => {
    marbles(({ clock, expectObservable, flush }) => {
      const unsub = "   4s !";
      const expected = "";

      const node = evictionNode(clock, [DISK]);
      node.answers.diskLayout = () => of(layout);
      node.start(pod("a"), 1);
      node.free.disk = 50;
      node.reclaim.images = () => (node.free.disk = 99);
      expectObservable(node.run(), unsub).toBe(expected);
      flush();
      const done = node.story
        .map((line) => line.replace(/^\d+ /, ""))
        .filter((line) => !/event|measures|Ranking/.test(line));
      expect(done).toEqual(deeds);
    })();
  });

  it(
    "spares the pods when the image of a pod that ended meanwhile frees enough",
    marbles(({ clock, expectObservable, at, flush }) => {
      const unsub = "   4s !";
      const expected = "";

      const node = evictionNode(clock, [DISK]);
      node.start(pod("a"), 1);
      node.free.disk = 50;
      at(2_000, () => (node.reclaim.images = () => (node.free.disk = 100)));
      expectObservable(node.run(), unsub).toBe(expected);
      flush();
      expect(node.story.filter((line) => /evicts/.test(line))).toEqual([]);
      expect(node.cells.eviction.value).toMatchObject({ decision: { evicted: [] }, delay: undefined });
    }),
  );

  it.each([
    ["spares the pods when the runtime frees the space within 3 s after it has removed the images", 2_999, []],
    ["evicts a pod when the runtime frees the space later", 3_001, ["3000 evicts a within 1 s"]],
  ])("%s", (_, freedAt, evictions) => {
    marbles(({ clock, expectObservable, at, flush }) => {
      const unsub = "   4s !";
      const expected = "";

      const node = evictionNode(clock, [DISK]);
      node.start(pod("a"), 1);
      node.free.disk = 50;
      at(freedAt, () => (node.free.disk = 100));
      expectObservable(node.run(), unsub).toBe(expected);
      flush();
      expect(node.story.filter((line) => line.includes("evicts"))).toEqual(evictions);
    })();
  });

  describe("with writable layers that the runtime measures every 10 s", () => {
    const layer = (clock: Clock, usedBytes: number) => ({
      containers: [{ name: "main", startTime: clock.wallTime(), rootfs: { time: clock.wallTime(), usedBytes } }],
    });

    it(
      "evicts the pod that turns out to fill the disk",
      marbles(({ clock, expectObservable, at, flush }) => {
        const unsub = "   12s !";
        const expected = "";

        const node = evictionNode(clock, [DISK]);
        const measure = (a: number, b: number): void => {
          node.start(pod("a"), 1, layer(clock, a));
          node.start(pod("b"), 1, layer(clock, b));
        };
        measure(2, 1);
        at(1, () => (node.free.disk = 50));
        at(9_500, () => measure(2, 60));
        expectObservable(node.run(timer(2, clock.scheduler)), unsub).toBe(expected);
        flush();
        expect(node.story.filter((line) => line.includes("evicts"))).toEqual(["10002 evicts b within 1 s"]);
      }),
    );

    it(
      "evicts by old figures when the runtime gives no new ones within 15 s",
      marbles(({ clock, expectObservable, at, flush }) => {
        const unsub = "   19s !";
        const expected = "";

        const node = evictionNode(clock, [DISK]);
        node.start(pod("a"), 1, layer(clock, 2));
        node.start(pod("b"), 1, layer(clock, 1));
        at(1, () => (node.free.disk = 50));
        expectObservable(node.run(timer(2, clock.scheduler)), unsub).toBe(expected);
        flush();
        expect(node.story.filter((line) => line.includes("evicts"))).toEqual(["18002 evicts a within 1 s"]);
      }),
    );

    it(
      "evicts at once a pod whose end relieves the disk",
      marbles(({ clock, expectObservable, at, flush }) => {
        const unsub = "   4s !";
        const expected = "";

        const node = evictionNode(clock, [DISK]);
        node.start(pod("a"), 1, layer(clock, 50));
        at(1, () => (node.free.disk = 50));
        expectObservable(node.run(timer(2, clock.scheduler)), unsub).toBe(expected);
        flush();
        expect(node.story.filter((line) => line.includes("evicts"))).toEqual(["3002 evicts a within 1 s"]);
      }),
    );
  });

  it(
    "takes memory before disks",
    marbles(({ clock, expectObservable, flush }) => {
      const unsub = "   1s !";
      const expected = "";

      const node = evictionNode(clock, [DISK, MEMORY]);
      node.start(pod("a"), 1);
      Object.assign(node.free, { disk: 50, memory: 50 });
      expectObservable(node.run(), unsub).toBe(expected);
      flush();
      expect(node.story).toContain("0 evicts a within 1 s");
      expect(node.story.join()).not.toContain("deletes");
    }),
  );

  it(
    "keeps a figure that was measured below the threshold while a look removed images",
    marbles(({ clock, expectObservable, at, flush }) => {
      const unsub = "   65s !";
      const expected = "";

      const node = evictionNode(clock, [DISK], { pressureTransitionMs: 45_000 });
      const measure = (available: number): void => {
        const observation = { at: clock.monotonicMs(), available, capacity: 1_000 };
        const sample = { at: observation.at, available };
        const look = { observation, trend: { older: sample, newer: sample } };
        node.cells.signalLooks.set(new Map([["nodefs.available", look]]));
      };
      const ends: number[] = [];
      node.cells.pressures.changes$.subscribe(({ disk }) => disk || ends.push(clock.monotonicMs()));
      node.free.disk = 50;
      node.answers.freed = timer(20_000, clock.scheduler).pipe(ignoreElements());
      at(12_000, () => measure(50));
      at(13_000, () => {
        node.free.disk = 500;
        measure(500);
      });
      expectObservable(node.run(), unsub).toBe(expected);
      flush();
      expect(node.cells.eviction.value).toMatchObject({
        decision: { reclaimed: ["containers", "images"], evicted: [] },
        state: { lastMet: { disk: 12_000 } },
      });
      // Containers and images take 20 s each; looks follow at 50 s and 60 s.
      expect(ends).toEqual([0, 60_000]);
    }),
  );

  it(
    "evicts pods beyond a storage limit of their own before it frees a disk, all at once, and nothing else in that look",
    marbles(({ clock, expectObservable, at, flush }) => {
      const unsub = "   6s !";
      const expected = "";

      const node = evictionNode(clock, [DISK]);
      const volume = [{ name: "data", time: clock.wallTime(), usedBytes: 11 }];
      node.start(pod("hog"), 900);
      for (const name of ["a", "b"]) node.start(pod(name, { spec: LIMITED }), 1, { volume });
      node.free.disk = 50;
      at(2_000, () => {
        for (const name of ["a", "b"]) node.becomes(name, { state: "terminated", reclaimed: true });
      });
      expectObservable(node.run(), unsub).toBe(expected);
      flush();
      expect(node.story.filter((line) => line.includes("evicts"))).toEqual([
        "0 evicts a within 1 s",
        "0 evicts b within 1 s",
        "5000 evicts hog within 1 s",
      ]);
      expect(node.telemetry.samples.get('kubelet_evictions{eviction_signal="emptydirfs.limit"}')).toBe(2);
    }),
  );

  it(
    "takes memory before pods beyond a storage limit, without waiting until directories are counted",
    marbles(({ clock, expectObservable, at, flush }) => {
      const unsub = "   12s !";
      const expected = "";

      const node = evictionNode(clock, [MEMORY, DISK]);
      const volume = [{ name: "data", time: clock.wallTime(), usedBytes: 11 }];
      node.start(pod("hog"), 900);
      node.start(pod("limited", { spec: LIMITED }), 1, { volume });
      Object.assign(node.free, { disk: 50, memory: 50 });
      node.answers.countMs = 9_000;
      at(2_000, () => {
        node.free.memory = 1_000;
        node.becomes("hog", { state: "terminated", reclaimed: true });
      });
      expectObservable(node.run(), unsub).toBe(expected);
      flush();
      expect(node.story.filter((line) => line.includes("evicts"))).toEqual([
        "0 evicts hog within 1 s",
        "11000 evicts limited within 1 s",
      ]);
    }),
  );

  it(
    "evicts no pod that cannot be measured, and looks again after 10 s",
    marbles(({ clock, expectObservable, at, flush }) => {
      const unsub = "   21s !";
      const expected = "";

      const node = evictionNode(clock, [MEMORY]);
      node.start(pod("a"), 1);
      node.free.memory = 50;
      node.answers.measures = false;
      at(15_000, () => (node.answers.measures = true));
      expectObservable(node.run(), unsub).toBe(expected);
      flush();
      expect(node.story.slice(0, 4)).toEqual([
        "0 measures pods",
        "10000 measures pods",
        "20000 measures pods",
        "20000 event EvictionThresholdMet",
      ]);
      expect(node.cells.pressures.value.memory).toBe(true);
      expect(
        node.telemetry.lines.filter(({ message }) => message.endsWith("failed to get summary stats")),
      ).toHaveLength(2);
    }),
  );

  it(
    "needs to know the disks for a disk alone",
    marbles(({ clock, expectObservable, flush }) => {
      const unsub = "   1s !";
      const expected = "";

      const away = () => throwError(() => kubeletError("Unavailable", "away"));
      const [disk, memory] = [DISK, MEMORY].map((threshold) => {
        const node = evictionNode(clock, [threshold]);
        node.answers.diskLayout = away;
        node.start(pod("a"), 1);
        Object.assign(node.free, { disk: 50, memory: 50 });
        expectObservable(node.run(), unsub).toBe(expected);
        return node;
      });
      flush();
      expect(disk?.story).toEqual(["0 measures pods"]);
      expect(memory?.story).toContain("0 evicts a within 1 s");
    }),
  );

  it(
    "ends with a line in the log when no pod can be evicted",
    marbles(({ clock, expectObservable, flush }) => {
      const unsub = "   1s !";
      const expected = "";

      const node = evictionNode(clock, [MEMORY]);
      node.start(pod("critical", { spec: { priority: 2_000_000_000 } }), 900);
      node.free.memory = 50;
      expectObservable(node.run(), unsub).toBe(expected);
      flush();
      expect(node.story).toEqual(["0 measures pods", "0 event EvictionThresholdMet"]);
      expect(node.telemetry.lines.at(-1)?.message).toBe("Eviction manager: unable to evict any pods from the node");
    }),
  );
});
