/** Suggests the known name for a misspelt one. */

/**
 * Returns the number of edits (insert, delete, replace, swap of neighbours) from `a` to `b`. Bound: the product of both
 * lengths.
 */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let best = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (row > 1 && column > 1 && swapped) best = Math.min(best, (beforeLast[column - 2] ?? 0) + 1);
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? a.length;
}

const MAX_LENGTH = 100;

/** Returns the known name closest to `name`, ignoring case; undefined when none is within `maxEdits`. */
export function closestName(
  name: string,
  known: Iterable<string>,
  maxEdits = Math.max(1, Math.floor(name.length / 3)),
): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const wanted = name.toLowerCase();
  let closest: string | undefined;
  let closestDistance = maxEdits + 1;
  for (const candidate of known) {
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance < closestDistance) {
      closest = candidate;
      closestDistance = distance;
    }
  }
  return closest;
}
