/**
 * Runs flexVolume drivers. Bounds: the deadline of the call, and MAX_PRINTED of output; beyond either, the driver and the
 * children of its process group are killed. A daemon that a driver leaves may keep the driver's output open: it ends with
 * the driver.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { kubeletError } from "../core/errors.ts";
import type { FlexOutput } from "../core/flex/flexAnswer.ts";
import { flexExecutable } from "../core/flex/flexDriverFiles.ts";
import { ioError } from "../core/ioError.ts";
import { deadline } from "../operators/deadline.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { Clock } from "../ports/clock.ts";
import type { FlexDrivers } from "../ports/flexDrivers.ts";

const USUAL_MS = 120_000;
const MAX_PRINTED = 64 * 1024;
/** Time for output that is on its way when a driver exits. */
const DRAIN_MS = 1_000;

/** Creates the calls to the drivers in the directory `path`. */
export function createFlexCalls(path: string, clock: Clock): Pick<FlexDrivers, "run"> {
  const root = resolve(path);
  return {
    run: (driver, args, { deadlineMs = USUAL_MS } = {}) =>
      fromCall((signal) => run(join(root, flexExecutable(driver)), args, signal)).pipe(
        deadline(deadlineMs, clock, () =>
          kubeletError(
            "DeadlineExceeded",
            `flexVolume driver ${driver}: ${args[0]}: no answer within ${deadlineMs} ms`,
          ),
        ),
      ),
  };
}

function run(program: string, args: readonly string[], signal: AbortSignal): Promise<FlexOutput> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], detached: true });
    const kill = (): void => killGroup(child);
    signal.addEventListener("abort", kill, { once: true });
    let printed = Buffer.alloc(0);
    const hear = (chunk: Buffer): void => {
      printed = Buffer.concat([printed, chunk]).subarray(0, MAX_PRINTED + 1);
      if (printed.length > MAX_PRINTED) kill();
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    const silence = (): void => {
      child.stdout.destroy();
      child.stderr.destroy();
    };
    child.on("error", (thrown) => {
      signal.removeEventListener("abort", kill);
      reject(ioError("run", program, thrown));
    });
    child.on("exit", () => {
      signal.removeEventListener("abort", kill);
      AbortSignal.timeout(DRAIN_MS).addEventListener("abort", silence, { once: true });
    });
    child.on("close", (status, killedBy) => {
      if (printed.length > MAX_PRINTED) {
        reject(kubeletError("Io", `flexVolume driver ${program} printed more than ${MAX_PRINTED} bytes`));
        return;
      }
      const failure = killedBy === null ? `exit status ${status}` : `signal: ${killedBy}`;
      resolve({ printed: printed.toString("utf8"), ...(status === 0 ? {} : { failure }) });
    });
  });
}

/** The group may have ended, or never begun. */
function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // ESRCH: nothing of it is left.
  }
}
