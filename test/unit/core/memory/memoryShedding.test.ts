import { expect, it } from "vitest";
import { monotonicMs } from "../../../../src/core/ids.ts";
import { type MemoryReading, NOTHING_SHED, type ShedKind, shedBy } from "../../../../src/core/memory/memoryShedding.ts";

type Step = readonly [atMs: number, usedPercent: number, kinds: readonly ShedKind[], of?: MemoryReading["of"]];

it.each<[title: string, steps: readonly Step[]]>([
  ["nothing is shed below 85 %", [[0, 84.9, []]]],
  ["caches are shed from 85 % on", [[0, 85, ["caches"]]]],
  [
    "requests from 92 % on, watchers from 95 % on",
    [
      [0, 85, ["caches"]],
      [1, 92, ["requests"]],
      [2, 95, ["watchers"]],
    ],
  ],
  ["all at once, in this order, when the use jumps", [[0, 97, ["caches", "requests", "watchers"]]]],
  [
    "a kind is not shed again while the use stays about its threshold",
    [
      [0, 86, ["caches"]],
      [1, 84, []],
      [2, 81, []],
      [3, 86, []],
    ],
  ],
  [
    "it is shed again once the use was 5 % lower",
    [
      [0, 86, ["caches"]],
      [1, 79.9, []],
      [2, 86, ["caches"]],
    ],
  ],
  [
    "it is shed again after ten seconds of high use",
    [
      [0, 93, ["caches", "requests"]],
      [9_999, 93, []],
      [10_000, 93, ["caches", "requests"]],
    ],
  ],
  [
    "heap and cgroup are judged apart",
    [
      [0, 86, ["caches"], "heap"],
      [1, 86, ["caches"], "cgroup"],
      [2, 10, [], "cgroup"],
      [3, 86, [], "heap"],
    ],
  ],
])("%s", (_, steps) => {
  let times = NOTHING_SHED;
  const shed = steps.map(([atMs, usedPercent, , of = "heap"]) => {
    const reading = { of, usedBytes: usedPercent * 10_000, limitBytes: 1_000_000 };
    const decided = shedBy(times, reading, monotonicMs(atMs));
    times = decided.times;
    return decided.kinds;
  });
  expect(shed).toEqual(steps.map(([, , kinds]) => kinds));
});
