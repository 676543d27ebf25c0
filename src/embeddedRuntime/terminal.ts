/**
 * A terminal for exec without a native module: script(1) of util-linux owns the pseudo terminal and copies between it
 * and its own pipes. Linux only. Bound: one resize at a time.
 */
import { execFile } from "node:child_process";
import fs from "node:fs";
import type { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { followSizes as followTerminalSizes } from "../criServer/terminalSizes.ts";
import type { TerminalSize } from "../criServer/terminalSizes.ts";
import { killQuietly } from "./processTable.ts";

const run = promisify(execFile);
const TOOL_MS = 5_000;
/**
 * `script` opens its terminal shortly after its start. A first resize checks for it this many times, ten milliseconds
 * apart.
 */
const OPEN_LOOKS = 200;

let tool: Promise<string | undefined> | undefined;

/** Returns why this machine cannot provide terminals; undefined if it can. */
export function terminalFault(): Promise<string | undefined> {
  tool ??= process.platform === "linux" ? checkTool() : Promise.resolve("terminals need Linux");
  return tool;
}

/** Other programs of this name, such as that of busybox, have different flags. */
async function checkTool(): Promise<string | undefined> {
  const { stdout } = await run("script", ["--version"], { timeout: TOOL_MS }).catch(() => ({ stdout: "" }));
  return stdout.includes("util-linux") ? undefined : "terminals need the program script of util-linux";
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * Wraps a shell command so that it runs on a terminal; returns program and arguments. The exit code is that of the
 * shell.
 */
export function onTerminal(shell: readonly string[]): readonly [string, readonly string[]] {
  const line = `unset SCRIPT; exec ${shell.map(quote).join(" ")}`;
  return ["script", ["--quiet", "--return", "--flush", "--command", line, "/dev/null"]];
}

/** Sets TERM for a command on a terminal, as containerd does. */
export const withTerminalKind = (command: readonly string[]): readonly string[] => [
  "/bin/sh",
  "-c",
  'export TERM="${TERM-xterm}"; exec "$@"',
  "sh",
  ...command,
];

/** Kills the processes on the terminal of this `script`, which have their own session. */
export function killOnTerminal(scriptPid: number): void {
  for (const pid of readText(`/proc/${scriptPid}/task/${scriptPid}/children`).split(" ").map(Number)) {
    if (pid > 0) killQuietly(-pid, "SIGKILL");
  }
}

/**
 * Applies the terminal sizes that the client sends until the stream ends or `gone` aborts. Rejects when the client
 * disconnects.
 */
export const followSizes = (sizes: Readable, scriptPid: number, gone: AbortSignal): Promise<void> =>
  followTerminalSizes(sizes, (size) => resize(scriptPid, size, gone));

async function resize(scriptPid: number, { rows, columns }: TerminalSize, gone: AbortSignal): Promise<void> {
  for (let look = 0; look < OPEN_LOOKS && !gone.aborted; look++) {
    const terminal = terminalOf(scriptPid);
    if (terminal !== undefined) {
      const args = ["-F", terminal, "rows", String(rows), "cols", String(columns)];
      return void (await run("stty", args, { timeout: TOOL_MS }).catch(() => undefined));
    }
    await pause(10);
  }
}

/** Returns the terminal whose master this process holds; undefined if it has none. */
function terminalOf(pid: number): string | undefined {
  try {
    for (const fd of fs.readdirSync(`/proc/${pid}/fdinfo`)) {
      const [, index] = /^tty-index:\s*(\d+)$/m.exec(readText(`/proc/${pid}/fdinfo/${fd}`)) ?? [];
      if (index !== undefined) return `/dev/pts/${index}`;
    }
  } catch {
    // The process has exited.
  }
  return undefined;
}

function readText(file: string): string {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
