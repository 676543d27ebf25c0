/** A part of long text on the screen. Pure. */

export interface LineWindow {
  readonly lines: readonly string[];
  readonly first: number;
  /** The first line where the last lines are shown. */
  readonly last: number;
}

/** Returns at most `height` lines from `top` on, fewer lines above them where the text ends before. */
export function windowOn(lines: readonly string[], top: number, height: number): LineWindow {
  const last = Math.max(0, lines.length - height);
  const first = Math.min(top, last);
  return { lines: lines.slice(first, first + height), first, last };
}

/** Says which lines are on the screen; nothing when all are. */
export const positionLines = ({ lines, first, last }: LineWindow, all: number, what = "lines"): readonly string[] =>
  last === 0 ? [] : [`${what} ${first + 1} to ${first + lines.length} of ${all}`];
