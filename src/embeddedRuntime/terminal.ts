/**
 * A terminal for exec without a native module: script(1) of util-linux owns the pseudo terminal and copies between it
 * and its own pipes. Linux only. Bounds: one resize at a time, MAX_MESSAGE bytes of one that is not complete.
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
/** `script` opens its terminal soon after its start; a first size waits this long for it, ten milliseconds each. */
const OPEN_LOOKS = 200;
const MAX_SIZE = 65_535;

let tool: Promise<string | undefined> | undefined;

/** Why there is no terminal on this machine; undefined when there is one. */
export function terminalFault(): Promise<string | undefined> {
  tool ??= process.platform === "linux" ? checkTool() : Promise.resolve("terminals need Linux");
  return tool;
}

/** Other programs of this name, such as that of busybox, take other flags. */
async function checkTool(): Promise<string | undefined> {
  const { stdout } = await run("script", ["--version"], { timeout: TOOL_MS }).catch(() => ({ stdout: "" }));
  return stdout.includes("util-linux") ? undefined : "terminals need the program script of util-linux";
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** `shell` with its arguments on a terminal, as program and arguments. Its exit code is that of the shell. */
export function onTerminal(shell: readonly string[]): readonly [string, readonly string[]] {
  const line = `unset SCRIPT; exec ${shell.map(quote).join(" ")}`;
  return ["script", ["--quiet", "--return", "--flush", "--command", line, "/dev/null"]];
}

/** As containerd has it: a command on a terminal knows its kind. */
export const withTerminalKind = (command: readonly string[]): readonly string[] => [
  "/bin/sh",
  "-c",
  'export TERM="${TERM-xterm}"; exec "$@"',
  "sh",
  ...command,
];

/** Kills what runs on the terminal of this `script`, which is in a session of its own. */
export function killOnTerminal(scriptPid: number): void {
  for (const pid of readText(`/proc/${scriptPid}/task/${scriptPid}/children`).split(" ").map(Number)) {
    if (pid > 0) killQuietly(-pid, "SIGKILL");
  }
}

/** Gives the terminal the sizes that the client sends, until it sends no more or `gone`. Rejects when the client goes. */
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

/** A TerminalSize of the remote command protocol; undefined for anything else. */
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

/** The terminal whose other end this process holds; undefined while it has none. */
function terminalOf(pid: number): string | undefined {
  try {
    for (const fd of fs.readdirSync(`/proc/${pid}/fdinfo`)) {
      const [, index] = /^tty-index:\s*(\d+)$/m.exec(readText(`/proc/${pid}/fdinfo/${fd}`)) ?? [];
      if (index !== undefined) return `/dev/pts/${index}`;
    }
  } catch {
    // It has ended.
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
