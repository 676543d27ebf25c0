/**
 * The ConfigMaps, Secrets and services that pods refer to. Pods from manifests read the objects of manifests, API
 * pods read those of the API server, and neither reads the other's. Upstream: configMapManager, secretManager. Bound:
 * MAX_REFERENCES objects of an API pod; the others are unknown, which is an error where they are used.
 */
import {
  combineLatest,
  defaultIfEmpty,
  defer,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  startWith,
  tap,
} from "rxjs";
import type { Pod } from "../core/api.ts";
import {
  type ConfigLookup,
  type ManifestObjectKey,
  type ConfigObjects,
  objectKey,
  lookedUp,
} from "../core/configObjects.ts";
import type { PodCommand } from "../core/pod/podRegistry.ts";
import { type ConfigReference, excessReferences, MAX_REFERENCES, podReferences } from "../core/pod/podReferences.ts";
import { perObject } from "../core/perObject.ts";
import { kubeletError } from "../core/errors.ts";
import { isStaticPod } from "../core/pod/criticalPod.ts";
import { sameValue } from "../core/sameValue.ts";
import { switchOnNews } from "../operators/switchOnNews.ts";
import type { ConfigObjectRef, ObjectCache } from "../ports/objectCache.ts";
import type { ReadonlyCell } from "../state/cell.ts";
import type { PodMemories } from "./podMemories.ts";

export interface PodObjects {
  /**
   * Emits the known objects that the pod refers to, and again after each change; keeps them current while subscribed.
   */
  follow(pod: Pod): Observable<ConfigObjects>;
  /** Returns the current objects: emits one value, within the time bound of the cache. For a pod that is followed. */
  read(pod: Pod, references: readonly ConfigReference[]): Observable<ConfigObjects>;
}

/** Without a cache every pod reads the objects of manifests. */
export function createPodObjects(manifests: ReadonlyCell<ConfigObjects>, cache: ObjectCache | undefined): PodObjects {
  const cacheOf = (pod: Pod): ObjectCache | undefined => (isStaticPod(pod) ? undefined : cache);
  return {
    follow: (pod) => {
      const own = cacheOf(pod);
      return own === undefined ? manifests.changes$ : followAll(own, pod);
    },
    read: (pod, references) => {
      const own = cacheOf(pod);
      return own === undefined ? of(manifests.value) : readAll(own, pod, references);
    },
  };
}

/** Keeps the objects of a pod in its memory, from its first sync until its worker ends. */
export const followObjects = (
  commands$: Observable<PodCommand>,
  objects: PodObjects,
  known: PodMemories["objects"],
): Observable<never> =>
  commands$.pipe(
    switchOnNews({
      select: (command) => (command.phase === "sync" ? command.pod : undefined),
      same: (before, now) => sameValue(podReferences(before), podReferences(now)),
      run: (pod) =>
        objects.follow(pod).pipe(
          tap((objects) => known.set(objects)),
          ignoreElements(),
        ),
    }),
  );

type Keyed = readonly [key: ManifestObjectKey, lookup: ConfigLookup];

const keyed =
  ({ kind, namespace, name }: ConfigObjectRef) =>
  (lookup: ConfigLookup): Keyed => [objectKey(kind, namespace, name), lookup];

const refsOf = ({ metadata: { namespace } }: Pod, references: readonly ConfigReference[]): readonly ConfigObjectRef[] =>
  references.map((reference) => ({ ...reference, namespace }));

/** Returns the lookups of the objects beyond the limit of a pod: the error that names the object. */
const excessLookups = perObject(
  ({ metadata: { namespace, name }, spec }: Pod): ReadonlyMap<ManifestObjectKey, ConfigLookup> => {
    const refused = (reference: ConfigReference): Keyed => {
      const why = `pod ${namespace}/${name} refers to more than ${MAX_REFERENCES} ConfigMaps and Secrets`;
      const error = kubeletError("InvalidArgument", `${reference.kind} "${reference.name}" is not read: ${why}`);
      return [objectKey(reference.kind, namespace, reference.name), { kind: "unknown", error }];
    };
    return new Map(excessReferences(spec).map(refused));
  },
);

/** All snapshots read one map, which changes in place: a copy for each arrival would take quadratic time. */
const followAll = (cache: ObjectCache, pod: Pod): Observable<ConfigObjects> =>
  defer(() => {
    const known = new Map(excessLookups(pod));
    const followed = refsOf(pod, podReferences(pod).slice(0, MAX_REFERENCES));
    return merge(...followed.map((ref) => cache.follow(ref).pipe(map(keyed(ref))))).pipe(
      map(([key, lookup]) => lookedUp(known.set(key, lookup), key)),
      startWith(lookedUp(known)),
    );
  });

function readAll(cache: ObjectCache, pod: Pod, references: readonly ConfigReference[]): Observable<ConfigObjects> {
  const excess = excessLookups(pod);
  const read = (ref: ConfigObjectRef): Observable<Keyed> => {
    const refused = excess.get(objectKey(ref.kind, ref.namespace, ref.name));
    return (refused === undefined ? cache.get(ref) : of(refused)).pipe(map(keyed(ref)));
  };
  return combineLatest(refsOf(pod, references).map(read)).pipe(
    defaultIfEmpty<readonly Keyed[], readonly Keyed[]>([]),
    map((lookups) => lookedUp(new Map(lookups))),
  );
}
