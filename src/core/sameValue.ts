/** Compares JSON-like values deeply; key order does not matter, `undefined` members count as absent. */
export function sameValue(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    return (
      Array.isArray(left) &&
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((item, index) => sameValue(item, right[index]))
    );
  }
  const ours = left as Readonly<Record<string, unknown>>;
  const theirs = right as Readonly<Record<string, unknown>>;
  let unmatched = 0;
  for (const key of Object.keys(theirs)) if (theirs[key] !== undefined) unmatched += 1;
  for (const key of Object.keys(ours)) {
    if (ours[key] === undefined) continue;
    if (!Object.hasOwn(theirs, key) || !sameValue(ours[key], theirs[key])) return false;
    unmatched -= 1;
  }
  return unmatched === 0;
}

/** Returns whether both hold identical items in the same order. */
export const sameItems = (left: readonly unknown[], right: readonly unknown[]): boolean =>
  left.length === right.length && left.every((item, index) => item === right[index]);
