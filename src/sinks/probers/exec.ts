/**
 * Exec probes: ExecSync in the container, killed by the runtime at the timeout. Bounds: so many commands at once, the
 * rest waits its turn; 10 KiB of output; a few seconds for a runtime that does not keep to the timeout.
 * Upstream: pkg/probe/exec, newExecInContainer.
 */
import { catchError, map, of } from "rxjs";
import { toKubeletError } from "../../core/errors.ts";
import type { ProbeOutcome } from "../../core/probe/probeTypes.ts";
import { createSemaphore } from "../../operators/semaphore.ts";
import type { Call } from "../../ports/call.ts";
import type { RuntimeService } from "../../ports/cri.ts";
import type { ExecProbeRequest } from "../../ports/probers.ts";

/** How much output is told, in bytes. */
const MAX_OUTPUT_BYTES = 10 * 1024;
/** Commands of probes that run at once: forking a shell costs more than anything else a probe does. */
const EXEC_PROBES_AT_ONCE = 32;
/** How much longer than the timeout the runtime may take to say so; leaving the call makes it kill the command. */
const ANSWER_MS = 5_000;

/** Exec probes on `runtime`. */
export function createExecProbe(
  runtime: Pick<RuntimeService, "execSync">,
  limit = EXEC_PROBES_AT_ONCE,
): (request: ExecProbeRequest) => Call<ProbeOutcome> {
  const room = createSemaphore(limit);
  return ({ containerId, command, timeoutMs }) => {
    const timeout = BigInt(Math.ceil(timeoutMs / 1000));
    const call = runtime.execSync({ containerId, cmd: command, timeout }, { deadlineMs: timeoutMs + ANSWER_MS });
    return room.run(call).pipe(
      map(({ exitCode, stdout, stderr }): ProbeOutcome => {
        const output = textOf(stdout, stderr);
        if (exitCode === 0) return { result: "success", output };
        // Differs from upstream, whose event says nothing about a command that prints nothing.
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

/** Both streams, one after the other, up to the bound; what is no UTF-8 is replaced. */
function textOf(stdout: Uint8Array, stderr: Uint8Array): string {
  const head = stdout.subarray(0, MAX_OUTPUT_BYTES);
  const tail = stderr.subarray(0, MAX_OUTPUT_BYTES - head.length);
  return new TextDecoder().decode(head) + new TextDecoder().decode(tail);
}
