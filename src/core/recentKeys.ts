/** A set of keys that keeps the newest ones. */

/** See the file header. */
export interface RecentKeys {
  add(key: string): void;
  has(key: string): boolean;
  /** Returns whether it was there. */
  delete(key: string): boolean;
}

/** Creates an empty set of at most `most` keys, the oldest dropped. */
export function createRecentKeys(most: number): RecentKeys {
  const keys = new Set<string>();
  return {
    add(key) {
      keys.add(key);
      const [oldest] = keys;
      if (keys.size > most && oldest !== undefined) keys.delete(oldest);
    },
    has: (key) => keys.has(key),
    delete: (key) => keys.delete(key),
  };
}
