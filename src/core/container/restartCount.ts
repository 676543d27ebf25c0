/** Restart count of a container whose earlier attempts the runtime has lost. Upstream: calcRestartCountByLogDir. */

const LOG_NAME = /^(\d+)\.log(?:\..*)?$/;

/** One more than the newest attempt that left a log, rotated or not; 0 without any. `names` is the container's log directory. */
export function restartCountByLogs(names: readonly string[]): number {
  const attempts = names.flatMap((name) => {
    const [, attempt] = LOG_NAME.exec(name) ?? [];
    return attempt === undefined ? [] : [Number(attempt)];
  });
  return attempts.reduce((count, attempt) => Math.max(count, attempt + 1), 0);
}
