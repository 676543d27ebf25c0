/** Logs that are links to those of Docker: read, searched and followed through Docker's rotation. */
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { firstValueFrom } from "rxjs";
import { describe, expect, it } from "vitest";
import { parseLogInstant } from "../../../../src/core/logs/sinceBound.ts";
import type { LogReading } from "../../../../src/ports/containerLogs.ts";
import { readLogTail } from "../../../../src/fileSystem/logFile.ts";
import { createLogFiles } from "../../../../src/sinks/logFiles.ts";
import { createContainerLogs } from "../../../../src/sources/containerLogs/containerLogs.ts";
import { logDirectory, logLines, logTime } from "../../../support/logFiles.ts";
import { realClock } from "../../../support/realClock.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";
import { temporaryDirectory } from "../../../support/temporaryDirectory.ts";

const ID = "ab".repeat(32);
const entries = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, i) => from + i)
    .map(
      (n) => `${JSON.stringify({ log: `line ${n}\n`, stream: n % 2 === 0 ? "stdout" : "stderr", time: logTime(n) })}\n`,
    )
    .join("");

describe("logs of Docker", () => {
  const root = temporaryDirectory();

  /** A pod's log that links to Docker's, and what Docker does to that. */
  async function dockerLog() {
    const log = logDirectory(join(await fs.realpath(root()), "pods"));
    const directory = join(await fs.realpath(root()), "docker", "containers", ID);
    const at = (name: string): string => join(directory, `${ID}-json.log${name}`);
    await log.make();
    await fs.mkdir(directory, { recursive: true });
    await fs.symlink(at(""), log.path);
    return {
      path: log.path,
      at,
      write: (content: string, name = "") => fs.writeFile(at(name), content),
      append: (content: string) => fs.appendFile(at(""), content),
      async rotate(files: number): Promise<void> {
        for (let n = files; n > 1; n--) await fs.rename(at(`.${n - 1}`), at(`.${n}`)).catch(() => undefined);
        await fs.rename(at(""), at(".1"));
        await fs.writeFile(at(""), "");
      },
    };
  }

  const open = (reading: Partial<LogReading> & { readonly path: string }) => {
    const { log } = recordingTelemetry();
    const logs = createContainerLogs({ podLogsDir: join(root(), "pods"), clock: realClock, log });
    const all = { timestamps: false, since: undefined, tailLines: undefined, limitBytes: undefined, stream: undefined };
    return firstValueFrom(logs.open({ ...all, untilEnded: undefined, ...reading }));
  };
  const read = async (reading: Partial<LogReading> & { readonly path: string }): Promise<string> =>
    new Response(await open(reading)).text();

  it.each<[string, Partial<LogReading>, string]>([
    ["everything", {}, logLines(0, 30)],
    ["the last entries", { tailLines: 12 }, logLines(18, 30)],
    ["entries since a time", { since: parseLogInstant(logTime(25)) }, logLines(25, 30)],
    ["one stream", { stream: "stderr", tailLines: 4 }, "line 27\nline 29\n"],
    ["times", { timestamps: true, tailLines: 1 }, `${logTime(29)} line 29\n`],
    ["no more than so many bytes", { limitBytes: 8 }, "line 0\nl"],
  ])("reads %s", async (_what, options, expected) => {
    const log = await dockerLog();
    await log.write(entries(0, 10), ".2");
    await log.write(entries(10, 20), ".1");
    await log.write(entries(20, 30));
    expect(await read({ path: log.path, ...options })).toBe(expected);
  });

  it("follows through rotations that rename all files", async () => {
    const log = await dockerLog();
    await log.write(entries(0, 10));
    const ended = new AbortController();
    const reader = (await open({ path: log.path, untilEnded: ended.signal })).getReader();
    let got = "";
    const until = async (expected: string): Promise<void> => {
      while (got.length < expected.length) got += Buffer.from((await reader.read()).value ?? []).toString();
      expect(got).toBe(expected);
    };
    await until(logLines(0, 10));
    for (const from of [10, 20, 30]) {
      await log.append(entries(from, from + 5));
      await log.rotate(3);
      await log.append(entries(from + 5, from + 10));
      await until(logLines(0, from + 10));
    }
    ended.abort();
    expect((await reader.read()).done).toBe(true);
  });

  it("neither repeats nor loses a file that is renamed while older ones are read", async () => {
    const log = await dockerLog();
    for (const [n, name] of [".3", ".2", ".1", ""].entries()) await log.write(entries(n * 10, n * 10 + 10), name);
    const reader = (await open({ path: log.path })).getReader();
    let got = "";
    for (let { value, done } = await reader.read(); !done; { value, done } = await reader.read()) {
      got += Buffer.from(value ?? []).toString();
      if (got === logLines(0, 10)) await log.rotate(4);
    }
    expect(got).toBe(logLines(0, 40));
  });

  it("gives the end of a log, for the message of a container that wrote none", async () => {
    const log = await dockerLog();
    await log.write(entries(0, 10));
    const tail = await readLogTail(join(root(), "pods"), log.path, 200);
    expect(tail.split("\n").slice(-3)).toEqual([`${logTime(8)} stdout F line 8`, `${logTime(9)} stderr F line 9`, ""]);
  });

  it("leaves the rotation to Docker", async () => {
    const log = await dockerLog();
    await log.write(entries(0, 1000));
    const files = createLogFiles({ podLogsDir: join(root(), "pods") });
    expect(await firstValueFrom(files.sizeOf(log.path))).toBe(0);
    expect(await firstValueFrom(files.notSmaller([log.path], 10))).toEqual([]);
  });

  it.each([
    ["another file", async (at: (name: string) => string) => `${at("")}/../../../../secret`],
    [
      "a link in the place of Docker's log",
      async (at: (name: string) => string) => {
        await fs.rm(at(""), { force: true });
        await fs.symlink("/etc/passwd", at(""));
        return at("");
      },
    ],
    [
      "a log behind a linked directory",
      async (at: (name: string) => string) => {
        const elsewhere = join(root(), "elsewhere");
        await fs.symlink(join(at(""), "../../.."), elsewhere);
        return join(elsewhere, "containers", ID, `${ID}-json.log`);
      },
    ],
  ])("refuses a link to %s", async (_what, target) => {
    const log = await dockerLog();
    await log.write(entries(0, 1));
    const to = await target(log.at);
    await fs.rm(log.path);
    await fs.symlink(to, log.path);
    await expect(read({ path: log.path })).rejects.toHaveProperty("code", "PermissionDenied");
  });
});
