/** Texts that change with time alone. */
import { shownCountdown, shownDuration } from "../model/shownFigures.ts";
import { usePage } from "../page.ts";

interface At {
  /** The node's time in milliseconds since the epoch. */
  readonly at: number;
}

/** The time until an instant: `in 12 s`, `now`. */
export function Countdown({ at }: At) {
  const left = shownCountdown(at, usePage().clock.value);
  return <span class="countdown">{left === "now" ? left : `in ${left}`}</span>;
}

/** The time since an instant, in whole seconds. */
export function Since({ at }: At) {
  const seconds = Math.max(0, Math.floor((usePage().clock.value - at) / 1000));
  return <>{seconds < 10 ? `${seconds} s` : shownDuration(seconds * 1000)}</>;
}
