import { expect, it } from "vitest";
import { FIRST_PACE, type HeapPace, type HeapReading, nextPace } from "../../../../src/core/memory/heapPace.ts";

const MIB = 1_048_576;
const reading = (mib: number, busyPart = 0.01): HeapReading => ({ committedBytes: mib * MIB, busyPart });

/** The looks, counted from 1, after which the heap is trimmed, and the state after the last. */
function trimmedAt(readings: readonly HeapReading[]): { readonly looks: readonly number[]; readonly pace: HeapPace } {
  let pace = FIRST_PACE;
  const looks: number[] = [];
  for (const [index, each] of readings.entries()) {
    const next = nextPace(pace, each);
    ({ pace } = next);
    if (next.trims) looks.push(index + 1);
  }
  return { looks, pace };
}

const times = (count: number, each: HeapReading): readonly HeapReading[] => Array.from({ length: count }, () => each);

it.each<[title: string, readings: readonly HeapReading[], looks: readonly number[]]>([
  ["a heap that stays as it is: never", times(500, reading(40)), []],
  [
    "a burst: at the 25th calm look after it",
    [reading(40), ...times(3, reading(80, 0.9)), ...times(45, reading(80))],
    [29],
  ],
  ["growth of less than 16 MiB: never", [reading(40), ...times(250, reading(55.9))], []],
  ["growth of 16 MiB: once calm", [reading(40), ...times(100, reading(56))], [26]],
  [
    "a process that is never calm: never",
    [reading(40), ...Array.from({ length: 200 }, (_, look) => reading(80, look % 24 === 23 ? 0.15 : 0.01))],
    [],
  ],
  ["a process with steady work, such as probes: once", [reading(40, 0.1), ...times(45, reading(80, 0.1))], [26]],
  [
    "a heap that V8 trims itself in time: not at all",
    [reading(40), ...times(24, reading(80)), ...times(45, reading(45))],
    [],
  ],
  [
    "pods that stay: once, and again only after as much growth",
    [
      reading(40),
      ...times(25, reading(90)),
      ...times(100, reading(70)),
      ...times(100, reading(85)),
      ...times(45, reading(86)),
    ],
    [26, 251],
  ],
])("trims %s", (_, readings, looks) => {
  expect(trimmedAt(readings).looks).toEqual(looks);
});

it.each([
  [0.149, false],
  [0.15, true],
])("counts a process that is busy for %d of the time as busy: %s", (busyPart, isBusy) => {
  expect(nextPace(FIRST_PACE, reading(40, busyPart)).pace.isBusy).toBe(isBusy);
});

it("counts a process as busy until ten looks in a row were not", () => {
  const looks = (count: number): readonly HeapReading[] => times(count, reading(40));
  const isBusyAfter = (...readings: readonly HeapReading[]) => trimmedAt([reading(40, 0.5), ...readings]).pace.isBusy;
  expect([isBusyAfter(...looks(9)), isBusyAfter(...looks(10))]).toEqual([true, false]);
  expect(isBusyAfter(...looks(9), reading(40, 0.15), ...looks(9))).toBe(true);
  expect(trimmedAt(looks(3)).pace.isBusy).toBe(false);
});
