/**
 * Resident shells that start tools. Node forks the whole process for each child, which stops the main thread for 2 ms
 * at 50 MiB and for 14 ms at 150 MiB; a shell of 1 MiB forks beside it. Each shell runs one tool at a time. Bounds:
 * four shells; they end with this process, when their tools have ended.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";

/** A tool for a shell. Its standard input is /dev/null, its locale C. */
export interface ShellTool {
  readonly program: string;
  readonly args: readonly string[];
  /** Its stderr goes to /dev/null. Default: it is heard. */
  readonly isQuiet?: boolean;
  /** Called with each piece of stdout and stderr, in the order of arrival. */
  hear(piece: Buffer): void;
  /** Called once: with the exit status, or 128 and the signal of a killed tool; undefined if its shell was killed. */
  whenEnded(status: number | undefined): void;
}

export interface ToolShells {
  /**
   * Starts the tool and returns the function that kills it; undefined if nothing was started, because all shells are
   * busy or none can run. Shells and tools inherit the descriptor, if any, which must be the same in all calls.
   */
  start(tool: ShellTool, inherited?: number): (() => void) | undefined;
}

/** Exit status of a shell for a program that it cannot find or run. */
export const NOT_RUN: ReadonlySet<number> = new Set([126, 127]);

const MAX_SHELLS = 4;
/** Precedes the numbers that a shell reports; the output of a tool has no such byte. */
const MARK = 0;
const LINE_FEED = 10;

/** Errors of a program that is not there. Any other, such as a lack of processes, may pass. */
const MISSING: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "EACCES"]);

/** Starts shells as they are needed and keeps them. Without `program` no tool is ever started. */
export function createToolShells(program = "/bin/sh"): ToolShells {
  let shells: readonly Shell[] = [];
  let isMissing = false;
  return {
    start(tool, inherited) {
      if ([tool.program, ...tool.args].some((word) => word.includes("\0"))) return undefined;
      shells = shells.filter((shell) => !shell.isLost());
      const free = shells.find((shell) => shell.isFree());
      if (free !== undefined) return free.start(tool);
      if (isMissing || shells.length === MAX_SHELLS) return undefined;
      const shell = startShell(program, inherited, (code) => {
        isMissing ||= code !== undefined && MISSING.has(code);
      });
      if (shell === undefined) return undefined;
      shells = [...shells, shell];
      return shell.start(tool);
    },
  };
}

interface Shell {
  isFree(): boolean;
  isLost(): boolean;
  start(tool: ShellTool): () => void;
}

/** Returns undefined if the shell cannot run; `whenRefused` gets the code of the error. */
function startShell(
  program: string,
  inherited: number | undefined,
  whenRefused: (code: string | undefined) => void,
): Shell | undefined {
  const child = trySpawn(program, inherited);
  if (child === undefined) return undefined;
  const [input, output] = child.stdio as unknown as [Socket, Socket];
  let isLost = false;
  let current: Running | undefined;
  // Only a running tool keeps this process running.
  const finish = (status: number | undefined): void => {
    const ended = current;
    current = undefined;
    output.unref();
    ended?.tool.whenEnded(status);
  };
  const lose = (): void => {
    isLost = true;
  };
  child.on("exit", lose).on("error", (error: NodeJS.ErrnoException) => {
    lose();
    if (child.pid === undefined) whenRefused(error.code);
  });
  input.on("error", lose);
  // A tool that outlives its shell keeps the output open.
  output.on("error", lose).on("close", () => {
    lose();
    finish(undefined);
  });
  if (child.pid === undefined) return undefined;
  child.unref();
  input.unref();
  output.unref();
  const hearNumber = (number: number): void => {
    if (current === undefined) return;
    if (current.pid === undefined) {
      current.pid = number;
      if (current.isUnwanted) kill(current);
      return;
    }
    finish(number);
  };
  output.on(
    "data",
    reports((piece) => current?.tool.hear(piece), hearNumber),
  );
  return {
    isFree: () => current === undefined,
    isLost: () => isLost,
    start(tool) {
      const running: Running = { tool, pid: undefined, isUnwanted: false };
      current = running;
      output.ref();
      input.write(scriptOf(tool));
      return () => {
        running.isUnwanted = true;
        if (current === running) kill(running);
      };
    },
  };
}

/** Returns undefined without memory for a child, or without the descriptor: Node throws these errors. */
function trySpawn(program: string, inherited: number | undefined): ChildProcess | undefined {
  try {
    return spawn(program, ["-s"], {
      stdio: ["pipe", "pipe", "ignore", inherited ?? "ignore"],
      env: { ...process.env, LC_ALL: "C" },
    });
  } catch {
    return undefined;
  }
}

interface Running {
  readonly tool: ShellTool;
  /** undefined until the shell has reported it. */
  pid: number | undefined;
  isUnwanted: boolean;
}

/** Kills a tool for which its shell still waits, so the process id is still its own. */
function kill({ pid }: Running): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended; the report of its status is on the way.
  }
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** Runs the tool, reports its process id, waits for it and reports its status. */
const scriptOf = ({ program, args, isQuiet = false }: ShellTool): string =>
  `${[program, ...args].map(quoted).join(" ")} </dev/null ${isQuiet ? "2>/dev/null" : "2>&1"} &
printf '\\000%d\\n' $!
wait $!
printf '\\000%d\\n' $?
`;

/** Divides what a shell says into the output of its tool and the numbers that the shell reports. */
function reports(hear: (piece: Buffer) => void, hearNumber: (number: number) => void): (piece: Buffer) => void {
  let digits: string | undefined;
  return (piece) => {
    let rest = piece;
    while (rest.length > 0) {
      const at = rest.indexOf(digits === undefined ? MARK : LINE_FEED);
      const before = at === -1 ? rest : rest.subarray(0, at);
      rest = at === -1 ? rest.subarray(rest.length) : rest.subarray(at + 1);
      if (digits !== undefined) digits += before.toString("latin1");
      else if (before.length > 0) hear(before);
      if (at === -1) return;
      if (digits === undefined) {
        digits = "";
        continue;
      }
      const number = Number(digits);
      digits = undefined;
      hearNumber(number);
    }
  };
}
