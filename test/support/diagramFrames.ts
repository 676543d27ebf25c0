/** Reads how the marble diagram was drawn, in a browser. */

/** Frames of two seconds at 60 frames a second. */
export const FRAMES = 120;

/** The latest `FRAMES` frames, and the number of all. */
export interface DrawnFrames {
  readonly count: number;
  /** Milliseconds of the median, and of the longest. */
  readonly drawMs: number;
  readonly longestMs: number;
  readonly perSecond: number;
}

/** A script of the page that evaluates to `DrawnFrames`. */
export const DRAWN_FRAMES = `(() => {
  const { frames } = document.querySelector(".host canvas");
  const kept = Math.min(frames.count, frames.at.length, ${FRAMES});
  const newest = Array.from({ length: kept }, (_, back) => (frames.count - kept + back) % frames.at.length);
  const drawn = newest.map((at) => frames.drawMs[at]).sort((a, b) => a - b);
  const lasted = frames.at[newest.at(-1)] - frames.at[newest[0]];
  return {
    count: frames.count,
    drawMs: drawn[kept >> 1],
    longestMs: drawn.at(-1),
    perSecond: ((kept - 1) * 1000) / lasted,
  };
})()`;
