/** Wake-ups of the follower of a log, on a real directory; its periods in virtual time. */
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { TestScheduler } from "rxjs/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLogWaker, type LogWaker } from "../../../../src/sources/containerLogs/logWaker.ts";
import { virtualClock } from "../../../support/marbles.ts";
import { temporaryDirectory } from "../../../support/temporaryDirectory.ts";

describe("the waker of a log's follower", () => {
  const root = temporaryDirectory();
  let scheduler = new TestScheduler(() => true);
  let reader = new AbortController();
  let ended = new AbortController();
  let waker: LogWaker;
  const wakerOf = (directory: string): LogWaker => {
    waker = createLogWaker(
      { directory, latest: "0.log", isDockers: false },
      virtualClock(scheduler),
      reader.signal,
      ended.signal,
    );
    return waker;
  };
  beforeEach(() => {
    scheduler = new TestScheduler(() => true);
    scheduler.maxFrames = Infinity;
    reader = new AbortController();
    ended = new AbortController();
  });
  afterEach(() => waker.close());
  /** Lets virtual time pass up to the next timer and returns when that was. */
  const nextTimer = (): number => {
    scheduler.flush();
    return scheduler.now();
  };
  /** A hint from outside: virtual time stands still, so no period can have passed. */
  const woken = async (wait: Promise<void>): Promise<number> => {
    await wait;
    return scheduler.now();
  };

  it.each([
    ["the container ended", () => ended.abort()],
    ["the reader left", () => reader.abort()],
  ])("wakes when %s", async (_, abort) => {
    const wait = wakerOf(root()).nextHint();
    abort();
    expect(await woken(wait)).toBe(0);
  });

  it("wakes at once when the hint came before", async () => {
    const { nextHint } = wakerOf(root());
    ended.abort();
    expect(await woken(nextHint())).toBe(0);
  });

  it.each(["0.log", "0.log.20260101-000000"])("wakes when %s appears", async (name) => {
    const wait = wakerOf(root()).nextHint();
    await fs.writeFile(join(root(), name), "");
    expect(await woken(wait)).toBe(0);
  });

  it("wakes every 5 s beside a quiet directory", async () => {
    const { nextHint } = wakerOf(root());
    for (const due of [5_000, 10_000]) {
      const wait = nextHint();
      expect(nextTimer()).toBe(due);
      await wait;
    }
  });

  it("wakes every second while the directory is missing, and watches it once it exists", async () => {
    const missing = join(root(), "later");
    const { nextHint } = wakerOf(missing);
    const first = nextHint();
    expect(nextTimer()).toBe(1_000);
    await first;
    await fs.mkdir(missing);
    const second = nextHint();
    expect(nextTimer()).toBe(2_000);
    await second;
    const third = nextHint();
    await fs.writeFile(join(missing, "0.log"), "");
    expect(await woken(third)).toBe(2_000);
  });

  it("pauses for a time", async () => {
    const pause = wakerOf(root()).pause(300);
    expect(nextTimer()).toBe(300);
    await pause;
  });

  it("does not pause once the reader has gone", async () => {
    const { pause } = wakerOf(root());
    const paused = pause(300);
    reader.abort();
    expect([await woken(paused), await woken(pause(300))]).toEqual([0, 0]);
  });

  it("ends a wait when it is closed", async () => {
    const wait = wakerOf(root()).nextHint();
    waker.close();
    expect(await woken(wait)).toBe(0);
  });
});
