/**
 * Element order of a merged list: elements of the patch in the patch's order, elements only the server has in their old
 * order.
 */

/**
 * Sorts `merged`: elements whose key is in `wanted` follow that order, the others follow `before`. An element that is
 * not in `wanted` stays ahead of the first `wanted` element that it preceded.
 */
export function mergeElementOrder<T>(
  merged: readonly T[],
  wanted: readonly unknown[],
  before: readonly unknown[],
  keyOf: (item: T) => unknown = (item) => item,
): readonly T[] {
  const place = (row: readonly unknown[]) => {
    const places = new Map(row.map((key, at) => [key, at] as const).reverse());
    return (item: T): number => places.get(keyOf(item)) ?? -1;
  };
  const [wantedPlace, oldPlace] = [place(wanted), place(before)];
  const named = merged.filter((item) => wantedPlace(item) >= 0).sort((a, b) => wantedPlace(a) - wantedPlace(b));
  const unnamed = merged.filter((item) => wantedPlace(item) < 0).sort((a, b) => oldPlace(a) - oldPlace(b));
  const ordered: T[] = [];
  let next = 0;
  for (const item of named) {
    const limit = oldPlace(item);
    for (;;) {
      const candidate = unnamed[next];
      if (candidate === undefined || limit < 0 || oldPlace(candidate) < 0 || oldPlace(candidate) >= limit) break;
      ordered.push(candidate);
      next += 1;
    }
    ordered.push(item);
  }
  return [...ordered, ...unnamed.slice(next)];
}
