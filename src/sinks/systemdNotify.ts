/**
 * The ServiceManager port by systemd's own `systemd-notify`, because Node.js has no Unix datagram sockets: one short
 * process per message. As root the message names the kubelet as its sender (`--pid`), so that `NotifyAccess=main`
 * suffices; the service of another user needs `NotifyAccess=all`. Bounds: 5 s for a message, 64 KiB of its output.
 * Requires systemd 246 or later (`--no-block`).
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { type KubeletError, kubeletError } from "../core/errors.ts";
import { errnoOf, ioError } from "../core/ioError.ts";
import { deadline } from "../operators/deadline.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { Clock } from "../ports/clock.ts";
import type { ServiceManager } from "../ports/serviceManager.ts";
import { killOnAbort } from "./killOnAbort.ts";

/** The socket of the manager and the process that it watches. */
export interface SystemdNotifyOptions {
  readonly clock: Clock;
  /** NOTIFY_SOCKET: a path, or `@` and the name of an abstract socket. */
  readonly socket: string;
  /** The main process of the service. */
  readonly pid: number;
  /** Default: `systemd-notify` on the PATH. */
  readonly program?: string;
}

const DEADLINE_MS = 5_000;
const MAX_OUTPUT_BYTES = 64 * 1024;
const MAX_REASON_CHARS = 500;

const run = promisify(execFile);

/** Sends notifications to the socket. */
export function createSystemdNotify(options: SystemdNotifyOptions): ServiceManager {
  const { clock, socket, pid, program = "systemd-notify" } = options;
  const env = { PATH: process.env["PATH"], LC_ALL: "C", NOTIFY_SOCKET: socket };
  const late = (): KubeletError =>
    kubeletError("DeadlineExceeded", `${program}: ${socket} has not taken the message within ${DEADLINE_MS} ms`);
  const send = async (assignments: readonly string[], signal: AbortSignal): Promise<void> => {
    // Without --no-block the program waits until the manager has read the message, which a busy one may delay.
    const args = ["--no-block", `--pid=${pid}`, "--", ...assignments];
    const running = run(program, args, { env, maxBuffer: MAX_OUTPUT_BYTES });
    killOnAbort(running.child, signal);
    try {
      await running;
    } catch (thrown) {
      throw callError(program, socket, thrown);
    }
  };
  return {
    notify: (assignments) => fromCall((signal) => send(assignments, signal)).pipe(deadline(DEADLINE_MS, clock, late)),
  };
}

/** Passes on the text of the program, which has no error codes. */
function callError(program: string, socket: string, thrown: unknown): KubeletError {
  if (errnoOf(thrown) !== "") return ioError("run", program, thrown);
  const said = typeof thrown === "object" && thrown !== null && "stderr" in thrown ? String(thrown.stderr).trim() : "";
  const why = said.slice(0, MAX_REASON_CHARS) || String(thrown);
  return kubeletError("Io", `${program} cannot send to ${socket}: ${why}`, { cause: thrown });
}
