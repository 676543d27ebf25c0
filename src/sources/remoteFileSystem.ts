/**
 * How full a file system is whose server may have gone. A process asks, since the few threads that Node has for files would
 * wait until the server is back. Bounds: one process per path, MAX_PROCESSES in all, killed after 10 s; one that cannot be
 * killed is waited for.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { kubeletError } from "../core/errors.ts";
import { ioError } from "../core/ioError.ts";
import type { FileSystemUsage } from "../ports/host.ts";

const DEADLINE_MS = 10_000;
const MAX_PROCESSES = 32;
/** Block size; blocks, free, for users; inodes, free. */
const FORMAT = "%S %b %f %a %c %d";

/** Asks with stat(1). Rejects with a KubeletError. */
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
