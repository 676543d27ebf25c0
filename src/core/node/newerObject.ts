/** Which of two states of one object is the newer. */
import type { ObjectMeta } from "../api.ts";

const DIGITS = /^\d+$/;

/** The one of the greater resourceVersion; the first when that cannot be told. */
export function newerObject<T extends { readonly metadata?: ObjectMeta }>(first: T, second: T): T {
  const [a = "", b = ""] = [first.metadata?.resourceVersion, second.metadata?.resourceVersion];
  if (a === b) return first;
  return DIGITS.test(a) && DIGITS.test(b) && BigInt(b) > BigInt(a) ? second : first;
}
