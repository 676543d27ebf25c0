/**
 * Detects files of the manifest directory that were removed and created again between two listings: the watch of
 * their directory reports the name twice, and a file that is replaced in one step only once. Owns the reported names.
 */
import type { ManifestListing } from "../core/pod/manifest/manifestFiles.ts";
import type { Clock } from "../ports/clock.ts";

/** Two changes of a name within this time count as removal and creation. Longer than the settle time of a removal. */
const REMAKE_MS = 100;

/** Tracks names in directories that were removed and created again. */
export interface Remakes {
  /** Reports that the name was created, removed, or replaced by another file; Node does not distinguish these. */
  reported(path: string): void;
  /** Returns the names that were recreated since the last call. */
  take(): ReadonlySet<string>;
}

/** Creates the tracker. Bound: the names reported within REMAKE_MS before the last listing. */
export function createRemakes(clock: Pick<Clock, "monotonicMs">): Remakes {
  const reportedAt = new Map<string, number>();
  const remade = new Set<string>();
  return {
    reported(path) {
      const now = clock.monotonicMs();
      if (now - (reportedAt.get(path) ?? -Infinity) < REMAKE_MS) remade.add(path);
      reportedAt.set(path, now);
    },
    take() {
      const now = clock.monotonicMs();
      for (const [path, at] of reportedAt) if (now - at >= REMAKE_MS) reportedAt.delete(path);
      const taken = new Set(remade);
      remade.clear();
      return taken;
    },
  };
}

/** Returns the listing with its recreated files marked. */
export function withRemakes(listing: ManifestListing, remade: ReadonlySet<string>): ManifestListing {
  if (listing.kind !== "found" || remade.size === 0) return listing;
  const entries = listing.entries.map((entry) =>
    remade.has(entry.path) ? { ...entry, remade: true as const } : entry,
  );
  return { kind: "found", entries };
}
