/**
 * Estimates the node's clock in the browser. Each message has the node's time when it was sent; it arrives later, so
 * that the greatest difference of the latest ones is the nearest to the truth.
 */

/** Messages that the estimate uses. */
const SAMPLES = 16;

export interface NodeTime {
  /** Takes the node's time `at` of a message that arrived at `receivedAt` of the browser's clock. */
  observe(at: number, receivedAt: number): void;
  /** Converts an instant of the browser's clock to the node's. */
  at(browserMs: number): number;
}

/** Makes an estimate that takes both clocks as equal until the first message. */
export function createNodeTime(): NodeTime {
  const differences: number[] = [];
  let best = 0;
  return {
    observe(at, receivedAt) {
      if (!Number.isFinite(at)) return;
      differences.push(at - receivedAt);
      if (differences.length > SAMPLES) differences.shift();
      best = Math.max(...differences);
    },
    at: (browserMs) => browserMs + best,
  };
}
