/**
 * A terminal for exec without a native module: script(1) of util-linux owns the pseudo terminal and copies between it
 * and its own pipes. Linux only. Bounds: one resize at a time, MAX_MESSAGE bytes of an incomplete message.
 */
import { execFile } from "node:child_process";
import fs from "node:fs";
import type { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { killQuietly } from "./processTable.ts";

const run = promisify(execFile);
const TOOL_MS = 5_000;
const MAX_MESSAGE = 1024;
/**
 * `script` opens its terminal shortly after its start. A first resize checks for it this many times, ten milliseconds
 * apart.
 */
const OPEN_LOOKS = 200;
const MAX_SIZE = 65_535;

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
export async function followSizes(sizes: Readable, scriptPid: number, gone: AbortSignal): Promise<void> {
  let text = "";
  for await (const chunk of sizes) {
    text = `${text}${String(chunk)}`;
    const last = text.match(/\{[^{}]*\}/g)?.at(-1);
    text = text.slice(text.lastIndexOf("}") + 1).slice(-MAX_MESSAGE);
    const size = last === undefined ? undefined : parseSize(last);
    if (size !== undefined) await resize(scriptPid, size, gone);
  }
}

interface TerminalSize {
  readonly rows: number;
  readonly columns: number;
}

/** Parses a TerminalSize of the remote command protocol; undefined if invalid. */
export function parseSize(text: string): TerminalSize | undefined {
  try {
    const { Width: columns, Height: rows } = JSON.parse(text) as {
      readonly Width?: unknown;
      readonly Height?: unknown;
    };
    return isSize(columns) && isSize(rows) ? { rows, columns } : undefined;
  } catch {
    return undefined;
  }
}

const isSize = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value > 0 && value <= MAX_SIZE;

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
