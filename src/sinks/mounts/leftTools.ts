/** Processes that hold a file open, found in /proc: tools for mounts that their kubelet left behind. */
import { readFileSync } from "node:fs";
import * as fs from "node:fs/promises";

/** A process that is not ours. */
export interface LeftTool {
  readonly pid: number;
  /** Of the program, as the kernel has it. */
  readonly name: string;
  readonly args: readonly string[];
  /** In clock ticks since the machine started; with the pid it names one process for good. */
  readonly startedAt: string;
}

/** The name of processes that work on a subPath; the kernel keeps 15 characters. */
export const SUB_PATH_TOOL = "rxlet-subpath";

/** What the kubelet starts, and their helpers such as mount.nfs. A daemon that one of these began is none. */
const TOOL = /^(u?mount(\..*)?|stat|rxlet-subpath)$/;

/** Everybody else who has the file open. Reads links only: a look at what is open could hang. */
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

/** `/proc/PID/stat` is `PID (NAME) STATE ...`, the name may hold anything; the start is the 22nd word. */
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

/** The same process, not another one that got its pid. */
export const isStillThere = ({ pid, startedAt }: LeftTool): boolean => read(pid)?.startedAt === startedAt;

/** Kills a tool; a daemon or a kubelet is left alone. */
export function endLeftTool(tool: LeftTool): void {
  if (!TOOL.test(tool.name) || !isStillThere(tool)) return;
  try {
    process.kill(tool.pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}
