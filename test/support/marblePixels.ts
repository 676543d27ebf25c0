/** Reads the picture of the marble diagram in a browser. */

/** Pixels right of the labels and below the axis: their hash, and the number of their colours (at most 1,000). */
export interface Pixels {
  readonly hash: number;
  readonly colours: number;
}

/** A script of the page that evaluates to `Pixels`. */
export const PIXELS = `(() => {
  const canvas = document.querySelector(".host canvas");
  const ratio = canvas.width / canvas.clientWidth;
  const [left, top] = [Math.ceil(216 * ratio), Math.ceil(26 * ratio)];
  const size = [canvas.width - left, canvas.height - top];
  const copy = new OffscreenCanvas(...size).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, -left, -top);
  const { data } = copy.getImageData(0, 0, ...size);
  const colours = new Set();
  let hash = 0;
  for (let at = 0; at < data.length; at += 4) {
    const colour = (data[at] << 16) | (data[at + 1] << 8) | data[at + 2];
    hash = (hash * 31 + colour) | 0;
    if (colours.size < 1000) colours.add(colour);
  }
  return { hash, colours: colours.size };
})()`;

/** Colours that a diagram without marbles does not reach. */
export const COLOURS_OF_MARBLES = 20;
