/** Shows the progress of a simulation: one rewritten line on a terminal, one line per tenth in a pipe. */
import type { Clock } from "../ports/clock.ts";
import type { ShrinkProgress, SimProgress } from "../sim/simulateSeed.ts";

/** The output. */
export interface SimScreen {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  /** Set when the output has lost its reader. */
  readonly errored?: Error | null;
}

/** Minimum time between two redraws. */
const REDRAW_MS = 100;
const BAR_CELLS = 30;
const TENTHS = 10;

/** Creates the display of one simulation. */
export function createSimProgress(screen: SimScreen, clock: Clock, seed: string) {
  const startedAt = clock.monotonicMs();
  let drawnAt = -Infinity;
  let tenth = 0;
  const onTerminal = screen.isTTY === true;
  return {
    show({ virtualMs, durationMs, events, faults }: SimProgress): void {
      const nowMs = clock.monotonicMs();
      const part = durationMs === 0 ? 1 : Math.min(1, virtualMs / durationMs);
      const phase = part < 1 ? `${Math.floor(part * 100)}%` : "healing";
      const ratio = Math.round(virtualMs / Math.max(1, nowMs - startedAt));
      const reported = `seed ${seed} ${phase}, ${events} events, ${faults} faults, ${ratio} times real time`;
      if (onTerminal) {
        if (nowMs - drawnAt < REDRAW_MS) return;
        drawnAt = nowMs;
        const full = Math.round(part * BAR_CELLS);
        const line = `[${"=".repeat(full)}${" ".repeat(BAR_CELLS - full)}] ${reported}`;
        screen.write(`\r\u001b[K${line.slice(0, (screen.columns ?? 80) - 1)}`);
      } else if (part < 1 && Math.floor(part * TENTHS) > tenth) {
        tenth = Math.floor(part * TENTHS);
        screen.write(`${reported}\n`);
      }
    },
    /** Only on a terminal: in a pipe the summary is enough. */
    showShrinking({ tries, maxTries, pods }: ShrinkProgress): void {
      if (!onTerminal) return;
      const line = `seed ${seed} failed; making it small: try ${tries} of about ${maxTries}, with ${pods} pods`;
      screen.write(`\r\u001b[K${line.slice(0, (screen.columns ?? 80) - 1)}`);
    },
    /** Clears the line. */
    end(): void {
      if (onTerminal) screen.write("\r\u001b[K");
    },
  };
}
