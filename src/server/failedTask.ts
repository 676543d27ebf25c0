/** What becomes of a promise that nobody awaits: a rejection is logged and counted, and never ends the daemon. */
import { toKubeletError } from "../core/errors.ts";
import type { Telemetry } from "../ports/telemetry.ts";

/** A handler for `catch`; `task` says what failed. */
export const failedTask =
  ({ log, metrics }: Telemetry, task: string) =>
  (thrown: unknown): void => {
    log.error("A task of the server failed", { logger: "server", task, error: toKubeletError(thrown) });
    metrics.count("rxlet_failed_tasks_total", { task });
  };
