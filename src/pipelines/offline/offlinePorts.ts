/**
 * Ports that note what pods need of the API server, and give it from disk while that server has not answered since the
 * start. Stateless; keptNeeds.ts has the state. Upstream: none.
 */
import { connect, defer, EMPTY, filter, map, merge, type Observable, of, takeUntil, tap } from "rxjs";
import { type ConfigLookup, type ManifestObjectKey, objectKey } from "../../core/configObjects.ts";
import { tokenKey } from "../../core/token/serviceAccountToken.ts";
import type { ApiObjects, ApiResourceName } from "../../core/api/apiResources.ts";
import { type Claim, claimKey, type PersistentVolume } from "../../core/offline/keptClaims.ts";
import type { ApiGetOptions, ApiServer, ObjectRef } from "../../ports/apiServer.ts";
import type { Call } from "../../ports/call.ts";
import type { KeptTokens } from "../../ports/keptTokens.ts";
import type { KubeletPorts } from "../../ports/kubeletPorts.ts";
import type { ConfigObjectRef, ObjectCache } from "../../ports/objectCache.ts";
import type { ReadonlyCell } from "../../state/cell.ts";
import type { KeptNeeds } from "./keptNeeds.ts";

type Wrapped = Pick<KubeletPorts, "api" | "objects" | "cluster" | "runtimeClasses$" | "keptTokens">;

/** Wraps the ports. `restored`: whether pods from disk run because the API server has not answered. */
export const offlinePorts = (
  { objects, cluster, runtimeClasses$, api }: KubeletPorts,
  needs: KeptNeeds,
  restored: ReadonlyCell<boolean>,
): Wrapped => ({
  api: api && { ...api, objects: keptClaims(api.objects, needs, restored) },
  objects: objects && keptObjects(objects, needs, restored),
  keptTokens: keptTokens(needs, restored),
  cluster: cluster && {
    ...cluster,
    services$: firstFromDisk(cluster.services$, () => needs.services, needs.note.services, restored),
  },
  runtimeClasses$: firstFromDisk(runtimeClasses$, () => needs.runtimeClasses, needs.note.runtimeClasses, restored),
});

const keyOf = ({ kind, namespace, name }: ConfigObjectRef): ManifestObjectKey => objectKey(kind, namespace, name);

/** The objects from disk take the place of those that cannot be read; the first answer of the server ends that. */
function keptObjects(cache: ObjectCache, { objects, note }: KeptNeeds, restored: ReadonlyCell<boolean>): ObjectCache {
  const kept = (ref: ConfigObjectRef): ConfigLookup | undefined =>
    restored.value ? objects.get(keyOf(ref)) : undefined;
  return {
    follow: (ref) =>
      defer(() => {
        const known = kept(ref);
        const live$ = cache.follow(ref).pipe(tap((lookup) => note.object(keyOf(ref), lookup)));
        return merge(known === undefined ? EMPTY : of(known), live$);
      }),
    get: (ref) =>
      cache.get(ref).pipe(
        map((lookup) => {
          note.object(keyOf(ref), lookup);
          return lookup.kind === "unknown" ? (kept(ref) ?? lookup) : lookup;
        }),
      ),
  };
}

/** Claims and volumes from disk take the place of those of the server until its first answer. */
function keptClaims(server: ApiServer, needs: KeptNeeds, restored: ReadonlyCell<boolean>): ApiServer {
  const { claims, volumes, note } = needs;
  const kept = (resource: ApiResourceName, ref: ObjectRef): Claim | PersistentVolume | undefined => {
    if (!restored.value) return undefined;
    if (resource === "persistentvolumeclaims") return claims.get(claimKey(ref));
    return resource === "persistentvolumes" ? volumes.get(ref.name) : undefined;
  };
  const noted = (resource: ApiResourceName, found: object): void => {
    if (resource === "persistentvolumeclaims") note.claim(found);
    if (resource === "persistentvolumes") note.volume(found);
  };
  const get = <R extends ApiResourceName>(resource: R, ref: ObjectRef, options?: ApiGetOptions): Call<ApiObjects[R]> =>
    defer(() => {
      const known = kept(resource, ref);
      if (known !== undefined) return of(known as ApiObjects[R]);
      return server.get(resource, ref, options).pipe(tap((found) => noted(resource, found)));
    });
  return { ...server, get };
}

const keptTokens = ({ tokens, note }: KeptNeeds, restored: ReadonlyCell<boolean>): KeptTokens => ({
  keep: (wish, token) => note.token(tokenKey(wish), { ...token, wish }),
  find: (wish) => (restored.value ? tokens.get(tokenKey(wish)) : undefined),
});

/**
 * Emits the values of a source, and before its first one that from disk, once pods are restored.
 *
 *     source      ----------a---b
 *     restored    f----t
 *     output      -----d----a---b
 */
const firstFromDisk = <T>(
  source$: Observable<T>,
  fromDisk: () => T | undefined,
  note: (value: NonNullable<T>) => void,
  restored: ReadonlyCell<boolean>,
): Observable<T> =>
  source$.pipe(
    tap((value) => note(value as NonNullable<T>)),
    connect((live$) =>
      merge(
        live$,
        restored.changes$.pipe(
          filter((isRestored) => isRestored),
          map(fromDisk),
          filter((value) => value !== undefined),
          takeUntil(live$),
        ),
      ),
    ),
  );
