/**
 * Upper bounds of histogram buckets in Go's notation. They are labels: to aggregate over several kubelets, their text
 * must be equal, `2.592e+06` and not `2592000`.
 */

const SMALLEST_PLAIN = 1e-4;
const SMALLEST_EXPONENTIAL = 1e6;

const isPlain = (bound: number): boolean => bound === 0 || (bound >= SMALLEST_PLAIN && bound < SMALLEST_EXPONENTIAL);

/** Returns whether JavaScript prints one of these bounds, all finite and not negative, differently. */
export const needsGoBounds = (buckets: readonly number[] | undefined): boolean =>
  buckets?.some((bound) => !isPlain(bound)) === true;

/** Returns a bound in Go's shortest notation: with an exponent of at least two digits below 1e-4 and from 1e6 on. */
export function goBound(text: string): string {
  const bound = Number(text);
  if (!Number.isFinite(bound) || isPlain(bound)) return text;
  return bound.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
}

/** Returns the text of a histogram with its bounds in Go's notation. */
export const withGoBounds = (family: string): string =>
  family.replaceAll(/le="([^"]+)"/g, (_, bound: string) => `le="${goBound(bound)}"`);
