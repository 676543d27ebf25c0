/**
 * Reads the usage of a file system whose server may be unreachable. A child process reads it, because a read would
 * block one of Node's few file threads until the server returns. Bounds: one process per path, MAX_PROCESSES in total,
 * killed after 10 s; a process that cannot be killed keeps its slot.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { kubeletError } from "../core/errors.ts";
import { ioError } from "../core/ioError.ts";
import type { FileSystemUsage } from "../ports/host.ts";

const DEADLINE_MS = 10_000;
const MAX_PROCESSES = 32;
/** Format of stat(1): block size; blocks in total, free, free for users; inodes in total, free. */
const FORMAT = "%S %b %f %a %c %d";

/** Creates the reader, which runs stat(1). It rejects with a KubeletError. */
export function createRemoteFileSystem(
  program = "stat",
  deadlineMs = DEADLINE_MS,
): (path: string) => Promise<FileSystemUsage> {
  const asked = new Map<string, Promise<FileSystemUsage>>();
  const ask = async (path: string): Promise<FileSystemUsage> => {
    try {
      const options = { timeout: deadlineMs, killSignal: "SIGKILL", env: { ...process.env, LC_ALL: "C" } } as const;
      const { stdout } = await promisify(execFile)(program, ["-f", "-c", FORMAT, "--", path], options);
      return parse(path, stdout);
    } catch (thrown) {
      throw ioError("measure the file system of", path, thrown);
    } finally {
      asked.delete(path);
    }
  };
  return (path) => {
    const known = asked.get(path);
    if (known !== undefined) return known;
    if (asked.size >= MAX_PROCESSES) {
      const why = `${MAX_PROCESSES} other file systems have not answered yet`;
      return Promise.reject<FileSystemUsage>(kubeletError("Unavailable", `cannot measure ${path}: ${why}`));
    }
    const answer = ask(path);
    asked.set(path, answer);
    return answer;
  };
}

function parse(path: string, printed: string): FileSystemUsage {
  const numbers = /^\d+(?: \d+){5}$/.test(printed.trim()) ? printed.trim().split(" ").map(BigInt) : [];
  const [size, blocks, free, available, inodes, inodesFree] = numbers;
  if (size === undefined || blocks === undefined || free === undefined || available === undefined) {
    throw kubeletError("Io", `cannot measure the file system of ${path}: stat printed ${JSON.stringify(printed)}`);
  }
  return {
    capacityBytes: blocks * size,
    availableBytes: available * size,
    usedBytes: (blocks - free) * size,
    inodes: inodes ?? 0n,
    inodesFree: inodesFree ?? 0n,
  };
}
