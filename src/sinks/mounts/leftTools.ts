/** Finds processes that hold a file open, in /proc: mount tools that an earlier kubelet left running. */
import { readFileSync } from "node:fs";
import * as fs from "node:fs/promises";

/** A process of another kubelet. */
export interface LeftTool {
  readonly pid: number;
  /** Name of the program as the kernel reports it. */
  readonly name: string;
  readonly args: readonly string[];
  /** Start time in clock ticks since boot; identifies a process together with its pid. */
  readonly startedAt: string;
}

/** Process name of subPath helpers; the kernel keeps 15 characters. */
export const SUB_PATH_TOOL = "rxlet-subpath";

/** Programs that the kubelet starts, and their helpers such as mount.nfs. Daemons that these start are not included. */
const TOOL = /^(u?mount(\..*)?|stat|rxlet-subpath)$/;

/** Returns all other processes that have the file open. Reads links only, because stat of an open file could hang. */
export async function holdersOf(file: string): Promise<readonly LeftTool[]> {
  const path = await fs.realpath(file);
  const found: LeftTool[] = [];
  for (const name of await fs.readdir("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid || !(await hasOpen(pid, path))) continue;
    const tool = read(pid);
    if (tool !== undefined) found.push(tool);
  }
  return found;
}

async function hasOpen(pid: number, path: string): Promise<boolean> {
  const dir = `/proc/${pid}/fd`;
  for (const descriptor of await fs.readdir(dir).catch(() => [])) {
    if ((await fs.readlink(`${dir}/${descriptor}`).catch(() => "")) === path) return true;
  }
  return false;
}

/** `/proc/PID/stat` is `PID (NAME) STATE ...`; the name may contain any character, the start time is the 22nd field. */
function read(pid: number): LeftTool | undefined {
  try {
    const [, name = "", rest = ""] = /^\d+ \((.*)\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, "latin1")) ?? [];
    const words = rest.split(" ");
    if (words[0] === "Z" || words[0] === "X") return undefined;
    const args = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return { pid, name, args, startedAt: words[19] ?? "" };
  } catch {
    return undefined;
  }
}

/** Returns whether this is still the same process, and not another one with a reused pid. */
export const isStillThere = ({ pid, startedAt }: LeftTool): boolean => read(pid)?.startedAt === startedAt;

/** Kills a tool, but never a daemon or a kubelet. */
export function endLeftTool(tool: LeftTool): void {
  if (!TOOL.test(tool.name) || !isStillThere(tool)) return;
  try {
    process.kill(tool.pid, "SIGKILL");
  } catch {
    // The process has already exited.
  }
}
