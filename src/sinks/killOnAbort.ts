import type { ChildProcess } from "node:child_process";

/** Kills the program when `signal` aborts. The option `signal` of execFile sends SIGTERM, which a stuck program may ignore. */
export function killOnAbort(child: ChildProcess, signal: AbortSignal): void {
  signal.addEventListener("abort", () => child.kill("SIGKILL"), { once: true });
}
