/** Merges the snapshots of all pod sources into differences. Counterpart: pkg/kubelet/config PodConfig (mux). */
import { map, type Observable, scan } from "rxjs";
import { diffSource, type PodsByUid, type PodUpdate, podsByUid } from "../core/pod/podUpdate.ts";
import type { PodSource, SourceSnapshot } from "../core/pod/sourceSnapshot.ts";

/** What came of one snapshot. */
export interface MergedConfig {
  readonly updates: readonly PodUpdate[];
  /** Sources that have said at least once what they want. */
  readonly seen: ReadonlySet<PodSource>;
  readonly snapshot: SourceSnapshot;
}

/**
 * Emits, per snapshot, how the desired pods changed.
 *
 *     snapshots   --f(a,b)--------f(a)---------h(c)--
 *     output      --ADD a,b-------REMOVE b-----ADD c-
 *
 * A source that is not ready yet wants nothing in particular: its snapshot changes no pod and it is not seen by it.
 *
 * Cancels: with its source. Errors: passed on; sources are supervised. Bound: one entry per desired pod.
 */
export function mergePodConfig(snapshots$: Observable<SourceSnapshot>): Observable<MergedConfig> {
  return snapshots$.pipe(
    scan(merge, { bySource: new Map(), updates: [], snapshot: undefined }),
    map(({ bySource, updates, snapshot }) => ({
      updates,
      seen: new Set(bySource.keys()),
      snapshot: snapshot as SourceSnapshot,
    })),
  );
}

interface Merged {
  readonly bySource: ReadonlyMap<PodSource, PodsByUid>;
  readonly updates: readonly PodUpdate[];
  /** undefined before the first. */
  readonly snapshot: SourceSnapshot | undefined;
}

function merge({ bySource }: Merged, snapshot: SourceSnapshot): Merged {
  if (snapshot.ready === false) return { bySource, updates: [], snapshot };
  const { source } = snapshot;
  const next = podsByUid(snapshot.pods);
  const updates = diffSource(bySource.get(source) ?? new Map(), next, source);
  return { bySource: new Map(bySource).set(source, next), updates, snapshot };
}
