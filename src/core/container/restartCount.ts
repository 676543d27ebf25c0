/** Restart count of a container when the runtime has lost its earlier attempts. Upstream: calcRestartCountByLogDir. */

const LOG_NAME = /^(\d+)\.log(?:\..*)?$/;

/**
 * Returns one more than the newest attempt with a log file, rotated or not; 0 without any. `names` lists the
 * container's log directory.
 */
export function restartCountByLogs(names: readonly string[]): number {
  const attempts = names.flatMap((name) => {
    const [, attempt] = LOG_NAME.exec(name) ?? [];
    return attempt === undefined ? [] : [Number(attempt)];
  });
  return attempts.reduce((count, attempt) => Math.max(count, attempt + 1), 0);
}
