import { PassThrough, Writable } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { forwardGathered } from "../../../src/server/gatheredWrites.ts";
import { waitFor } from "../../support/waitFor.ts";

const HIGH_WATER_BYTES = 1_000;

/** A receiver that holds each write back until it is released. Lists the sizes of the pieces of each write. */
function slowReceiver() {
  const writes: number[][] = [];
  const held: (() => void)[] = [];
  const to = new Writable({
    highWaterMark: HIGH_WATER_BYTES,
    writev: (chunks, taken) => {
      writes.push(chunks.map(({ chunk }) => (chunk as Buffer).length));
      held.push(() => taken());
    },
  });
  return { to, writes, release: () => held.splice(0).forEach((taken) => taken()) };
}

it("writes the pieces of one turn at once, and the end after them", async () => {
  const { to, writes, release } = slowReceiver();
  const from = new PassThrough();
  forwardGathered(from, to);
  for (const size of [4, 4, 300]) from.write(Buffer.alloc(size));
  await turn();
  expect(writes).toEqual([[4, 4, 300]]);
  from.end(Buffer.alloc(5));
  await waitFor("all to be written", () => {
    release();
    return to.writableFinished;
  });
  expect(writes.flat()).toEqual([4, 4, 300, 5]);
});

it("holds no more than the high-water mark and one piece for a slow receiver", async () => {
  const { to, writes, release } = slowReceiver();
  const from = new PassThrough();
  forwardGathered(from, to);
  const size = 300;
  const pieces = 50;
  for (let count = 0; count < pieces; count += 1) from.write(Buffer.alloc(size));
  await turn();
  expect(to.writableLength).toBeLessThanOrEqual(HIGH_WATER_BYTES + size);
  await waitFor("all to be written", () => {
    release();
    return writes.flat().length === pieces;
  });
});
