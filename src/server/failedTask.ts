/** Handles rejections of promises that are not awaited: logs and counts them, so they never terminate the daemon. */
import { toKubeletError } from "../core/errors.ts";
import type { Telemetry } from "../ports/telemetry.ts";

/** Returns a handler for `catch`. `task` names the operation in the log and the metric. */
export const failedTask =
  ({ log, metrics }: Telemetry, task: string) =>
  (thrown: unknown): void => {
    log.error("A task of the server failed", { logger: "server", task, error: toKubeletError(thrown) });
    metrics.count("rxlet_failed_tasks_total", { task });
  };
