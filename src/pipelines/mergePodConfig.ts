/** Merges the snapshots of all pod sources into differences. Upstream: pkg/kubelet/config PodConfig (mux). */
import { map, type Observable, scan } from "rxjs";
import { type ConfigObjects, configObjectsOf, type ManifestObject, NO_CONFIG_OBJECTS } from "../core/configObjects.ts";
import type { Pod } from "../core/api.ts";
import type { PodUid } from "../core/ids.ts";
import { diffSource, type PodsByUid, type PodUpdate, podsByUid } from "../core/pod/podUpdate.ts";
import type { PodSource, SourceSnapshot } from "../core/pod/sourceSnapshot.ts";
import { withOverhead } from "../core/runtime/runtimeHandler.ts";
import { sameItems } from "../core/sameValue.ts";

/** The result of one snapshot. */
export interface MergedConfig {
  readonly updates: readonly PodUpdate[];
  /** Sources that have reported their pods at least once. */
  readonly seen: ReadonlySet<PodSource>;
  readonly snapshot: SourceSnapshot;
  /** The objects of all sources; the same value until a source changes. */
  readonly configObjects: ConfigObjects;
}

/**
 * Emits, per snapshot, how the desired pods changed.
 *
 *     snapshots   --f(a,b)--------f(a)---------h(c)--
 *     output      --ADD a,b-------REMOVE b-----ADD c-
 *
 * The snapshot of a source that is not ready changes no pod, and the source does not count as seen. The pods that a
 * source kept on disk are a RESTORE, and the source does not count as seen either. The whole state of a source after a
 * gap, or after its pods were restored, is a SET: the registry compares it with the pods that it has. A RuntimeClass
 * among the manifests adds its overhead to the static pods that name it, whichever came first.
 *
 * Cancels: with its source. Errors: passed on; sources are supervised. Bound: one entry per desired pod.
 */
export function mergePodConfig(snapshots$: Observable<SourceSnapshot>): Observable<MergedConfig> {
  return snapshots$.pipe(
    scan(merge, {
      bySource: new Map(),
      restored: new Set<PodSource>(),
      updates: [],
      snapshot: undefined,
      objects: new Map(),
      configObjects: NO_CONFIG_OBJECTS,
    }),
    map(({ bySource, restored, updates, snapshot, configObjects }) => ({
      updates,
      configObjects,
      seen: new Set([...bySource.keys()].filter((source) => !restored.has(source))),
      snapshot: snapshot as SourceSnapshot,
    })),
  );
}

interface Merged {
  readonly bySource: ReadonlyMap<PodSource, PodsByUid>;
  /** Sources of which only pods from disk are known. */
  readonly restored: ReadonlySet<PodSource>;
  readonly updates: readonly PodUpdate[];
  /** The last snapshot; undefined before the first. */
  readonly snapshot: SourceSnapshot | undefined;
  readonly objects: ReadonlyMap<PodSource, readonly ManifestObject[]>;
  readonly configObjects: ConfigObjects;
}

/** Sources in order of precedence: among objects with the same name, the first source wins. */
const SOURCES: readonly PodSource[] = ["api", "file", "http"];

function merge(merged: Merged, snapshot: SourceSnapshot): Merged {
  const isLate = snapshot.restored === true && merged.bySource.has(snapshot.source);
  if (snapshot.ready === false || isLate) return { ...merged, updates: [], snapshot };
  const known = withObjects(merged, snapshot);
  const wanted = new Map(merged.bySource).set(snapshot.source, podsByUid(snapshot.pods));
  const hasNewObjects = known.configObjects !== merged.configObjects;
  const changed = SOURCES.flatMap((source) => {
    const pods = wanted.get(source);
    if (pods === undefined || (source !== snapshot.source && !hasNewObjects)) return [];
    const before = merged.bySource.get(source) ?? new Map<PodUid, Pod>();
    return [{ source, before, next: complete(pods, before, known.configObjects) }];
  });
  const next = changed.map(({ source, next: pods }) => [source, pods] as const);
  const isWhole = snapshot.afterGap === true || merged.restored.has(snapshot.source);
  const updatesOf = ({ source, before, next: pods }: Change): readonly PodUpdate[] => {
    if (source !== snapshot.source) return diffSource(before, pods, source);
    if (snapshot.restored === true) return [{ op: "RESTORE", source, pods: [...pods.values()] }];
    return isWhole ? [{ op: "SET", source, pods: [...pods.values()] }] : diffSource(before, pods, source);
  };
  const restored = new Set(merged.restored);
  if (snapshot.restored === true) restored.add(snapshot.source);
  else restored.delete(snapshot.source);
  return {
    ...known,
    bySource: new Map([...wanted, ...next]),
    restored,
    updates: changed.flatMap(updatesOf),
    snapshot,
  };
}

/** The desired pods of one source, before and after a snapshot. */
interface Change {
  readonly source: PodSource;
  readonly before: PodsByUid;
  readonly next: PodsByUid;
}

/** Completes pods as an API server does; API pods are complete already. */
function complete(pods: PodsByUid, before: PodsByUid, { runtimeClasses }: ConfigObjects): PodsByUid {
  const completed = new Map<PodUid, Pod>();
  for (const [uid, pod] of pods) completed.set(uid, withOverhead(pod, runtimeClasses, before.get(uid)));
  return completed;
}

function withObjects({ objects, configObjects }: Merged, { source, objects: fresh = [] }: SourceSnapshot) {
  if (sameItems(objects.get(source) ?? [], fresh)) return { objects, configObjects };
  const all = new Map(objects).set(source, fresh);
  return { objects: all, configObjects: configObjectsOf(SOURCES.flatMap((known) => all.get(known) ?? [])) };
}
