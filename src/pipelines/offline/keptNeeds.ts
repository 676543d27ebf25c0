/**
 * The needs of API pods as last known: their objects, tokens and claims, the services and RuntimeClasses of the cluster. Those
 * from disk come first, and newer ones replace them. Bound: the needs of pods on the node, since `prune` drops others.
 */
import { type Observable, Subject } from "rxjs";
import type { ConfigLookup, ManifestObjectKey } from "../../core/configObjects.ts";
import { type Claim, claimKey, type PersistentVolume } from "../../core/offline/keptClaims.ts";
import { sameValue } from "../../core/sameValue.ts";
import type { KeptToken, KnownNeeds } from "../../core/offline/wantedRecords.ts";

type Note = {
  readonly [K in "services" | "runtimeClasses"]: (value: NonNullable<KnownNeeds[K]>) => void;
};

export interface KeptNeeds extends KnownNeeds {
  /** Emits after each change, except of `prune`. */
  readonly changes$: Observable<void>;
  readonly note: Note & {
    object(key: ManifestObjectKey, lookup: ConfigLookup): void;
    token(key: string, token: KeptToken): void;
    claim(claim: Claim): void;
    volume(volume: PersistentVolume): void;
  };
  /** Takes the needs from disk, as far as nothing newer is known. */
  take(restored: KnownNeeds): void;
  /** Drops what has no wanted record, but for services and RuntimeClasses. */
  prune(isWanted: (kind: "object" | "token" | "claim" | "volume", key: string) => boolean): void;
}

/** Creates the memory; nothing is known. */
export function createKeptNeeds(): KeptNeeds {
  const objects = new Map<ManifestObjectKey, ConfigLookup>();
  const tokens = new Map<string, KeptToken>();
  const claims = new Map<string, Claim>();
  const volumes = new Map<string, PersistentVolume>();
  const changes$ = new Subject<void>();
  const cluster: { -readonly [K in "services" | "runtimeClasses"]: KnownNeeds[K] } = {
    services: undefined,
    runtimeClasses: undefined,
  };
  const changed = (isNew: boolean, set: () => void): void => {
    if (!isNew) return;
    set();
    changes$.next();
  };
  /** Each size of a volume is looked up again and again, mostly with the same answer. */
  const noteIn = <T>(map: Map<string, T>, key: string, value: T): void =>
    changed(!sameValue(map.get(key), value), () => map.set(key, value));
  return {
    objects,
    tokens,
    claims,
    volumes,
    get services() {
      return cluster.services;
    },
    get runtimeClasses() {
      return cluster.runtimeClasses;
    },
    changes$,
    note: {
      object: (key, lookup) =>
        changed(lookup.kind !== "unknown" && objects.get(key) !== lookup, () => objects.set(key, lookup)),
      token: (key, token) => changed(true, () => tokens.set(key, token)),
      claim: (claim) => noteIn(claims, claimKey(claim.metadata ?? {}), claim),
      volume: (volume) => noteIn(volumes, volume.metadata?.name ?? "", volume),
      services: (value) => changed(cluster.services !== value, () => (cluster.services = value)),
      runtimeClasses: (value) => changed(cluster.runtimeClasses !== value, () => (cluster.runtimeClasses = value)),
    },
    take(restored) {
      for (const [key, lookup] of restored.objects) if (!objects.has(key)) objects.set(key, lookup);
      for (const [key, token] of restored.tokens) if (!tokens.has(key)) tokens.set(key, token);
      for (const [key, claim] of restored.claims) if (!claims.has(key)) claims.set(key, claim);
      for (const [key, volume] of restored.volumes) if (!volumes.has(key)) volumes.set(key, volume);
      cluster.services ??= restored.services;
      cluster.runtimeClasses ??= restored.runtimeClasses;
    },
    prune(isWanted) {
      for (const key of objects.keys()) if (!isWanted("object", key)) objects.delete(key);
      for (const key of tokens.keys()) if (!isWanted("token", key)) tokens.delete(key);
      for (const key of claims.keys()) if (!isWanted("claim", key)) claims.delete(key);
      for (const key of volumes.keys()) if (!isWanted("volume", key)) volumes.delete(key);
    },
  };
}
