/** Compares two versions of one object. */
import type { ObjectMeta } from "../api.ts";

const DIGITS = /^\d+$/;

/** Returns the object with the greater resourceVersion; the first when they cannot be compared. */
export function newerObject<T extends { readonly metadata?: ObjectMeta }>(first: T, second: T): T {
  const [a = "", b = ""] = [first.metadata?.resourceVersion, second.metadata?.resourceVersion];
  if (a === b) return first;
  return DIGITS.test(a) && DIGITS.test(b) && BigInt(b) > BigInt(a) ? second : first;
}
