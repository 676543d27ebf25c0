/**
 * Reads named pipes on the event loop. Pipes carry container output to the runtime: they bound the data in flight (64
 * KiB in the kernel, then the writer blocks), need no disk space, and persist while the runtime is down. All readers
 * share one buffer, because a chunk is consumed before the next read.
 */
import { execFile } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import { promisify } from "node:util";

const { O_NONBLOCK, O_RDONLY, O_RDWR } = fs.constants;
const run = promisify(execFile);
const buffer = Buffer.alloc(64 * 1024);

/** Creates named pipes with mode 0600. */
export async function makeFifos(paths: readonly string[]): Promise<void> {
  await run("mkfifo", ["-m", "600", ...paths]);
}

/** Opens a pipe for reading without waiting for a writer. The caller owns the descriptor. */
export const openFifoToRead = (path: string): number => fs.openSync(path, O_RDONLY | O_NONBLOCK);

/**
 * Opens a pipe for a child process, for reading and writing, so that the child never receives SIGPIPE while the runtime
 * is down.
 */
export const openFifoForChild = (path: string): number => fs.openSync(path, O_RDWR);

/** A reader of a pipe. */
export interface FifoReader {
  /** Resolves when the last writer has closed the pipe, or after `stop`. */
  readonly ended: Promise<void>;
  /** Returns false once the end of the pipe was read. */
  isOpen(): boolean;
  stop(): void;
}

/**
 * Reads until the last writer closes the pipe. A pipe without a writer counts as ended, because no event would report
 * it. Yields to the event loop after each chunk, so that a container with heavy output delays others by one chunk at
 * most.
 */
export function readFifo(fd: number, onChunk: (chunk: Uint8Array) => void): FifoReader {
  const first = readNow(fd);
  if (first === "ended") {
    fs.closeSync(fd);
    return { ended: Promise.resolve(), isOpen: () => false, stop: () => {} };
  }
  if (first > 0) onChunk(buffer.subarray(0, first));
  const socket: net.Socket = new net.Socket({
    fd,
    readable: true,
    writable: false,
    onread: {
      buffer,
      callback: (length) => {
        onChunk(buffer.subarray(0, length));
        setImmediate(() => socket.resume());
        return false;
      },
    },
  });
  socket.resume();
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on("error", () => socket.destroy());
  socket.on("end", () => socket.destroy());
  socket.on("close", () => resolve());
  return { ended: promise, isOpen: () => !socket.destroyed, stop: () => void socket.destroy() };
}

/** Returns the number of bytes read; 0 if the pipe has writers but no data. */
function readNow(fd: number): number | "ended" {
  try {
    const length = fs.readSync(fd, buffer);
    return length === 0 ? "ended" : length;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "EAGAIN") return 0;
    throw thrown;
  }
}
