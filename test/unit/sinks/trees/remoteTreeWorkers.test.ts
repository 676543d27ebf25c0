import { expect, it } from "vitest";
import { createRemoteTreeWorkers } from "../../../../src/sinks/trees/remoteTreeWorkers.ts";
import { createHeapScheduler } from "../../../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../../../src/sim/time/simClock.ts";
import { temporaryDirectory } from "../../../support/temporaryDirectory.ts";

const dir = temporaryDirectory();

it("works on eight remote file systems at once, on each in one thread that ends with its last task", async () => {
  const scheduler = createHeapScheduler();
  const workers = createRemoteTreeWorkers({ clock: createSimClock(scheduler) });
  let threads = 0;
  const count = (): void => void (threads += 1);
  process.on("worker", count);
  const { signal } = new AbortController();
  const work = (device: number) => workers.on(`0:${device}`).run({ kind: "usage", dir: dir() }, signal);
  const eight = [0, 1, 2, 3, 4, 5, 6, 7];
  const ends = await Promise.allSettled([...eight, 8, 0].map(work));
  process.off("worker", count);
  const done = { status: "fulfilled" };
  const message = "cannot work on the remote file system 0:8: 8 other remote file systems have not answered yet";
  const refused = { status: "rejected", reason: { code: "Unavailable", message } };
  expect(ends).toMatchObject([...eight.map(() => done), refused, done]);
  expect([threads, scheduler.pending]).toEqual([8, 8]);
  expect((await work(8)).inodes).toBe(1n);
});
