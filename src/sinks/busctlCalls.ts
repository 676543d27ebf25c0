/**
 * Calls on the system bus through systemd's own `busctl`: one short process per call. Bounds: 10 seconds per call, 1 MiB
 * of output. Requires systemd 240 or later (`--json`).
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

/** The path of busctl. */
export interface BusctlOptions {
  readonly clock: Clock;
  /** Default: `busctl` on the PATH. */
  readonly program?: string;
}

const DEADLINE_MS = 10_000;
const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_REASON_CHARS = 500;

const run = promisify(execFile);

/** Passes on the error text of busctl unchanged, because busctl has no error codes. */
function callError(what: string, program: string, thrown: unknown): KubeletError {
  if (errnoOf(thrown) !== "") return ioError("run", program, thrown);
  const said = typeof thrown === "object" && thrown !== null && "stderr" in thrown ? String(thrown.stderr).trim() : "";
  return kubeletError("Io", `${what} failed: ${said.slice(0, MAX_REASON_CHARS) || String(thrown)}`, { cause: thrown });
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
export function busctlCalls({ clock, program = "busctl" }: BusctlOptions): BusctlCalls {
  const call = (what: string, words: readonly string[]): Call<string> => {
    const late = (): KubeletError => kubeletError("DeadlineExceeded", `${what}: no answer within ${DEADLINE_MS} ms`);
    return fromCall((signal) => {
      const answer = run(program, ["--system", "--json=short", "--", ...words], { maxBuffer: MAX_ANSWER_BYTES });
      killOnAbort(answer.child, signal);
      return answer.then(
        ({ stdout }) => stdout,
        (thrown: unknown) => {
          throw callError(what, program, thrown);
        },
      );
    }).pipe(deadline(DEADLINE_MS, clock, late));
  };
  return {
    order: (what, words) => call(what, words).pipe(map(() => undefined)),
    ask: (what, words) => call(what, words).pipe(map((answer) => dataOf(what, answer))),
  };
}
