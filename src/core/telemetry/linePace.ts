/** Limits the rate of repeated log lines of one kind, so that they cannot fill the disk. */

/** Lines written in the current window of `periodMs`. */
export interface LinePace {
  readonly sinceMs: number;
  readonly written: number;
  /** Lines suppressed since the last written one. */
  readonly suppressed: number;
}

/** Allows at most `lines` per window of `periodMs`. */
export interface LinePaceLimits {
  readonly periodMs: number;
  readonly lines: number;
}

/** The pace before the first line. */
export const FIRST_PACE: LinePace = { sinceMs: Number.NEGATIVE_INFINITY, written: 0, suppressed: 0 };

/**
 * Decides whether a line at `nowMs` is written, and returns the number of lines suppressed before it and the new pace.
 */
export function paceLine(
  pace: LinePace,
  nowMs: number,
  { periodMs, lines }: LinePaceLimits,
): { readonly pace: LinePace; readonly isWritten: boolean; readonly suppressed: number } {
  const isNew = nowMs - pace.sinceMs >= periodMs;
  const [sinceMs, written] = isNew ? [nowMs, 0] : [pace.sinceMs, pace.written];
  if (written >= lines) {
    return { pace: { ...pace, suppressed: pace.suppressed + 1 }, isWritten: false, suppressed: 0 };
  }
  return { pace: { sinceMs, written: written + 1, suppressed: 0 }, isWritten: true, suppressed: pace.suppressed };
}
