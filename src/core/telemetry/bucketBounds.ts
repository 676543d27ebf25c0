/**
 * Upper bounds of buckets as Go prints them. They are labels: who sums up buckets of several kubelets needs them to be the
 * same text, `2.592e+06` and not `2592000`.
 */

const SMALLEST_PLAIN = 1e-4;
const SMALLEST_EXPONENTIAL = 1e6;

const isPlain = (bound: number): boolean => bound === 0 || (bound >= SMALLEST_PLAIN && bound < SMALLEST_EXPONENTIAL);

/** Whether JavaScript prints one of these bounds, all finite and not negative, in another way. */
export const needsGoBounds = (buckets: readonly number[] | undefined): boolean =>
  buckets?.some((bound) => !isPlain(bound)) === true;

/** A bound as Go's shortest form has it: an exponent of two digits at least, below 1e-4 and from 1e6 on. */
export function goBound(text: string): string {
  const bound = Number(text);
  if (!Number.isFinite(bound) || isPlain(bound)) return text;
  return bound.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
}

/** The text of a histogram with its bounds written so. */
export const withGoBounds = (family: string): string =>
  family.replaceAll(/le="([^"]+)"/g, (_, bound: string) => `le="${goBound(bound)}"`);
