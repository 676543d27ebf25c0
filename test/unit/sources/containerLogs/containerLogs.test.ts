import * as fs from "node:fs/promises";
import { join } from "node:path";
import { firstValueFrom } from "rxjs";
import { describe, expect, it } from "vitest";
import { parseLogInstant } from "../../../../src/core/logs/sinceBound.ts";
import type { LogReading } from "../../../../src/ports/containerLogs.ts";
import { createContainerLogs } from "../../../../src/sources/containerLogs/containerLogs.ts";
import { logDirectory, logEntries, logLines, logTime, rotated } from "../../../support/logFiles.ts";
import { realClock } from "../../../support/realClock.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";
import { temporaryDirectory } from "../../../support/temporaryDirectory.ts";

const ALL: Omit<LogReading, "path"> = {
  timestamps: false,
  since: undefined,
  tailLines: undefined,
  limitBytes: undefined,
  stream: undefined,
  untilEnded: undefined,
};
const since = (text: string): Partial<LogReading> => ({ since: parseLogInstant(text) });
const text = async (stream: ReadableStream<Uint8Array>): Promise<string> => new Response(stream).text();

describe("containerLogs", () => {
  const root = temporaryDirectory();
  const telemetry = recordingTelemetry();
  const open = (reading: Partial<LogReading> & { readonly path: string }) =>
    firstValueFrom(
      createContainerLogs({ podLogsDir: root(), clock: realClock, log: telemetry.log }).open({ ...ALL, ...reading }),
    );
  const read = async (reading: Partial<LogReading> & { readonly path: string }) => text(await open(reading));
  const failure = (reading: Partial<LogReading> & { readonly path: string }) =>
    open(reading).then(
      () => "no failure",
      ({ code, message }: { code: string; message: string }) => `${code}: ${message.replaceAll(root(), "ROOT")}`,
    );

  /** Entries 0 to 39, ten in each of a compressed file, two rotated ones and the one being written. */
  async function fourFiles() {
    const log = logDirectory(root());
    await log.make();
    for (const [i, name] of [rotated(1), rotated(2), rotated(3), "0.log"].entries()) {
      await log.write(logEntries(i * 10, i * 10 + 10), name);
    }
    await log.compress(1);
    return log;
  }

  it.each<[string, Partial<LogReading>, string]>([
    ["everything", {}, logLines(0, 40)],
    ["no entry", { tailLines: 0 }, ""],
    ["the last entry", { tailLines: 1 }, logLines(39, 40)],
    ["the last entries of one file", { tailLines: 10 }, logLines(30, 40)],
    ["the last entries of two files", { tailLines: 11 }, logLines(29, 40)],
    ["the last entries, some of them compressed", { tailLines: 33 }, logLines(7, 40)],
    ["more than there are", { tailLines: 41 }, logLines(0, 40)],
    ["entries since a time", since(logTime(35)), logLines(35, 40)],
    ["since a time in an older file", since(logTime(19)), logLines(19, 40)],
    ["since a time in a compressed one", since(logTime(5)), logLines(5, 40)],
    ["since a time before all", since("2025-01-01T00:00:00Z"), logLines(0, 40)],
    ["since a time after all", since("2027-01-01T00:00:00Z"), ""],
    ["since and the last: the shorter", { ...since(logTime(19)), tailLines: 3 }, logLines(37, 40)],
    ["since and the last: the shorter, the other way", { ...since(logTime(39)), tailLines: 13 }, logLines(39, 40)],
    ["no more than so many bytes", { limitBytes: 8 }, "line 0\nl"],
  ])("reads %s", async (_what, options, expected) => {
    const { path } = await fourFiles();
    expect(await read({ path, ...options })).toBe(expected);
  });

  it("logs how many malformed entries a log has, and nothing for a log without any", async () => {
    const log = logDirectory(root());
    await log.make();
    await log.write(`${logEntries(0, 2)}garbage\n\n${logEntries(2, 3)}`, "0.log");
    await log.write(logEntries(0, 2), "1.log");
    const { path } = log;
    const before = telemetry.lines.length;
    expect(await read({ path: path.replace("0.log", "1.log") })).toBe(logLines(0, 2));
    expect(telemetry.lines.slice(before)).toEqual([]);
    expect(await read({ path })).toBe(logLines(0, 3));
    expect(telemetry.lines.slice(before)).toEqual([
      {
        level: "warn",
        message: "Skipped malformed entries of a container log",
        fields: { logger: "containerLogs", path, entries: 2 },
      },
    ]);
  });

  it("finds start and end in files of many blocks", async () => {
    const log = logDirectory(root());
    await log.make();
    const padding = "x".repeat(1000);
    const entries = Array.from({ length: 3000 }, (_, i) => `${logTime(i)} stdout F ${i} ${padding}\n`);
    await log.write(entries.join(""));
    const from = (i: number): string =>
      entries
        .slice(i)
        .map((entry) => entry.slice(entry.indexOf(" F ") + 3))
        .join("");
    expect(await read({ path: log.path })).toBe(from(0));
    expect(await read({ path: log.path, tailLines: 500 })).toBe(from(2500));
    expect(await read({ path: log.path, ...since(logTime(1234)) })).toBe(from(1234));
  });

  it("reads a file between its rotation and its successor", async () => {
    const log = await fourFiles();
    await log.rotate(4);
    expect(await read({ path: log.path })).toBe(logLines(0, 40));
  });

  it("reads what was there at first, whatever is rotated, compressed and written meanwhile", async () => {
    const log = await fourFiles();
    const reader = (await open({ path: log.path })).getReader();
    const first = await reader.read();
    await log.append(logEntries(40, 50));
    await log.rotate(4);
    await log.write(logEntries(50, 60));
    for (const stamp of [2, 3, 4]) await log.compress(stamp);
    let got = Buffer.from(first.value ?? []).toString();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      got += Buffer.from(value).toString();
    }
    expect(got).toBe(logLines(0, 40));
  });

  it("leaves out a damaged file from where it is damaged, and says so", async () => {
    const log = await fourFiles();
    await log.write("no gzip", `${rotated(1)}.gz`);
    expect(await read({ path: log.path })).toBe(logLines(10, 40));
    expect(telemetry.lines.at(-1)).toMatchObject({ level: "warn", fields: { path: log.path } });
  });

  it("says how many lines were no entries", async () => {
    const log = logDirectory(root());
    await log.make();
    await log.write(`garbage\n\n${logEntries(0, 3)}\0\n`);
    expect(await read({ path: log.path })).toBe(logLines(0, 3));
    expect(telemetry.lines.at(-1)).toMatchObject({ level: "warn", fields: { path: log.path, entries: 3 } });
  });

  describe("refuses", () => {
    it("a log that is not there", async () => {
      const log = logDirectory(root());
      await log.make();
      const path = "ROOT/ns_pod_uid/main/0.log";
      const why = `failed to try resolving symlinks in path "${path}": lstat ${path}: no such file or directory`;
      expect(await failure({ path: log.path })).toBe(`NotFound: ${why}`);
      await log.remove();
      expect(await failure({ path: log.path })).toBe(`NotFound: ${why}`);
    });

    it("a link, a FIFO, a directory, and a file behind a link", async () => {
      const log = logDirectory(root());
      await log.make();
      const secret = join(root(), "secret");
      await fs.mkdir(secret);
      await fs.writeFile(join(secret, "0.log"), logEntries(0, 3));
      await fs.symlink(join(secret, "0.log"), log.path);
      expect(await failure({ path: log.path })).toBe(
        "PermissionDenied: log file ROOT/ns_pod_uid/main/0.log is a symbolic link",
      );
      await fs.rm(log.path);
      await fs.mkdir(log.path);
      expect(await failure({ path: log.path })).toMatch(/^PermissionDenied: .* is a directory$/);
      await log.remove();
      await fs.mkdir(join(root(), "ns_pod_uid"));
      await fs.symlink(secret, join(root(), "ns_pod_uid", "main"));
      expect(await failure({ path: log.path })).toMatch(/^PermissionDenied: .* is behind a symbolic link$/);
    });

    it("a path elsewhere", async () => {
      expect(await failure({ path: "/etc/passwd" })).toBe("PermissionDenied: log file /etc/passwd is not below ROOT");
      expect(await failure({ path: `${root()}/../0.log` })).toMatch(/^PermissionDenied: .* is not below ROOT$/);
    });
  });
});
