/**
 * The machine's processes as far as the runtime needs them: who belongs to a container, and what it uses. Linux: /proc;
 * elsewhere what ps(1) prints, where a process group stands for a session as ps has no portable session id.
 */
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

/** One process. Its session is that of the container whose supervisor has this pid. */
export interface ProcessEntry {
  readonly pid: number;
  readonly session: number;
  /** Own and reaped children's CPU time in nanoseconds. */
  readonly cpuNs: bigint;
  readonly rssBytes: bigint;
  readonly pageFaults: bigint;
  readonly majorPageFaults: bigint;
}

const run = promisify(execFile);
const LINUX = process.platform === "linux";

/** Every process that can be seen; one that vanishes while we look is left out. */
export async function readProcessTable(): Promise<readonly ProcessEntry[]> {
  return LINUX ? await readProc() : await readPs();
}

/** Walks until nobody new is found: more than this many only what forks faster than it is killed needs. */
const KILL_WALKS = 20;

/**
 * Kills every process of these sessions except their leaders. What was forked while the table was read is missing in it:
 * it is read again until it shows none but those killed, who can fork no more.
 */
export async function killSessions(
  sessions: ReadonlySet<number>,
  read: () => Promise<readonly Pick<ProcessEntry, "pid" | "session">[]> = readProcessTable,
  kill: (pid: number) => void = (pid) => killQuietly(pid, "SIGKILL"),
): Promise<void> {
  const killed = new Set<number>();
  for (let walk = 0; walk < KILL_WALKS; walk += 1) {
    const members = (await read()).filter(({ pid, session }) => sessions.has(session) && pid !== session);
    const alive = members.filter(({ pid }) => !killed.has(pid));
    if (alive.length === 0) return;
    for (const { pid } of alive) {
      killed.add(pid);
      kill(pid);
    }
  }
}

/** Sends a signal to a process (or, negative, a group) that may be gone or not ours. */
export function killQuietly(pid: number, signal: NodeJS.Signals | number): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended in the meantime: what was wanted.
  }
}

/** Whether the process runs and has `needle` in its command line; how a pid from disk is known to be still ours. */
export async function commandLineContains(pid: number, needle: string): Promise<boolean> {
  try {
    if (LINUX) return fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(needle);
    const { stdout } = await run("ps", ["-ww", "-o", "command=", "-p", String(pid)]);
    return stdout.includes(needle);
  } catch {
    return false;
  }
}

/** When the process started, in the words of the system; undefined when it does not run. With the pid, its identity. */
export async function processStart(pid: number): Promise<string | undefined> {
  try {
    if (LINUX) return statFields(fs.readFileSync(`/proc/${pid}/stat`, "latin1"))[START_TIME];
    const { stdout } = await run("ps", ["-o", "lstart=", "-p", String(pid)]);
    return stdout.trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Fields of /proc/<pid>/stat from the third on: the second, the command, may hold blanks and parentheses. */
const statFields = (text: string): readonly string[] => text.slice(text.lastIndexOf(")") + 2).split(" ");
const SESSION = 3;
const MINOR_FAULTS = 7;
const MAJOR_FAULTS = 9;
const CPU_TIMES = [11, 12, 13, 14] as const;
const START_TIME = 19;
const RSS_PAGES = 21;

/** Pages and clock ticks as getconf(1) knows them. */
interface Units {
  readonly pageBytes: bigint;
  readonly tickNs: bigint;
}
let units: Promise<Units> | undefined;
async function readUnits(): Promise<Units> {
  const ask = async (name: string, fallback: string): Promise<bigint> => {
    const { stdout } = await run("getconf", [name]).catch(() => ({ stdout: fallback }));
    return /^\d+$/.test(stdout.trim()) ? BigInt(stdout.trim()) : BigInt(fallback);
  };
  return { pageBytes: await ask("PAGESIZE", "4096"), tickNs: 1_000_000_000n / (await ask("CLK_TCK", "100")) };
}

async function readProc(): Promise<readonly ProcessEntry[]> {
  units ??= readUnits();
  const { pageBytes, tickNs } = await units;
  const pids = (await fs.promises.readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const entries: ProcessEntry[] = [];
  for (const pid of pids) {
    const text = await fs.promises.readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
    if (text === "") continue;
    const fields = statFields(text);
    const number = (index: number): bigint => BigInt(fields[index] ?? "0");
    entries.push({
      pid: Number(pid),
      session: Number(fields[SESSION]),
      cpuNs: CPU_TIMES.reduce((sum, index) => sum + number(index), 0n) * tickNs,
      rssBytes: number(RSS_PAGES) * pageBytes,
      pageFaults: number(MINOR_FAULTS),
      majorPageFaults: number(MAJOR_FAULTS),
    });
  }
  return entries;
}

async function readPs(): Promise<readonly ProcessEntry[]> {
  const { stdout } = await run("ps", ["-axo", "pid=,pgid=,rss=,time="], { maxBuffer: 16 * 1024 * 1024 });
  return parsePs(stdout);
}

/** Lines `pid pgid rss-KiB [[days-]hours:]minutes:seconds[.hundredths]`. */
export function parsePs(text: string): readonly ProcessEntry[] {
  const entries: ProcessEntry[] = [];
  for (const line of text.split("\n")) {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(?:(\d+)-)?([\d:]+(?:\.\d+)?)\s*$/.exec(line);
    if (match === null) continue;
    const [, pid, group, rssKib, days = "0", clock = "0"] = match;
    const seconds = clock.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
    const total = seconds + Number(days) * 86_400;
    entries.push({
      pid: Number(pid),
      session: Number(group),
      cpuNs: BigInt(Math.round(total * 1000)) * 1_000_000n,
      rssBytes: BigInt(rssKib ?? "0") * 1024n,
      pageFaults: 0n,
      majorPageFaults: 0n,
    });
  }
  return entries;
}

/** Processes of a session that lost its leader, recognised by an output or a directory below `dir`. Linux only. */
export async function sessionMembersUsing(session: number, dir: string): Promise<readonly number[]> {
  if (!LINUX) return [];
  const members = (await readProcessTable()).filter((entry) => entry.session === session && entry.pid !== session);
  return members
    .map((entry) => entry.pid)
    .filter((pid) => ["fd/1", "fd/2", "cwd"].some((link) => uses(pid, link, dir)));
}

function uses(pid: number, link: string, dir: string): boolean {
  try {
    return fs.readlinkSync(`/proc/${pid}/${link}`).startsWith(dir + path.sep);
  } catch {
    return false;
  }
}
