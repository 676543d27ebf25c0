/** Ends a process that cannot start or continue: writes the error to standard error and sets the exit code. */
import { toKubeletError } from "../core/errors.ts";
import { InvariantError, witnessBrokenInvariants } from "../core/invariant.ts";
import { endNow, endProcess } from "./endProcess.ts";

const EXIT_FAILURE = 1;
/** Exit code of a broken invariant, so that a supervisor can distinguish a bug. */
const EXIT_INVARIANT = 70;

/**
 * Reports the error and ends the process: at once for a broken invariant, since its state can no longer be trusted.
 */
export function fail(error: unknown): void {
  if (error instanceof InvariantError) {
    process.stderr.write(`rxlet: ${error.stack ?? error.message}\n`);
    endNow(EXIT_INVARIANT);
  }
  process.stderr.write(`rxlet: ${toKubeletError(error).message}\n`);
  endProcess(EXIT_FAILURE);
}

/** Makes a broken invariant end the process wherever it is thrown, even if code would catch it. */
export function failOnBrokenInvariants(): void {
  witnessBrokenInvariants(fail);
}
