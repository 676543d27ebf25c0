/** Ids of containers, the newest ones only. */

/** See the file header. */
export interface RecentIds {
  add(id: string): void;
  /** Returns whether it was there. */
  delete(id: string): boolean;
}

/** Creates an empty list of at most `most` ids, the oldest dropped. */
export function createRecentIds(most: number): RecentIds {
  const ids = new Set<string>();
  return {
    add(id) {
      ids.add(id);
      const [oldest] = ids;
      if (ids.size > most && oldest !== undefined) ids.delete(oldest);
    },
    delete: (id) => ids.delete(id),
  };
}
