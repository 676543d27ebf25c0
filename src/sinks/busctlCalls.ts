/**
 * Calls on the system bus through systemd's own `busctl`: one short process per call, started by a resident shell where
 * one is free. Bounds: 10 seconds per call, 1 MiB of output. Requires systemd 240 or later (`--json`).
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { map } from "rxjs";
import { type KubeletError, kubeletError } from "../core/errors.ts";
import { errnoOf, ioError } from "../core/ioError.ts";
import { deadline } from "../operators/deadline.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { Call } from "../ports/call.ts";
import type { Clock } from "../ports/clock.ts";
import { killOnAbort } from "./killOnAbort.ts";
import { createToolShells, NOT_RUN, type ShellTool, type ToolShells } from "./toolShells.ts";

/** How busctl is run. */
export interface BusctlOptions {
  readonly clock: Clock;
  /** Default: `busctl` on the PATH. */
  readonly program?: string;
  /** Shells that start it. Default: own ones. */
  readonly shells?: ToolShells;
}

const DEADLINE_MS = 10_000;
const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_REASON_CHARS = 500;

const runChild = promisify(execFile);

interface End {
  readonly status: number;
  readonly said: string;
}

/** Resolves with undefined when no shell ran the program. With `isQuiet`, `said` has no stderr. */
function runInShell(
  shells: ToolShells,
  tool: Pick<ShellTool, "program" | "args" | "isQuiet">,
  signal: AbortSignal,
): Promise<End | undefined> {
  return new Promise((resolve) => {
    let said = "";
    const kill = shells.start({
      ...tool,
      hear(piece) {
        if (said.length < MAX_ANSWER_BYTES) said += piece.toString("utf8");
      },
      whenEnded: (status) => resolve(status === undefined || NOT_RUN.has(status) ? undefined : { status, said }),
    });
    if (kill === undefined) resolve(undefined);
    else signal.addEventListener("abort", kill, { once: true });
  });
}

/** Passes on the error text of busctl unchanged, because busctl has no error codes. */
const refused = (what: string, said: string, how: string): KubeletError =>
  kubeletError("Io", `${what} failed: ${said.trim().slice(0, MAX_REASON_CHARS) || how}`);

function childError(what: string, program: string, thrown: unknown): KubeletError {
  if (errnoOf(thrown) !== "") return ioError("run", program, thrown);
  const said = typeof thrown === "object" && thrown !== null && "stderr" in thrown ? String(thrown.stderr) : "";
  return refused(what, said, String(thrown));
}

/** Returns the `data` of a JSON answer. */
function dataOf(what: string, answer: string): unknown {
  try {
    const { data } = JSON.parse(answer) as { readonly data?: unknown };
    return data;
  } catch (thrown) {
    throw kubeletError("Unknown", `${what} was answered with what is no JSON`, { cause: thrown });
  }
}

/** The two forms of a call; `what` names it in errors. */
export interface BusctlCalls {
  /** Runs busctl with these words and drops the answer. */
  order(what: string, words: readonly string[]): Call<void>;
  /** Runs busctl with these words and returns the data of the answer. */
  ask(what: string, words: readonly string[]): Call<unknown>;
}

/** Creates the calls. Errors: NotFound without busctl, DeadlineExceeded, Io with the text of busctl. */
export function busctlCalls({ clock, program = "busctl", shells = createToolShells() }: BusctlOptions): BusctlCalls {
  const call = (what: string, words: readonly string[], isQuestion: boolean): Call<string> => {
    const late = (): KubeletError => kubeletError("DeadlineExceeded", `${what}: no answer within ${DEADLINE_MS} ms`);
    const args = ["--system", "--json=short", "--", ...words];
    return fromCall(async (signal) => {
      const end = await runInShell(shells, { program, args, isQuiet: isQuestion }, signal);
      if (end?.status === 0) return end.said;
      // A question may be asked twice: a child keeps the answer apart from the reason of a failure.
      if (end !== undefined && !isQuestion) throw refused(what, end.said, `${program}: exit status ${end.status}`);
      signal.throwIfAborted();
      const answer = runChild(program, args, { maxBuffer: MAX_ANSWER_BYTES });
      killOnAbort(answer.child, signal);
      return answer.then(
        ({ stdout }) => stdout,
        (thrown: unknown) => {
          throw childError(what, program, thrown);
        },
      );
    }).pipe(deadline(DEADLINE_MS, clock, late));
  };
  return {
    order: (what, words) => call(what, words, false).pipe(map(() => undefined)),
    ask: (what, words) => call(what, words, true).pipe(map((answer) => dataOf(what, answer))),
  };
}
