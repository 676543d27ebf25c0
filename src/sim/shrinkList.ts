/** Delta debugging: which of many things are enough to make a run fail. */

/** A bound on the runs a search may take; counted down by it. */
export interface ShrinkBudget {
  runs: number;
}

/**
 * A small part of `items` that still fails, in their order: halves, then quarters, and so on are left out while what
 * remains fails. `items` itself is known to fail. Ends when nothing more can go or the budget is used up.
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
