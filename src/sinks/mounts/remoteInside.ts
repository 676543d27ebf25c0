/**
 * subPath in a volume served by a server or another process: a child process works there, because the server may
 * answer for one name and hang on the next. Bounds: DEADLINE_MS, MAX_PROGRAMS.
 */
import { fileURLToPath } from "node:url";
import { kubeletError, type KubeletError } from "../../core/errors.ts";
import type { BindInsideRequest } from "../../ports/mounts.ts";
import type { MakeInsideRequest } from "./insideVolume.ts";
import type { RunTool } from "./mountTools.ts";

/** Deadline of a server for one subPath. */
const DEADLINE_MS = 10_000;
/** Includes processes that not even SIGKILL ends; each takes about 40 MiB. */
const MAX_PROGRAMS = 8;
/** The compiled program is beside this file too, with the other extension. */
const PROGRAM = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./insideProgram.ts" : "./insideProgram.js", import.meta.url),
);

/** The task of the program. */
export type InsideTask =
  | { readonly kind: "bind"; readonly request: BindInsideRequest }
  | { readonly kind: "make"; readonly request: MakeInsideRequest };

/** The output of the program: success or a failure. */
export interface InsideAnswer {
  readonly failure?: Pick<KubeletError, "code" | "message">;
}

export type InsideRemote = (task: InsideTask, run: RunTool) => Promise<void>;

/** Runs the program for one task. Owns the set of running programs. */
export function createInsideRemote(deadlineMs = DEADLINE_MS): InsideRemote {
  let running = 0;
  return async (task, run) => {
    const { volumeRoot, subPath } = task.request;
    const what = `reach subPath ${JSON.stringify(subPath)} of ${volumeRoot}`;
    if (running >= MAX_PROGRAMS) {
      const why = `${MAX_PROGRAMS} processes in other remote volumes have not ended`;
      throw kubeletError("Unavailable", `cannot ${what}: ${why}`);
    }
    running += 1;
    const { said, status } = await run({
      what,
      program: process.execPath,
      args: [PROGRAM, JSON.stringify(task), "target" in task.request ? task.request.target : ""],
      statuses: "all",
      endedBy: "SIGTERM",
      deadlineMs,
      whenEnded: () => void (running -= 1),
    });
    const { failure } = parse(said) ?? { failure: { code: "Io", message: `cannot ${what}: exit status ${status}` } };
    if (failure !== undefined) throw kubeletError(failure.code, failure.message);
  };
}

/** Parses the last line; output of tools may precede it. */
function parse(said: string): InsideAnswer | undefined {
  const line = said.trimEnd().split("\n").at(-1) ?? "";
  return line.startsWith("{") ? (JSON.parse(line) as InsideAnswer) : undefined;
}
