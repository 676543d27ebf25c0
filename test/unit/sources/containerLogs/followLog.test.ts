import { appendFileSync } from "node:fs";
import * as fs from "node:fs/promises";
import { firstValueFrom, type SchedulerLike, type Subscription } from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Clock } from "../../../../src/ports/clock.ts";
import { createContainerLogs } from "../../../../src/sources/containerLogs/containerLogs.ts";
import { logDirectory, logEntries, logLines, rotated } from "../../../support/logFiles.ts";
import { realClock } from "../../../support/realClock.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";
import { temporaryDirectory } from "../../../support/temporaryDirectory.ts";

const SETTLE_MS = 50;

/** The real clock; `happens` runs before each pause that a follower makes for the last lines of a rotated file. */
function clockWithPauses(happens: () => void): Clock {
  const schedule = (work: () => void, delay = 0): Subscription => {
    if (delay === SETTLE_MS) happens();
    return realClock.scheduler.schedule(work, delay);
  };
  const scheduler = Object.create(realClock.scheduler, { schedule: { value: schedule } }) as SchedulerLike;
  return Object.create(realClock, { scheduler: { value: scheduler } }) as Clock;
}

describe("following a container's log", () => {
  const root = temporaryDirectory();
  let ended = new AbortController();
  let log = logDirectory("/");
  beforeEach(async () => {
    ended = new AbortController();
    log = logDirectory(root());
    await log.make();
  });
  const readers: ReadableStreamDefaultReader<Uint8Array>[] = [];
  afterEach(async () => {
    for (const reader of readers.splice(0)) await reader.cancel();
  });

  async function follow(tailLines?: number, clock: Clock = realClock) {
    const telemetry = recordingTelemetry();
    const logs = createContainerLogs({ podLogsDir: root(), clock, log: telemetry.log });
    const reading = { timestamps: false, since: undefined, tailLines, limitBytes: undefined, stream: undefined };
    const stream = await firstValueFrom(logs.open({ ...reading, path: log.path, untilEnded: ended.signal }));
    const reader = stream.getReader();
    readers.push(reader);
    let got = "";
    return {
      reader,
      warnings: () => telemetry.lines.filter(({ level }) => level === "warn").map(({ message }) => message),
      /** Reads until everything came: `undefined` until the end of the stream. */
      async until(expected: string | undefined): Promise<string> {
        while (expected === undefined || got.length < expected.length) {
          const { value, done } = await reader.read();
          if (done) break;
          got += Buffer.from(value).toString();
        }
        return got;
      },
    };
  }

  it("tells what is there, what comes, and ends with the container", async () => {
    await log.write(logEntries(0, 10));
    const { until } = await follow(2);
    expect(await until(logLines(8, 10))).toBe(logLines(8, 10));
    await log.append(logEntries(10, 12));
    expect(await until(logLines(8, 12))).toBe(logLines(8, 12));
    await log.append(logEntries(12, 14));
    ended.abort();
    expect(await until(undefined)).toBe(logLines(8, 14));
  });

  it("ends at once when the container had ended before", async () => {
    await log.write(logEntries(0, 10));
    ended.abort();
    expect(await (await follow()).until(undefined)).toBe(logLines(0, 10));
  });

  it("goes on in the next file, with what came late to the one before", async () => {
    await log.write(logEntries(0, 10));
    const { until } = await follow();
    await until(logLines(0, 10));
    await log.rotate(1);
    await log.append(logEntries(10, 11), rotated(1));
    expect(await until(logLines(0, 11))).toBe(logLines(0, 11));
    await log.write(logEntries(11, 12));
    expect(await until(logLines(0, 12))).toBe(logLines(0, 12));
    await log.append(logEntries(100, 101), rotated(1));
    expect(await until(`${logLines(0, 12)}${logLines(100, 101)}`)).toBe(`${logLines(0, 12)}${logLines(100, 101)}`);
  });

  it("moves to the next file once the runtime has written the last lines of the one before", async () => {
    await log.write(logEntries(0, 10));
    let late = 10;
    const { until } = await follow(
      undefined,
      clockWithPauses(() => {
        if (late < 15) appendFileSync(log.at(rotated(1)), logEntries(late, (late += 1)));
      }),
    );
    await until(logLines(0, 10));
    await log.rotate(1);
    await log.write(logEntries(15, 20));
    expect(await until(logLines(0, 20))).toBe(logLines(0, 20));
  });

  it("moves to the next file although somebody writes to the one before for ever", async () => {
    await log.write(logEntries(0, 10));
    const { until } = await follow(
      undefined,
      clockWithPauses(() => appendFileSync(log.at(rotated(1)), logEntries(10, 11))),
    );
    await until(logLines(0, 10));
    await log.rotate(1);
    await log.write(logEntries(50, 51));
    const late = logLines(10, 11).repeat(20);
    expect(await until(logLines(0, 10) + late + logLines(50, 51))).toBe(logLines(0, 10) + late + logLines(50, 51));
  });

  it("loses nothing of files rotated and compressed while nobody read", async () => {
    await log.write(logEntries(0, 10));
    const { until, warnings } = await follow();
    await until(logLines(0, 10));
    await log.append(logEntries(10, 20));
    for (const stamp of [1, 2, 3]) {
      await log.rotate(stamp);
      await log.write(logEntries(stamp * 10 + 10, stamp * 10 + 20));
    }
    await log.compress(1);
    await log.compress(2);
    expect(await until(logLines(0, 50))).toBe(logLines(0, 50));
    ended.abort();
    expect(await until(undefined)).toBe(logLines(0, 50));
    expect(warnings()).toEqual([]);
  });

  it("says so when files were rotated and removed before they were read", async () => {
    await log.write(logEntries(0, 10));
    const { until, warnings } = await follow();
    await until(logLines(0, 10));
    await log.rotate(1);
    await log.write(logEntries(10, 20));
    await log.rotate(2);
    for (const stamp of [1, 2]) await fs.rm(log.at(rotated(stamp)));
    await log.write(logEntries(20, 30));
    const lines = logLines(0, 10) + logLines(20, 30);
    expect(await until(lines)).toBe(lines);
    expect(warnings()).toEqual([expect.stringMatching(/^A container log is rotated faster than a follower reads it/)]);
  });

  it("stays with a file that was moved away and back", async () => {
    await log.write(logEntries(0, 10));
    const { until } = await follow();
    await until(logLines(0, 10));
    await log.rotate(1);
    await fs.rename(log.at(rotated(1)), log.path);
    await log.append(logEntries(10, 11));
    expect(await until(logLines(0, 11))).toBe(logLines(0, 11));
  });

  it("begins anew in a file that was cut, and in one that was removed and made again", async () => {
    await log.write(logEntries(0, 10));
    const { until } = await follow();
    await until(logLines(0, 10));
    await fs.truncate(log.path);
    await log.append(logEntries(10, 11));
    expect(await until(logLines(0, 11))).toBe(logLines(0, 11));
    await fs.rm(log.path);
    await log.write(logEntries(11, 12));
    expect(await until(logLines(0, 12))).toBe(logLines(0, 12));
  });

  it("outlives its directory, and ends with the container then too", async () => {
    await log.write(logEntries(0, 10));
    const { until } = await follow();
    await until(logLines(0, 10));
    await log.remove();
    ended.abort();
    expect(await until(undefined)).toBe(logLines(0, 10));
  });

  it("reads no further than is taken, and closes its files with the reader", async () => {
    await log.write(logEntries(0, 10).repeat(100_000));
    const openFiles = async (): Promise<readonly string[]> => {
      const fds = await fs.readdir("/proc/self/fd");
      const links = await Promise.all(fds.map((fd) => fs.readlink(`/proc/self/fd/${fd}`).catch(() => "")));
      return links.filter((path) => path.startsWith(root()));
    };
    const { reader } = await follow();
    await reader.read();
    expect(await openFiles()).toEqual([await fs.realpath(log.path)]);
    await reader.cancel();
    expect(await openFiles()).toEqual([]);
  });
});
