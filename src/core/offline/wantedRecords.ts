/**
 * The records that the pods of a registry need: the pods, the ConfigMaps and Secrets they name, their tokens, claims and
 * volumes of the node, and the services and RuntimeClasses of the cluster. Upstream: none.
 */
import type { ApiObjects } from "../api/apiResources.ts";
import type { Pod, PodStatus } from "../api.ts";
import { type ConfigLookup, type ManifestObjectKey, objectKey } from "../configObjects.ts";
import { type EpochMs, type PodUid, podUid } from "../ids.ts";
import { MAX_REFERENCES, podReferences } from "../pod/podReferences.ts";
import type { Registry } from "../pod/podRegistryTypes.ts";
import type { RuntimeClasses } from "../runtime/runtimeHandler.ts";
import { isExpired, type ServiceAccountToken, tokenKey, type TokenWish } from "../token/serviceAccountToken.ts";
import { claimKeys, isOnNode, type KnownClaims } from "./keptClaims.ts";
import { hasEnded, type KeptPod, keptPod, podToKeep, sameKeptPod } from "./keptPod.ts";
import { type KeptKind, type KeptRecord, recordName } from "./keptRecord.ts";

/** A token, and the pod and parameters that it was issued for. */
export interface KeptToken extends ServiceAccountToken {
  readonly wish: TokenWish;
}

/** The needs of pods, as last known. */
export interface KnownNeeds extends KnownClaims {
  readonly objects: ReadonlyMap<ManifestObjectKey, ConfigLookup>;
  /** By `tokenKey`. */
  readonly tokens: ReadonlyMap<string, KeptToken>;
  /** undefined: not known. */
  readonly services: readonly ApiObjects["services"][] | undefined;
  readonly runtimeClasses: RuntimeClasses | undefined;
}

/** The record to keep under a name. */
export interface WantedRecord extends KeptRecord {
  /** Whether the record says that a pod must not run again. */
  readonly isEnd: boolean;
}

/** Records by name. `undefined`: a record of that name may stay, but its value is not known. */
export type WantedRecords = ReadonlyMap<string, WantedRecord | undefined>;

/** Computes the wanted records, and keeps each value the same object until it changes. */
export interface RecordsPlan {
  of(
    registry: Registry,
    statusOf: (uid: PodUid) => PodStatus | undefined,
    needs: KnownNeeds,
    now: EpochMs,
  ): WantedRecords;
  /** Returns the record of one pod. */
  ofPod(
    registry: Registry,
    uid: PodUid,
    status: PodStatus | undefined,
  ): (WantedRecord & { readonly name: string }) | undefined;
}

/** A pod at the last look, and its record. */
interface PlannedPod {
  readonly pod: Pod;
  readonly status: PodStatus | undefined;
  readonly value: KeptPod;
  readonly record: WantedRecord & { readonly name: string };
}

/** Creates a plan for one kubelet. Bound: an entry per record. */
export function createRecordsPlan(): RecordsPlan {
  const pods = new Map<PodUid, PlannedPod>();
  const values = new Map<string, { readonly of: readonly unknown[]; readonly value: unknown }>();
  const valueOf = (kind: KeptKind, of: readonly unknown[], compute: () => unknown): unknown => {
    const known = values.get(kind);
    if (known?.of.length === of.length && known.of.every((each, index) => each === of[index])) return known.value;
    const value = compute();
    values.set(kind, { of, value });
    return value;
  };
  const ofPod: RecordsPlan["ofPod"] = ({ records }, uid, status) => {
    const record = records.get(uid);
    const pod = record && podToKeep(record);
    if (pod === undefined) return undefined;
    const known = pods.get(uid);
    // Most pods have not changed since the last time.
    if (known !== undefined && known.pod === pod && known.status === status) return known.record;
    const next = keptPod(pod, status);
    const value = known !== undefined && sameKeptPod(known.value, next) ? known.value : next;
    const planned = { name: recordName("pod", uid), kind: "pod", key: uid, value, isEnd: hasEnded(value) } as const;
    pods.set(uid, { pod, status, value, record: planned });
    return planned;
  };
  return {
    ofPod,
    of(registry, statusOf, { objects, tokens, claims, volumes, services, runtimeClasses }, now) {
      const wanted = new Map<string, WantedRecord | undefined>();
      const add = (kind: KeptKind, key: string, value: unknown): void => {
        wanted.set(recordName(kind, key), value === undefined ? undefined : { kind, key, value, isEnd: false });
      };
      const running = new Set<string>();
      const namespaces = new Set(["default"]);
      for (const uid of pods.keys()) if (!registry.records.has(uid)) pods.delete(uid);
      for (const [uid, record] of registry.records) {
        const kept = ofPod(registry, uid, statusOf(uid));
        if (kept === undefined) continue;
        wanted.set(kept.name, kept);
        const pod = podToKeep(record);
        if (pod === undefined || kept.isEnd) continue;
        running.add(uid);
        namespaces.add(pod.metadata.namespace);
        for (const { kind, name } of podReferences(pod).slice(0, MAX_REFERENCES)) {
          const key = objectKey(kind, pod.metadata.namespace, name);
          const lookup = objects.get(key);
          if (lookup?.kind !== "missing") add("object", key, lookup?.kind === "found" ? lookup.object : undefined);
        }
        for (const key of claimKeys(pod)) {
          const claim = claims.get(key);
          const name = claim?.spec?.volumeName ?? "";
          const volume = volumes.get(name);
          if (volume !== undefined && !isOnNode(volume)) continue;
          // Until the volume is known, the records on disk stay as they are.
          add("claim", key, volume && claim);
          if (name !== "") add("volume", name, volume);
        }
      }
      for (const [key, token] of tokens) {
        if (running.has(podUid(token.wish.pod.uid)) && !isExpired(token, now)) add("token", key, token);
      }
      const of = [services, ...[...namespaces].sort()];
      const kept = services && valueOf("services", of, () => servicesIn(services, namespaces));
      add("services", "", kept);
      add(
        "runtimeclasses",
        "",
        runtimeClasses && valueOf("runtimeclasses", [runtimeClasses], () => [...runtimeClasses]),
      );
      return wanted;
    },
  };
}

/** Returns the part of services that environment variables of pods in these namespaces contain. */
const servicesIn = (services: readonly ApiObjects["services"][], namespaces: ReadonlySet<string>): unknown =>
  services
    .filter(({ metadata }) => namespaces.has(metadata?.namespace ?? ""))
    .map(({ metadata, spec }) => ({
      metadata: { name: metadata?.name, namespace: metadata?.namespace },
      spec: { clusterIP: spec?.clusterIP, ports: spec?.ports },
    }));

/** Returns the key of a token's record. */
export const keptTokenKey = ({ wish }: KeptToken): string => tokenKey(wish);
