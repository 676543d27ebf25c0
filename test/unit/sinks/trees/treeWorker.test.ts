import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createHeapScheduler } from "../../../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../../../src/sim/time/simClock.ts";
import { createTreeWorker } from "../../../../src/sinks/trees/treeWorker.ts";
import type { TreeProgress } from "../../../../src/sinks/trees/treeTasks.ts";
import { temporaryDirectory } from "../../../support/temporaryDirectory.ts";

const { signal } = new AbortController();

describe("the thread for trees", () => {
  const dir = temporaryDirectory();
  const setUp = () => {
    const scheduler = createHeapScheduler();
    const worker = createTreeWorker({ clock: createSimClock(scheduler) });
    const inodes = async () => (await worker.run({ kind: "usage", dir: dir() }, signal)).inodes;
    return { scheduler, worker, inodes };
  };

  it("runs many tasks at once, and returns each its own result", async () => {
    const { worker, inodes } = setUp();
    await mkdir(join(dir(), "below"));
    const missing = worker.run({ kind: "usage", dir: join(dir(), "missing") }, signal);
    const answers = await Promise.allSettled([inodes(), missing, inodes()]);
    expect(answers).toMatchObject([
      { value: 2n },
      { reason: { code: "NotFound", message: `cannot measure ${join(dir(), "missing")}: ENOENT` } },
      { value: 2n },
    ]);
  });

  it("ends the thread 30 s after its last task and runs a task of that moment on a new thread", async () => {
    const { scheduler, inodes } = setUp();
    expect([await inodes(), await inodes(), scheduler.pending]).toEqual([1n, 1n, 1]);
    expect(scheduler.runNext(29_999)).toBe(false);
    expect(scheduler.runNext(30_000)).toBe(true);
    expect([await inodes(), await inodes(), scheduler.pending]).toEqual([1n, 1n, 1]);
  });

  it("reports the progress of a long walk", async () => {
    const { worker } = setUp();
    await Promise.all(Array.from({ length: 2_500 }, (_, index) => writeFile(join(dir(), `${index}`), "")));
    const seen: TreeProgress[] = [];
    const { inodes } = await worker.run({ kind: "usage", dir: dir() }, signal, (progress) => seen.push(progress));
    expect(seen.map(({ entries }) => Math.floor(entries / 1_000))).toEqual([1, 2]);
    // The root counts too.
    expect(seen.map(({ entries, usage }) => usage?.inodes === BigInt(entries + 1))).toEqual([true, true]);
    expect(inodes).toBe(2_501n);
  });

  it("does not start a cancelled task", async () => {
    const { worker, inodes } = setUp();
    const left = worker.run({ kind: "usage", dir: dir() }, AbortSignal.abort());
    await expect(left).rejects.toMatchObject({ code: "Cancelled" });
    expect(await inodes()).toBe(1n);
  });
});
