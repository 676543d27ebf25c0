import { describe, expect, it } from "vitest";
import type { LiveMarble } from "../../../../src/core/live/liveMessages.ts";
import {
  causesOf,
  chainOf,
  createMarbleStore,
  effectTree,
  type MarbleListener,
} from "../../../../src/livePage/model/marbleStore.ts";

const marble = (id: number, cause?: number, at = id * 10): LiveMarble => ({
  id,
  at,
  place: "registry",
  text: `value ${id}`,
  ...(cause !== undefined && { cause }),
});

/** Notes what a store tells its listener. */
function listening(): { readonly notes: string[]; readonly listener: MarbleListener } {
  const notes: string[] = [];
  return {
    notes,
    listener: {
      added: ({ id }) => notes.push(`+${id}`),
      removed: ({ id }) => notes.push(`-${id}`),
      cleared: () => notes.push("cleared"),
    },
  };
}

describe("createMarbleStore", () => {
  it("keeps the newest up to its bound", () => {
    const { notes, listener } = listening();
    const store = createMarbleStore(listener, 3);
    store.add(
      [1, 2, 3, 4, 5].map((id) => marble(id)),
      0,
    );
    expect(notes).toEqual(["+1", "+2", "+3", "+4", "-1", "+5", "-2"]);
    expect(store.all.size).toBe(3);
    expect([store.find(2), store.find(3)?.id]).toEqual([undefined, 3]);
  });
  it("skips marbles that a resumed stream repeats", () => {
    const { notes, listener } = listening();
    const store = createMarbleStore(listener);
    store.add([marble(1), marble(2)], 0);
    store.add([marble(1), marble(2), marble(3)], 0);
    expect(notes).toEqual(["+1", "+2", "+3"]);
  });
  it("starts anew when a restarted node counts from 1 again", () => {
    const { notes, listener } = listening();
    const store = createMarbleStore(listener);
    store.add([marble(7), marble(8)], 0);
    store.add([marble(1, undefined, 5_000)], 0);
    expect(notes).toEqual(["+7", "+8", "cleared", "+1"]);
    expect([store.all.size, store.find(8)]).toEqual([1, undefined]);
  });
  it("sums the marbles that were not sent, and counts its changes", () => {
    const store = createMarbleStore(listening().listener);
    store.add([], 3);
    store.add([], 4);
    expect([store.dropped, store.version]).toEqual([7, 2]);
  });
  it("bounds the effects of a marble", () => {
    const store = createMarbleStore(listening().listener);
    store.add([marble(1), ...Array.from({ length: 200 }, (_, index) => marble(index + 2, 1))], 0);
    expect(store.effectsOf(1)).toHaveLength(64);
  });
});

describe("causes and effects", () => {
  const store = createMarbleStore(listening().listener);
  store.add([marble(1), marble(2, 1), marble(3, 2), marble(4, 2), marble(5, 4)], 0);
  const of = (id: number): LiveMarble => store.find(id) as LiveMarble;
  const ids = (marbles: readonly LiveMarble[]): readonly number[] => marbles.map(({ id }) => id);

  it("follows the causes, nearest first", () => {
    expect(ids(causesOf(store, of(5)))).toEqual([4, 2, 1]);
  });
  it("follows effects level by level", () => {
    expect(ids(effectTree(store, of(1)))).toEqual([2, 3, 4, 5]);
  });
  it("has the marble, its causes and its effects in a chain", () => {
    expect(ids(chainOf(store, of(4)))).toEqual([4, 2, 1, 5]);
  });
  it("ends where the cause is not kept, or would be a circle", () => {
    const odd = createMarbleStore(listening().listener);
    odd.add([marble(6, 1), marble(7, 9), marble(9, 7)], 0);
    expect(causesOf(odd, odd.find(6) as LiveMarble)).toEqual([]);
    expect(causesOf(odd, odd.find(7) as LiveMarble)).toEqual([]);
  });
  it("is bounded for long chains", () => {
    const long = createMarbleStore(listening().listener);
    long.add(
      Array.from({ length: 1_000 }, (_, index) => marble(index + 1, index)),
      0,
    );
    expect(causesOf(long, long.find(1_000) as LiveMarble)).toHaveLength(32);
    expect(effectTree(long, long.find(1) as LiveMarble)).toHaveLength(64);
  });
});
