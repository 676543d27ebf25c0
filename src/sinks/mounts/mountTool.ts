/**
 * Runs mount(8), umount(8) and similar tools. Bounds: the deadline of the call, 64 KiB of output. A tool that hangs
 * in the kernel is killed and abandoned; it exits when the kernel releases it.
 */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import { ioError } from "../../core/ioError.ts";
import { deadline } from "../../operators/deadline.ts";
import { fromCall } from "../../operators/fromCall.ts";
import type { Call } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";
import { NOT_RUN, type ToolShells } from "../toolShells.ts";

/** A command to run. */
export interface Tool {
  readonly program: string;
  readonly args: readonly string[];
  /** The operation, for errors: `mount tmpfs at /x`. */
  readonly what: string;
  /** Our file descriptor that the tool inherits as 3. */
  readonly descriptor?: number;
  /** Exit statuses that mean success. Default: 0 only. */
  readonly statuses?: readonly number[] | "all";
  /**
   * Signal that ends the tool when the call is cancelled. Default: SIGKILL; a program with tools of its own kills
   * them first.
   */
  readonly endedBy?: "SIGKILL" | "SIGTERM";
  /** Timeout beside the deadline of the call; the error is DeadlineExceeded. */
  readonly deadlineMs?: number;
  /** A shell may start the tool: it needs neither a descriptor nor a terminal, and leaves no daemon behind. */
  readonly mayUseShell?: boolean;
  /** Called when the process has exited, which may be long after the call gave up. */
  whenEnded?(): void;
}

/** The result of a successful tool. */
export interface ToolEnd {
  readonly status: number;
  /** The tool's stdout and stderr in the order of arrival. */
  readonly said: string;
}

/** Starts one tool. */
export interface ToolRun extends Tool {
  /** A further descriptor, inherited by the tool without its knowledge and by its helpers. */
  readonly inherited?: number;
  /** Shells for tools that may use one. Default: this process starts all tools. */
  readonly shells?: ToolShells;
  readonly signal: AbortSignal;
}

/** Shells add this offset to the number of a signal. */
const KILLED = 128;
const MAX_SAID_CHARS = 64 * 1024;
const MAX_REPORTED_CHARS = 1_000;

/** Resolves on success; otherwise throws a KubeletError with the exit status and the output, in the C locale. */
export async function runTool(run: ToolRun): Promise<ToolEnd> {
  return (await runInShell(run)) ?? runAsChild(run);
}

/** Returns undefined when no shell ran the tool. */
function runInShell({ inherited, shells, signal, ...tool }: ToolRun): Promise<ToolEnd | undefined> | undefined {
  const { program, args, mayUseShell = false, statuses = [0], deadlineMs } = tool;
  if (!mayUseShell || deadlineMs !== undefined || signal.aborted) return undefined;
  if (shells === undefined || inherited === undefined) return undefined;
  return new Promise((resolve, reject) => {
    let said = "";
    const cancel = (): void => {
      kill?.();
      reject(kubeletError("Cancelled", `cannot ${tool.what}: cancelled`));
    };
    const kill = shells.start(
      {
        ...{ program, args },
        hear(piece) {
          if (said.length < MAX_SAID_CHARS) said += piece.toString("utf8");
        },
        whenEnded(status) {
          signal.removeEventListener("abort", cancel);
          if (status !== undefined && NOT_RUN.has(status)) {
            resolve(undefined);
            return;
          }
          tool.whenEnded?.();
          if (status === undefined) reject(failure(tool, "its shell was ended", said));
          else if (statuses === "all" || statuses.includes(status)) resolve({ status, said });
          else reject(failure(tool, howEnded(status), said));
        },
      },
      inherited,
    );
    if (kill === undefined) resolve(undefined);
    else signal.addEventListener("abort", cancel, { once: true });
  });
}

/** Formats the status that a shell reports. */
function howEnded(status: number): string {
  const [name] = Object.entries(constants.signals).find(([, number]) => number === status - KILLED) ?? [];
  return name === undefined ? `exit status ${status}` : `signal: ${name}`;
}

function runAsChild({ inherited, signal, ...tool }: ToolRun): Promise<ToolEnd> {
  const { program, args, descriptor, statuses = [0], endedBy = "SIGKILL", deadlineMs } = tool;
  const late = deadlineMs === undefined ? undefined : AbortSignal.timeout(deadlineMs);
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ["ignore", "pipe", "pipe", descriptor ?? "ignore", inherited ?? "ignore"],
      env: { ...process.env, LC_ALL: "C" },
      signal: late === undefined ? signal : AbortSignal.any([signal, late]),
      killSignal: endedBy,
    });
    let said = "";
    const hear = (chunk: Buffer): void => {
      if (said.length < MAX_SAID_CHARS) said += chunk.toString("utf8");
    };
    child.stdout?.on("data", hear);
    child.stderr?.on("data", hear);
    child.on("error", (thrown) => {
      if (child.pid === undefined) tool.whenEnded?.();
      if (late?.aborted === true && !signal.aborted) reject(tooLate(tool));
      else reject(ioError("run", program, thrown));
    });
    child.on("exit", () => tool.whenEnded?.());
    child.on("close", (code, killedBy) => {
      const status = code ?? KILLED + (killedBy === null ? 0 : constants.signals[killedBy]);
      if (statuses === "all" || (code !== null && statuses.includes(code))) resolve({ status, said });
      else reject(failure(tool, killedBy === null ? `exit status ${code}` : `signal: ${killedBy}`, said));
    });
  });
}

const tooLate = ({ what, deadlineMs }: Tool) =>
  kubeletError("DeadlineExceeded", `cannot ${what}: its file system does not answer within ${deadlineMs} ms`);

/** Formats a failure of mount(8) in upstream's words, which events show. */
function failure({ program, args, what }: Tool, how: string, said: string) {
  const words = said.trim().slice(0, MAX_REPORTED_CHARS);
  if (program === "mount") {
    const shown = args.filter((word) => word !== "--").join(" ");
    const message = `mount failed: ${how}\nMounting command: mount\nMounting arguments: ${shown}\nOutput: ${words}\n`;
    return kubeletError("Io", message);
  }
  return kubeletError("Io", `cannot ${what}: ${how}${words === "" ? "" : `: ${words}`}`);
}

/** Runs mount(8); if it fails and one of the paths is missing, throws NotFound. */
export async function runMount(
  run: (tool: Tool) => Promise<ToolEnd>,
  tool: Omit<Tool, "program">,
  paths: readonly string[],
): Promise<void> {
  try {
    await run({ program: "mount", ...tool });
  } catch (thrown) {
    // A child process checks, within the deadline of the call: our own stat on a dead server would block one of
    // Node's threads.
    for (const path of paths) {
      const args = ["-c", "%f", "--", path];
      const found = await run({ program: "stat", args, what: `look at ${path}`, statuses: "all" }).catch(
        () => undefined,
      );
      if (found === undefined || found.status === 0 || !found.said.includes("No such file or directory")) continue;
      throw kubeletError("NotFound", toKubeletError(thrown).message, { cause: thrown });
    }
    throw thrown;
  }
}

/** Creates a Call with the common deadline of mount calls. */
export const boundedCall = <T>(
  what: string,
  deadlineMs: number,
  clock: Clock,
  run: (signal: AbortSignal) => Promise<T>,
): Call<T> =>
  fromCall(run).pipe(
    deadline(deadlineMs, clock, () => kubeletError("DeadlineExceeded", `${what}: not done within ${deadlineMs} ms`)),
  );
