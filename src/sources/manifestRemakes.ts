/**
 * Files of the manifest directory that were removed and made anew before anybody looked: their directory tells of the
 * name twice, where a file that is replaced in one step is told of once. Owns what it was told.
 */
import type { ManifestListing } from "../core/pod/manifest/manifestFiles.ts";
import type { Clock } from "../ports/clock.ts";

/** Within this time two changes of a name are seen as one: it went and came. Longer than a removal is in doubt. */
const REMAKE_MS = 100;

/** Tracks names in directories that were removed and created again. */
export interface Remakes {
  /** A directory says that the name came, went, or is another file's now; which of these cannot be had from Node. */
  told(path: string): void;
  /** Returns the names that were recreated since the last call. */
  take(): ReadonlySet<string>;
}

/** Bound: the names told of within REMAKE_MS before the last listing. */
export function createRemakes(clock: Pick<Clock, "monotonicMs">): Remakes {
  const toldAt = new Map<string, number>();
  const remade = new Set<string>();
  return {
    told(path) {
      const now = clock.monotonicMs();
      if (now - (toldAt.get(path) ?? -Infinity) < REMAKE_MS) remade.add(path);
      toldAt.set(path, now);
    },
    take() {
      const now = clock.monotonicMs();
      for (const [path, at] of toldAt) if (now - at >= REMAKE_MS) toldAt.delete(path);
      const taken = new Set(remade);
      remade.clear();
      return taken;
    },
  };
}

/** The listing with what became of its files. */
export function withRemakes(listing: ManifestListing, remade: ReadonlySet<string>): ManifestListing {
  if (listing.kind !== "found" || remade.size === 0) return listing;
  const entries = listing.entries.map((entry) =>
    remade.has(entry.path) ? { ...entry, remade: true as const } : entry,
  );
  return { kind: "found", entries };
}
