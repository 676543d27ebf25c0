/**
 * Reading named pipes on the event loop. Pipes are how output reaches the runtime: they bound what is in flight
 * (64 KiB in the kernel, then the writer waits), need no disk, and stay while the runtime is away. One buffer serves
 * all readers of a process, since a chunk is consumed before the next read begins.
 */
import { execFile } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import { promisify } from "node:util";

const { O_NONBLOCK, O_RDONLY, O_RDWR } = fs.constants;
const run = promisify(execFile);
const buffer = Buffer.alloc(64 * 1024);

/** Makes named pipes, mode 0600. */
export async function makeFifos(paths: readonly string[]): Promise<void> {
  await run("mkfifo", ["-m", "600", ...paths]);
}

/** Opens a pipe to read without waiting for a writer. The caller owns the descriptor. */
export const openFifoToRead = (path: string): number => fs.openSync(path, O_RDONLY | O_NONBLOCK);

/** Opens a pipe for a child: both ways, so that the child never sees a broken pipe when the runtime is away. */
export const openFifoForChild = (path: string): number => fs.openSync(path, O_RDWR);

/** A running reader. */
export interface FifoReader {
  /** Resolves at the end of the pipe (its last writer is gone) or after `stop`. */
  readonly ended: Promise<void>;
  /** False as soon as the end was seen. */
  isOpen(): boolean;
  stop(): void;
}

/**
 * Reads until the last writer is gone. A pipe that has no writer now has ended already: no event would tell.
 * After each chunk the loop turns once, so that a flooding container delays nobody by more than a chunk.
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

/** Bytes that were there, 0 when there are writers but no bytes. */
function readNow(fd: number): number | "ended" {
  try {
    const length = fs.readSync(fd, buffer);
    return length === 0 ? "ended" : length;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "EAGAIN") return 0;
    throw thrown;
  }
}
