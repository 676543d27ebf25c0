import { describe, expect, it } from "vitest";
import type { LiveMarble } from "../../../../src/core/live/liveMessages.ts";
import { type Cluster, clusterMs, eachCluster } from "../../../../src/livePage/model/marbleClusters.ts";

const marbleAt = (at: number, more: Partial<LiveMarble> = {}): LiveMarble => ({
  id: at,
  at,
  place: "p",
  text: `at ${at}`,
  ...more,
});
const listOf = (marbles: readonly LiveMarble[], first = 0) => ({ items: marbles, first, size: marbles.length - first });

/** Shows the clusters of a stretch as `from-to count text`. */
function clustersOf(
  marbles: readonly LiveMarble[],
  start: number,
  end: number,
  widthMs = 10,
  first = 0,
): readonly string[] {
  const found: string[] = [];
  const scratch: Cluster = { marble: marbleAt(0), count: 0, from: 0, to: 0, begunAt: 0 };
  eachCluster(listOf(marbles, first), { start, end, widthMs }, scratch, ({ from, to, count, marble }) =>
    found.push(`${from}-${to} ${count} ${marble.text}`),
  );
  return found;
}

describe("eachCluster", () => {
  it("joins marbles of one stretch of the width", () => {
    expect(
      clustersOf(
        [1, 9, 10, 25, 29].map((at) => marbleAt(at)),
        0,
        100,
      ),
    ).toEqual(["1-9 2 at 9", "10-10 1 at 10", "25-29 2 at 29"]);
  });
  it("forms the same clusters while the time goes on", () => {
    const marbles = [12, 18, 21, 33].map((at) => marbleAt(at));
    for (const start of [10, 11, 15, 18]) expect(clustersOf(marbles, start, 100)[0]).toBe("12-18 2 at 18");
  });
  it("leaves out what is before, after, and removed", () => {
    const marbles = [1, 50, 99, 200].map((at) => marbleAt(at));
    expect(clustersOf(marbles, 40, 80)).toEqual(["50-50 1 at 50"]);
    expect(clustersOf(marbles, 0, 100, 10, 1)).toEqual(["50-50 1 at 50", "99-99 1 at 99"]);
    expect(clustersOf([], 0, 100)).toEqual([]);
  });
  it("shows the newest of the worst outcome", () => {
    const failed = { outcome: "failed" } as const;
    expect(
      clustersOf([marbleAt(1, failed), marbleAt(2, failed), marbleAt(3), marbleAt(4, { outcome: "warning" })], 0, 9),
    ).toEqual(["1-4 4 at 2"]);
  });
  it("shows a step that ends after the stretch", () => {
    expect(clustersOf([marbleAt(5), marbleAt(500, { tookMs: 480 }), marbleAt(600)], 0, 100)).toEqual([
      "5-5 1 at 5",
      "500-500 1 at 500",
    ]);
  });
  it("looks at no more than some marbles after the stretch", () => {
    const marbles = Array.from({ length: 1_000 }, (_, at) => marbleAt(at));
    let looks = 0;
    const counted = new Proxy(marbles, { get: (list, key) => ((looks += 1), Reflect.get(list, key)) });
    clustersOf(counted, 0, 50);
    expect(looks).toBeLessThan(250);
  });
});

it("makes clusters as wide as a marble, in steps of two", () => {
  expect(clusterMs(30_000, 1_000, 15)).toBe(512);
  expect(clusterMs(500, 1_000, 15)).toBe(8);
  expect(clusterMs(500, 0, 15)).toBe(8_192);
});
