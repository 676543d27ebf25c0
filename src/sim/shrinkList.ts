/** Delta debugging: finds a small subset of items that still makes a run fail. */

/** Remaining number of runs; the search decrements it. */
export interface ShrinkBudget {
  runs: number;
}

/**
 * Returns a small subset of `items` that still fails, in order: leaves out halves, then quarters, and so on, while
 * the rest fails. `items` is known to fail. Ends when no item can be left out or the budget is used up.
 */
export function shrinkList<T>(
  items: readonly T[],
  fails: (kept: readonly T[]) => boolean,
  budget: ShrinkBudget,
): readonly T[] {
  let kept = items;
  let size = Math.ceil(kept.length / 2);
  while (size > 0 && kept.length > 0) {
    let hasShrunk = false;
    for (let start = 0; start < kept.length && budget.runs > 0; ) {
      const rest = [...kept.slice(0, start), ...kept.slice(start + size)];
      budget.runs -= 1;
      if (fails(rest)) {
        kept = rest;
        hasShrunk = true;
      } else start += size;
    }
    if (budget.runs <= 0) break;
    if (size === 1 && !hasShrunk) break;
    size = hasShrunk ? Math.min(size, Math.ceil(kept.length / 2)) : Math.ceil(size / 2);
  }
  return kept;
}
