/**
 * Following a container's log: `node bench/logs.ts` [MB/s, default 50] [rotations, default 20]. One container writes, its
 * log is rotated by the kubelet's own pipeline, one reader follows. Ends with 1 when a byte is lost, repeated or changed.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { crc32 } from "node:zlib";
import { firstValueFrom, from, map } from "rxjs";
import { containerId } from "../src/core/ids.ts";
import type { PodRuntimeStatus, RuntimeContainer } from "../src/core/runtime/podRuntimeStatus.ts";
import { logRotation } from "../src/pipelines/logRotation.ts";
import type { RuntimeService } from "../src/ports/cri.ts";
import type { NodeState } from "../src/state/nodeState.ts";
import { createLogFiles } from "../src/sinks/logFiles.ts";
import { createContainerLogs } from "../src/sources/containerLogs/containerLogs.ts";
import { recordingTelemetry } from "../test/support/recordingTelemetry.ts";
import { realClock } from "../test/support/realClock.ts";
import { percentile, printFigure, printRow, printTitle, wallMs } from "./figures.ts";
import type { Written } from "./logWriter.ts";
import { cpuMs } from "./processUse.ts";
import { realFiles } from "../test/support/realFiles.ts";

const megabytes = Number(process.argv[2] ?? 50);
const rotations = Number(process.argv[3] ?? 20);
const MAX_BYTES = 10 * 1024 * 1024;
/** Upstream allows no less than 3 s; here twenty rotations should not take a minute. */
const PERIOD_MS = 1_000;
const AIM_MS = 200;

const root = await fs.mkdtemp(path.join(tmpdir(), "rxlet-bench-logs-"));
try {
  await measure();
} finally {
  await fs.rm(root, { recursive: true, force: true });
}

async function measure(): Promise<void> {
  const directory = path.join(root, "ns_pod_uid", "main");
  await fs.mkdir(directory, { recursive: true });
  const logPath = path.join(directory, "0.log");
  const writer = fork(path.join(import.meta.dirname, "logWriter.ts"), [logPath, String(megabytes * 1e6)]);
  const telemetry = recordingTelemetry();
  const ended = new AbortController();
  let rotated = 0;
  const reading = {
    timestamps: false,
    since: undefined,
    tailLines: undefined,
    limitBytes: undefined,
    stream: undefined,
  };
  const logs = createContainerLogs({ podLogsDir: root, clock: realClock, log: telemetry.log });
  await waitForFile(logPath);
  const log = await firstValueFrom(logs.open({ ...reading, path: logPath, untilEnded: ended.signal }));
  const startedAt = performance.now();
  const cpuBefore = { all: cpuMs(process.pid), thread: process.threadCpuUsage() };
  const rotating = logRotation(
    {
      clock: realClock,
      files: realFiles(),
      logFiles: createLogFiles({ podLogsDir: root }),
      telemetry,
      runtime: {
        reopenContainerLog: () => from(reopened(writer)).pipe(map(() => (rotated++, {}))),
      } as unknown as RuntimeService,
    },
    { maxBytes: MAX_BYTES, maxFiles: 5, workers: 1, periodMs: PERIOD_MS },
    { runtimeStatuses: { values: () => [statusOf(logPath)] } as unknown as NodeState["runtimeStatuses"] },
  ).subscribe({ error: (thrown: unknown) => log.cancel(thrown) });

  const lags: number[] = [];
  let bytes = 0;
  let crc = 0;
  let written: Written | undefined;
  for await (const piece of log) {
    // The first line has waited longest; of a line that was cut the number is the end of one.
    const lag =
      wallMs() - Number(Buffer.from(piece.subarray(piece.indexOf(10) + 1, piece.indexOf(10) + 18)).toString());
    if (Number.isFinite(lag)) lags.push(lag);
    bytes += piece.length;
    crc = crc32(piece, crc);
    if (rotated >= rotations && written === undefined) {
      written = { bytes: 0, lines: 0, crc: 0 };
      rotating.unsubscribe();
      void stopped(writer).then((answer) => {
        written = answer;
        ended.abort();
      });
    }
  }
  const tookMs = performance.now() - startedAt;
  const { user, system } = process.threadCpuUsage(cpuBefore.thread);

  printTitle(`${megabytes} MB/s for ${(tookMs / 1000).toFixed(1)} s through ${rotated} rotations`);
  printRow("lag of a line, ms", lags, `aim: p99 under ${AIM_MS}`);
  printFigure("read", bytes / 1e6, "MB", `${written?.lines} lines in ${lags.length} pieces`);
  printFigure(
    "CPU of the reader",
    ((user + system) / 1000 / tookMs) * 100,
    "%",
    "of one core; the thread that reads and rotates",
  );
  const all = ((cpuMs(process.pid) - cpuBefore.all) / tookMs) * 100;
  printFigure("CPU of the process", all, "%", "with compression of what was rotated");
  const problems = telemetry.lines.filter(({ level }) => level === "warn" || level === "error");
  for (const { message, fields } of problems) console.log(message, fields);
  const isExact = written?.bytes === bytes && written.crc === crc;
  console.log(isExact ? "every byte once" : `NOT THE SAME: ${written?.bytes} bytes written`);
  if (!isExact || problems.length > 0 || percentile(lags, 99) > AIM_MS) process.exitCode = 1;
}

function statusOf(logPath: string): PodRuntimeStatus {
  const container = { id: containerId("c"), state: "running", logPath } as RuntimeContainer;
  return { containers: [container] } as unknown as PodRuntimeStatus;
}

async function reopened(writer: ChildProcess): Promise<void> {
  writer.send("reopen");
  await once(writer, "message");
}

async function stopped(writer: ChildProcess): Promise<Written> {
  writer.send("stop");
  const [written] = (await once(writer, "message")) as [Written];
  return written;
}

async function waitForFile(file: string): Promise<void> {
  for await (const _ of fs.watch(path.dirname(file)))
    if ((await fs.stat(file).catch(() => undefined)) !== undefined) return;
}
