/**
 * Follows the kernel log, `/dev/kmsg`. A read never waits, so no thread blocks: the log is polled. Bounds: 256 records
 * per turn of the event loop, 8 KiB per record, one open file. Upstream: kmsgparser of go-kmsg-parser.
 */
import { closeSync, constants, openSync, readSync, statSync } from "node:fs";
import { defer, finalize, from, type Observable } from "rxjs";
import { kubeletError } from "../core/errors.ts";
import { errnoOf, ioError } from "../core/ioError.ts";
import { type KernelMessage, parseKernelRecord } from "../core/oom/kernelRecord.ts";
import { pollAfter } from "../operators/pollAfter.ts";
import type { Clock } from "../ports/clock.ts";
import type { KernelLog } from "../ports/host.ts";

/** An open kernel log. */
export interface OpenKernelLog {
  /** Reads a record and returns its bytes. Throws EAGAIN at the end of the log. */
  read(buffer: Uint8Array): number;
  close(): void;
}

/** The largest record of any kernel (CONSOLE_EXT_LOG_MAX). The kernel skips a larger one with EINVAL. */
const RECORD_BYTES = 8 * 1024;
const RECORDS_PER_TURN = 256;
const POLL_MS = 1_000;
/** Pause after a full turn. */
const BUSY_MS = 10;
const PATH = "/dev/kmsg";

/**
 * Returns the records that are written after the subscription. Continues with the oldest record left after the kernel
 * overwrote unread ones; `sequence` then has a gap.
 *
 * Differs from upstream: older records are skipped, because a restarted kubelet would report the kills before its start
 * again. Node.js has no seek, so they are read and dropped.
 */
export const kernelLog = (clock: Clock, open: () => OpenKernelLog = () => openKernelLog(PATH)): KernelLog =>
  defer(() => {
    const log = opened(open);
    return follow(clock, log).pipe(finalize(() => log.close()));
  });

function opened(open: () => OpenKernelLog): OpenKernelLog {
  try {
    return open();
  } catch (thrown) {
    throw ioError("open", PATH, thrown);
  }
}

function follow(clock: Clock, log: OpenKernelLog): Observable<KernelMessage> {
  const buffer = Buffer.allocUnsafe(RECORD_BYTES);
  let isLive = false;
  let pauseMs = POLL_MS;
  const poll = (): Observable<KernelMessage> =>
    defer(() => {
      const { messages, isAtEnd } = readTurn(log, buffer);
      pauseMs = isAtEnd ? POLL_MS : BUSY_MS;
      const fresh = isLive ? messages : [];
      isLive ||= isAtEnd;
      return from(fresh);
    });
  return pollAfter(clock, () => pauseMs, poll);
}

/** Opens the kernel log. Nothing else that a machine may have in its place is opened, such as a console. */
export function openKernelLog(path: string): OpenKernelLog {
  const stats = statSync(path);
  if (!stats.isCharacterDevice() || stats.rdev !== KMSG_DEVICE) {
    throw kubeletError("InvalidArgument", `cannot open ${path}: it is not the kernel log`);
  }
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return { read: (buffer) => readSync(file, buffer), close: () => closeSync(file) };
}

/** Major number 1, minor number 11. */
const KMSG_DEVICE = 0x1_0b;

function readTurn(log: OpenKernelLog, buffer: Buffer) {
  const messages: KernelMessage[] = [];
  for (let reads = 0; reads < RECORDS_PER_TURN; reads += 1) {
    const length = readRecord(log, buffer);
    if (length === "end") return { messages, isAtEnd: true };
    const message = parseKernelRecord(buffer.toString("utf8", 0, length));
    if (message !== undefined) messages.push(message);
  }
  return { messages, isAtEnd: false };
}

/** Returns 0 if there is no record but may be a next one: unread records were overwritten, or one was too large. */
function readRecord(log: OpenKernelLog, buffer: Buffer): number | "end" {
  try {
    return log.read(buffer) || "end";
  } catch (thrown) {
    const errno = errnoOf(thrown);
    if (errno === "EPIPE" || errno === "EINVAL") return 0;
    if (errno === "EAGAIN") return "end";
    throw ioError("read", PATH, thrown);
  }
}
