/**
 * Gathers the content of a volume once: ConfigMaps and Secrets of the cache, fields of the pod, tokens. volumes.ts
 * (changed objects) and volumeWorker.ts (tokens that are due) decide when it is gathered again. Stateless. Bound: the
 * cache's wait for an object, one request per token, and the bytes of volumeBudget.ts for all trust anchors.
 */
import { combineLatest, defaultIfEmpty, defer, map, type Observable, of } from "rxjs";
import type { Pod } from "../../core/api.ts";
import { NO_POD_CERTIFICATES } from "../../core/cert/podCertificate.ts";
import { type AnchorsWish, NO_TRUST_BUNDLES } from "../../core/cert/trustAnchors.ts";
import { kubeletError } from "../../core/errors.ts";
import type { EpochMs } from "../../core/ids.ts";
import { volumeReferences } from "../../core/pod/podReferences.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { ResourceAmounts } from "../../core/resources/resourceList.ts";
import { dueAt, type ServiceAccountToken, tokenKey, type TokenWish } from "../../core/token/serviceAccountToken.ts";
import { contentInputs } from "../../core/volume/contentInputs.ts";
import type { Volume } from "../../core/volume/volumeLayout.ts";
import { anchorsWishes, tokenWishes } from "../../core/volume/identityFiles.ts";
import type { Payload } from "../../core/volume/payloadFile.ts";
import { tokenFault } from "../../core/volume/tokenBounds.ts";
import { volumeBudget } from "../../core/volume/volumeBudget.ts";
import { type PayloadSources, volumePayload } from "../../core/volume/volumePayload.ts";
import type { VolumeInputs } from "../../core/volume/volumePlan.ts";
import type { PodCertificates } from "../projections/podCertificates.ts";
import type { PodObjects } from "../podObjects.ts";
import type { Tokens } from "../projections/tokens.ts";
import type { TrustBundles } from "../projections/trustBundles.ts";

/** The content of a volume at one moment. */
export interface VolumeContent {
  readonly inputs: VolumeInputs;
  /** Evaluated on demand: the inputs are usually unchanged. */
  readonly payload: () => Result<Payload>;
  /** Time of the next token; undefined without a token. */
  readonly dueAt: EpochMs | undefined;
}

export interface ContentSources {
  readonly objects: PodObjects;
  /** Undefined on a standalone node. */
  readonly tokens: Tokens | undefined;
  /** Undefined, like the next, if its feature gate is off, and on a standalone node. */
  readonly trustBundles: TrustBundles | undefined;
  readonly podCertificates: PodCertificates | undefined;
  readonly allocatable: ResourceAmounts;
}

/** The content of a volume without files of its own. */
export const NO_CONTENT: VolumeContent = { inputs: [], payload: () => ok(new Map()), dueAt: undefined };

const NO_TOKENS = err(
  kubeletError("Unimplemented", "failed to fetch token: cannot use TokenManager when kubelet is in standalone mode"),
);

/** Emits one value. Never errors: the payload names missing content. */
export function gatherContent(pod: Pod, volume: Volume, sources: ContentSources): Observable<VolumeContent> {
  const { objects, tokens, podCertificates, allocatable } = sources;
  const fault = tokenFault(pod, volume);
  if (fault !== undefined) return of({ ...NO_CONTENT, payload: () => err(fault) });
  const issued = tokenWishes(pod, volume).map((wish) =>
    (tokens?.get(wish) ?? of(NO_TOKENS)).pipe(map((token): Issued => [tokenKey(wish), token])),
  );
  return combineLatest([
    objects.read(pod, volumeReferences(volume)),
    allOf(issued),
    gatherAnchors(volume, sources),
  ]).pipe(
    map(([known, list, anchors]) => {
      const byKey = new Map(list);
      const token = (wish: TokenWish): Result<string> => {
        const found = byKey.get(tokenKey(wish)) ?? NO_TOKENS;
        return found.ok ? ok(found.value.token) : found;
      };
      const made: PayloadSources = {
        objects: known,
        token,
        anchors: (wish) => anchors.get(wish) ?? NO_TRUST_BUNDLES,
        credentials: (wish) => podCertificates?.get(wish) ?? NO_POD_CERTIFICATES,
        allocatable,
      };
      const nextDue = list.reduce(
        (next, [, result]) => (result.ok ? Math.min(next, dueAt(result.value)) : next),
        Number.POSITIVE_INFINITY,
      );
      return {
        inputs: contentInputs(pod, volume, made),
        payload: () => volumePayload(pod, volume, made),
        dueAt: Number.isFinite(nextDue) ? (nextDue as EpochMs) : undefined,
      };
    }),
  );
}

type Anchors = ReadonlyMap<AnchorsWish, Result<string>>;

/** Reads the trust anchors of all projections. Reads no more of them once they exceed the budget of the volume. */
const gatherAnchors = (volume: Volume, { trustBundles }: ContentSources): Observable<Anchors> =>
  defer(() => {
    const budget = volumeBudget(volume.name);
    const read = (wish: AnchorsWish): Observable<Result<string>> =>
      (trustBundles?.get(wish) ?? of(NO_TRUST_BUNDLES)).pipe(
        map((anchors) => {
          const taken = anchors.ok ? budget.take("clusterTrustBundle", anchors.value.length) : anchors;
          return taken.ok ? anchors : taken;
        }),
      );
    const each = anchorsWishes(volume).map((wish) =>
      defer(() => {
        const exceeded = budget.exceeded();
        return exceeded === undefined ? read(wish) : of(exceeded);
      }).pipe(map((anchors) => [wish, anchors] as const)),
    );
    return allOf(each).pipe(map((list) => new Map(list)));
  });

/** Combines the values of all; an empty list gives an empty value. */
const allOf = <T>(values: readonly Observable<T>[]): Observable<readonly T[]> =>
  combineLatest(values).pipe(defaultIfEmpty<readonly T[], readonly T[]>([]));

type Issued = readonly [key: string, token: Result<ServiceAccountToken>];
