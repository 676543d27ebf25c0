/**
 * Runs mount(8), umount(8) and their like. Bounds: the deadline of the call, 64 KiB of what they say. A tool that hangs
 * in the kernel is left behind, killed as soon as the kernel lets go of it.
 */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { kubeletError, toKubeletError } from "../../core/errors.ts";
import { ioError } from "../../core/ioError.ts";
import { deadline } from "../../operators/deadline.ts";
import { fromCall } from "../../operators/fromCall.ts";
import type { Call } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";

/** What is to be run. */
export interface Tool {
  readonly program: string;
  readonly args: readonly string[];
  /** What is done to what, for errors: `mount tmpfs at /x`. */
  readonly what: string;
  /** File descriptor of ours that the tool has as 3. */
  readonly descriptor?: number;
  /** Exit statuses that are no failure. Default 0 alone. */
  readonly statuses?: readonly number[] | "all";
  /** How it is ended when nobody waits any more. Default SIGKILL; a program that has tools of its own ends them first. */
  readonly endedBy?: "SIGKILL" | "SIGTERM";
  /** How long it may take, beside the deadline of the call: DeadlineExceeded after that. */
  readonly deadlineMs?: number;
  /** Called once the process is gone, which may be long after the run was given up. */
  whenEnded?(): void;
}

/** How a tool ended well. */
export interface ToolEnd {
  readonly status: number;
  /** Both of its outputs, as they came. */
  readonly said: string;
}

/** One run of a tool. */
export interface ToolRun extends Tool {
  /** One more, which it does not know of; its helpers have it too. */
  readonly inherited?: number;
  readonly signal: AbortSignal;
}

/** What shells add to the number of a signal. */
const KILLED = 128;
const MAX_SAID_CHARS = 64 * 1024;
const MAX_TOLD_CHARS = 1_000;

/** Ends well, or throws a KubeletError with the exit status and what the tool said, in the C locale. */
export function runTool({ inherited, signal, ...tool }: ToolRun): Promise<ToolEnd> {
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

/** Of mount(8) in upstream's words, which events show. */
function failure({ program, args, what }: Tool, how: string, said: string) {
  const words = said.trim().slice(0, MAX_TOLD_CHARS);
  if (program === "mount") {
    const shown = args.filter((word) => word !== "--").join(" ");
    const message = `mount failed: ${how}\nMounting command: mount\nMounting arguments: ${shown}\nOutput: ${words}\n`;
    return kubeletError("Io", message);
  }
  return kubeletError("Io", `cannot ${what}: ${how}${words === "" ? "" : `: ${words}`}`);
}

/** Runs mount(8); when it fails and one of the paths is not there, that is why: NotFound. */
export async function runMount(
  run: (tool: Tool) => Promise<ToolEnd>,
  tool: Omit<Tool, "program">,
  paths: readonly string[],
): Promise<void> {
  try {
    await run({ program: "mount", ...tool });
  } catch (thrown) {
    // A program looks, within the deadline of the call: a look of our own at a dead server would hold a thread of Node's.
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

/** A Call with the deadline all mount calls have. */
export const boundedCall = <T>(
  what: string,
  deadlineMs: number,
  clock: Clock,
  run: (signal: AbortSignal) => Promise<T>,
): Call<T> =>
  fromCall(run).pipe(
    deadline(deadlineMs, clock, () => kubeletError("DeadlineExceeded", `${what}: not done within ${deadlineMs} ms`)),
  );
