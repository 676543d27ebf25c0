/** The stretch of time that the diagram shows. It follows the node's time, or stands still while it is paused. */

export interface TimeWindow {
  /** End in milliseconds since the epoch; undefined: follows the node's time. */
  readonly end: number | undefined;
  readonly spanMs: number;
}

export const MIN_SPAN_MS = 100;
export const MAX_SPAN_MS = 3_600_000;
export const FIRST_WINDOW: TimeWindow = { end: undefined, spanMs: 30_000 };

/** Room to the right of the present, as a share of the span: the newest marbles stay legible. */
const LEAD = 0.04;

export const isPaused = ({ end }: TimeWindow): boolean => end !== undefined;

/** Returns the end of the window at `now`. */
export const endOf = ({ end, spanMs }: TimeWindow, now: number): number => end ?? now + spanMs * LEAD;

/** Stops the window where it is at `now`. */
export const paused = (window: TimeWindow, now: number): TimeWindow => ({ ...window, end: endOf(window, now) });

/** Lets the window follow the node's time again. */
export const resumed = ({ spanMs }: TimeWindow): TimeWindow => ({ end: undefined, spanMs });

/**
 * Multiplies the span by `factor` within its bounds. The instant at `anchor`, a share of the span from the left, stays
 * where it is when the window is paused; else the present does.
 */
export function zoomed(window: TimeWindow, factor: number, anchor: number): TimeWindow {
  const spanMs = Math.min(MAX_SPAN_MS, Math.max(MIN_SPAN_MS, window.spanMs * factor));
  if (window.end === undefined) return { end: undefined, spanMs };
  return { end: window.end + (spanMs - window.spanMs) * (1 - anchor), spanMs };
}

/** Moves the window by `ms`; a window that follows is paused first. It never moves past the present. */
export function moved(window: TimeWindow, ms: number, now: number): TimeWindow {
  return { ...window, end: Math.min(endOf(window, now) + ms, now + window.spanMs * LEAD) };
}

/** Moves a paused window so that `at` is visible; a visible instant changes nothing. */
export function revealing(window: TimeWindow, at: number, now: number): TimeWindow {
  const end = endOf(window, now);
  const margin = window.spanMs * LEAD;
  if (at >= end - window.spanMs + margin && at <= end - margin) return window;
  return { ...window, end: at + window.spanMs / 2 };
}

/** Room on either side of what a window is fitted to: values are to the right of their marbles. */
const FIT_BEFORE = 0.1;
const FIT_AFTER = 0.35;

/** Returns a window that stands still and shows all stretches. */
export function fitting(stretches: readonly (readonly [from: number, to: number])[]): TimeWindow {
  const from = Math.min(...stretches.map(([first]) => first));
  const to = Math.max(...stretches.map(([, last]) => last));
  const spanMs = Math.min(MAX_SPAN_MS, Math.max(MIN_SPAN_MS, (to - from) * (1 + FIT_BEFORE + FIT_AFTER)));
  const spare = spanMs - (to - from);
  return { end: to + (spare * FIT_AFTER) / (FIT_BEFORE + FIT_AFTER), spanMs };
}

const STEPS_MS = [
  10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000,
] as const;

/** Returns the distance between ticks that are at least `minPx` apart in `widthPx`. */
export function tickStep(spanMs: number, widthPx: number, minPx: number): number {
  const least = (spanMs / Math.max(1, widthPx)) * minPx;
  return STEPS_MS.find((step) => step >= least) ?? 1_800_000;
}
