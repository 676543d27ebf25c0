/** Formats values for human-readable output. */

/** Formats a duration given in seconds: `0.012s`, `1.3s`, `45s`, `3m20s`, `2h5m`. */
export function durationText(seconds: number): string {
  if (seconds < 1) return `${Number(seconds.toFixed(3))}s`;
  if (seconds < 10) return `${Number(seconds.toFixed(1))}s`;
  const whole = Math.round(seconds);
  if (whole < 120) return `${whole}s`;
  if (whole < 7_200) return `${Math.floor(whole / 60)}m${whole % 60 === 0 ? "" : `${whole % 60}s`}`;
  const minutes = Math.floor(whole / 60);
  return `${Math.floor(minutes / 60)}h${minutes % 60 === 0 ? "" : `${minutes % 60}m`}`;
}

/** Replaces control characters, so that foreign text can neither break the layout nor send terminal commands. */
export const oneLine = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ");
