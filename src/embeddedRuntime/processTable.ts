/**
 * The process table: which processes belong to a container, and what they use. Linux: /proc. Other systems: ps(1),
 * where the process group stands for the session, because ps has no portable session ID.
 */
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

/** A process. `session` is the PID of the supervisor of its container. */
export interface ProcessEntry {
  readonly pid: number;
  readonly session: number;
  /** CPU time of the process and its reaped children in nanoseconds. */
  readonly cpuNs: bigint;
  readonly rssBytes: bigint;
  readonly pageFaults: bigint;
  readonly majorPageFaults: bigint;
}

const run = promisify(execFile);
const LINUX = process.platform === "linux";

/** Returns all visible processes, without those that exit during the scan. */
export async function readProcessTable(): Promise<readonly ProcessEntry[]> {
  return LINUX ? await readProc() : await readPs();
}

/**
 * Maximum number of scans until no new process is found. Only a process that forks faster than it is killed needs more.
 */
const KILL_WALKS = 20;

/**
 * Kills every process of these sessions except their leaders. A scan misses processes forked while it runs, so it
 * repeats until it finds only killed processes, which can no longer fork.
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

/**
 * Sends a signal to a process (or, if negative, a group); ignores processes that have exited or belong to another user.
 */
export function killQuietly(pid: number, signal: NodeJS.Signals | number): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has exited or may not be signalled.
  }
}

/** Returns whether the process runs with `needle` in its command line. Detects a PID read from disk that was reused. */
export async function commandLineContains(pid: number, needle: string): Promise<boolean> {
  try {
    if (LINUX) return fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(needle);
    const { stdout } = await run("ps", ["-ww", "-o", "command=", "-p", String(pid)]);
    return stdout.includes(needle);
  } catch {
    return false;
  }
}

/**
 * Returns the start time of a process in the system's format; undefined if it does not run. PID and start time identify
 * a process.
 */
export async function processStart(pid: number): Promise<string | undefined> {
  try {
    if (LINUX) return statFields(fs.readFileSync(`/proc/${pid}/stat`, "latin1"))[START_TIME];
    const { stdout } = await run("ps", ["-o", "lstart=", "-p", String(pid)]);
    return stdout.trim() || undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the fields of /proc/<pid>/stat from the third on. The second, the command, may contain blanks and
 * parentheses.
 */
const statFields = (text: string): readonly string[] => text.slice(text.lastIndexOf(")") + 2).split(" ");
const SESSION = 3;
const MINOR_FAULTS = 7;
const MAJOR_FAULTS = 9;
const CPU_TIMES = [11, 12, 13, 14] as const;
const START_TIME = 19;
const RSS_PAGES = 21;

/** Page size and clock tick from getconf(1). */
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

/** Parses lines of the form `pid pgid rss-KiB [[days-]hours:]minutes:seconds[.hundredths]`. */
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

/**
 * Returns the processes of a session without a leader that have an output or a working directory below `dir`. Linux
 * only.
 */
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
