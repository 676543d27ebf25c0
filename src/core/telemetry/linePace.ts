/** How many log lines of one kind are written: what repeats itself may not fill the disk. */

/** Lines of a window of `periodMs`. */
export interface LinePace {
  readonly sinceMs: number;
  readonly written: number;
  /** Lines left out since the last one written. */
  readonly suppressed: number;
}

export interface LinePaceLimits {
  readonly periodMs: number;
  readonly lines: number;
}

export const FIRST_PACE: LinePace = { sinceMs: Number.NEGATIVE_INFINITY, written: 0, suppressed: 0 };

/** Whether a line at `nowMs` is written, which then tells how many were left out before it, and the pace afterwards. */
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
