/**
 * subPath in a volume that a server or another process answers for: a process of its own works there, as the server may
 * answer one name and keep silent about the next. Bounds: DEADLINE_MS, MAX_PROGRAMS.
 */
import { fileURLToPath } from "node:url";
import { kubeletError, type KubeletError } from "../../core/errors.ts";
import type { BindInsideRequest } from "../../ports/mounts.ts";
import type { MakeInsideRequest } from "./insideVolume.ts";
import type { RunTool } from "./mountTools.ts";

/** How long a server may take for one subPath. */
const DEADLINE_MS = 10_000;
/** With those that not even SIGKILL ends; each takes some 40 MiB. */
const MAX_PROGRAMS = 8;
/** Compiled, the program is beside this one too, under the other ending. */
const PROGRAM = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./insideProgram.ts" : "./insideProgram.js", import.meta.url),
);

/** What the program is asked. */
export type InsideTask =
  | { readonly kind: "bind"; readonly request: BindInsideRequest }
  | { readonly kind: "make"; readonly request: MakeInsideRequest };

/** What it prints: nothing failed, or the failure. */
export interface InsideAnswer {
  readonly failure?: Pick<KubeletError, "code" | "message">;
}

export type InsideRemote = (task: InsideTask, run: RunTool) => Promise<void>;

/** Runs the program for one task. Owns which programs have not ended. */
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

/** The last line; what a tool said may come before it. */
function parse(said: string): InsideAnswer | undefined {
  const line = said.trimEnd().split("\n").at(-1) ?? "";
  return line.startsWith("{") ? (JSON.parse(line) as InsideAnswer) : undefined;
}
