/**
 * Compares JSON-like values deeply; key order does not matter, `undefined` members count as absent. Allocates nothing:
 * a pod may hold ten thousand mounts, and several stages compare it with each change.
 */
export function sameValue(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    return Array.isArray(left) && Array.isArray(right) && sameList(left, right);
  }
  const ours = left as Readonly<Record<string, unknown>>;
  const theirs = right as Readonly<Record<string, unknown>>;
  let unmatched = 0;
  for (const key in theirs) if (theirs[key] !== undefined) unmatched += 1;
  for (const key in ours) {
    if (ours[key] === undefined) continue;
    if (!Object.hasOwn(theirs, key) || !sameValue(ours[key], theirs[key])) return false;
    unmatched -= 1;
  }
  return unmatched === 0;
}

function sameList(left: readonly unknown[], right: readonly unknown[]): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index += 1) if (!sameValue(left[index], right[index])) return false;
  return true;
}

/** Returns whether both hold identical items in the same order. */
export const sameItems = (left: readonly unknown[], right: readonly unknown[]): boolean =>
  left.length === right.length && left.every((item, index) => item === right[index]);
