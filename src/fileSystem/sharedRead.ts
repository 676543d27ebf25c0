/** Reads that are shared by all who ask at the same time. */

/**
 * Returns a function that reads as `read` does. While a read is under way, all who ask share the next one, so that each gets
 * what was there after it had asked. Errors: those of `read`, for all who share it. Bound: one read under way, one behind it.
 *
 *     asked    a  b c   d
 *     read     [a----][b,c,d--]
 */
export function sharedRead<T>(read: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    const begun = read().finally(() => {
      if (current === begun) current = undefined;
    });
    current = begun;
    return begun;
  };
  return () => {
    if (next !== undefined) return next;
    if (current === undefined) return begin();
    const behind = (): Promise<T> => {
      next = undefined;
      return begin();
    };
    next = current.then(behind, behind);
    return next;
  };
}
