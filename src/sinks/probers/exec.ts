/**
 * Exec probes: ExecSync in the container; the runtime kills the command at the timeout. Bounds: a fixed number of
 * concurrent commands, the rest is queued; 10 KiB of output; a few extra seconds for a runtime that exceeds the
 * timeout. Upstream: pkg/probe/exec, newExecInContainer.
 */
import { catchError, map, of } from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import type { ProbeOutcome } from "../../core/probe/probeTypes.ts";
import { createSemaphore } from "../../operators/semaphore.ts";
import type { Call } from "../../ports/call.ts";
import type { RuntimeService } from "../../ports/cri.ts";
import type { ExecProbeRequest } from "../../ports/probers.ts";

/** Bytes of output that a probe result includes. */
const MAX_OUTPUT_BYTES = 10 * 1024;
/** Concurrent probe commands: forking a shell is the most expensive part of a probe. */
const EXEC_PROBES_AT_ONCE = 32;
/** Extra time for the runtime to report a timeout; cancelling the call makes the runtime kill the command. */
const ANSWER_MS = 5_000;

/** Creates exec probes on `runtime`. */
export function createExecProbe(
  runtime: Pick<RuntimeService, "execSync">,
  limit = EXEC_PROBES_AT_ONCE,
): (request: ExecProbeRequest) => Call<ProbeOutcome> {
  const semaphore = createSemaphore(limit);
  return ({ containerId, command, timeoutMs }) => {
    const timeout = BigInt(Math.ceil(timeoutMs / 1000));
    const call = runtime.execSync({ containerId, cmd: command, timeout }, { deadlineMs: timeoutMs + ANSWER_MS });
    return semaphore.run(call).pipe(
      map(({ exitCode, stdout, stderr }): ProbeOutcome => {
        const output = textOf(stdout, stderr);
        if (exitCode === 0) return { result: "success", output };
        // Differs from upstream, whose event is empty for a command without output.
        const said = output.trim() === "" ? `command exited with code ${exitCode} and printed nothing` : output;
        return { result: "failure", output: said };
      }),
      catchError((thrown: unknown) => {
        const error = toKubeletError(thrown);
        if (error.code !== "DeadlineExceeded") throw error;
        const output = `command timed out: ${JSON.stringify(command.join(" "))} timed out after ${timeout}s`;
        return of<ProbeOutcome>({ result: "failure", output });
      }),
    );
  };
}

/** Returns stdout and then stderr up to the bound; replaces invalid UTF-8. */
function textOf(stdout: Uint8Array, stderr: Uint8Array): string {
  const head = stdout.subarray(0, MAX_OUTPUT_BYTES);
  const tail = stderr.subarray(0, MAX_OUTPUT_BYTES - head.length);
  return new TextDecoder().decode(head) + new TextDecoder().decode(tail);
}
