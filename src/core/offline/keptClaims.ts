/**
 * Claims that a pod may have without the API server: those whose volume is a directory or disk of this node. Every other
 * volume waits for that server, because another node may have attached it while this one was off. Upstream: none.
 */
import type { ApiObjects } from "../api/apiResources.ts";
import type { Pod } from "../api.ts";
import { MAX_REFERENCES } from "../pod/podReferences.ts";
import { claimOf } from "../volume/volumeClaim.ts";

export type Claim = ApiObjects["persistentvolumeclaims"];
export type PersistentVolume = ApiObjects["persistentvolumes"];

/** Claims and volumes as last known. */
export interface KnownClaims {
  /** By `claimKey`. */
  readonly claims: ReadonlyMap<string, Claim>;
  /** By name. */
  readonly volumes: ReadonlyMap<string, PersistentVolume>;
}

/** Identifies a claim. */
export const claimKey = ({ namespace = "", name = "" }: { readonly namespace?: string; readonly name?: string }) =>
  `${namespace}/${name}`;

/** Whether the content of a volume is on the node itself. */
export const isOnNode = ({ spec }: PersistentVolume): boolean =>
  spec?.local !== undefined || spec?.hostPath !== undefined;

/** Returns the keys of a pod's claims, those of its ephemeral volumes included; at most MAX_REFERENCES. */
export const claimKeys = (pod: Pod): readonly string[] =>
  (pod.spec.volumes ?? [])
    .slice(0, MAX_REFERENCES)
    .flatMap((volume) => claimOf(pod, volume) ?? [])
    .map(({ claimName: name }) => claimKey({ namespace: pod.metadata.namespace, name }));
