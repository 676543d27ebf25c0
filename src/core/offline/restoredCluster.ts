/** The cluster as far as records on disk say: pods to restore, and what they need. Upstream: none. */
import type { ApiObjects } from "../api/apiResources.ts";
import { configLookupOf } from "../api/configLookup.ts";
import type { Pod } from "../api.ts";
import { type ConfigLookup, keyOf, type ManifestObjectKey } from "../configObjects.ts";
import { type EpochMs, epochMs } from "../ids.ts";
import { isJsonObject } from "../json.ts";
import { readApiPod } from "../pod/apiPod.ts";
import { markRestored } from "../pod/restoredMark.ts";
import type { RuntimeClasses } from "../runtime/runtimeHandler.ts";
import { tokenKey, type TokenWish } from "../token/serviceAccountToken.ts";
import { type Claim, claimKey, type PersistentVolume } from "./keptClaims.ts";
import type { KeptRecord } from "./keptRecord.ts";
import type { KeptToken, KnownNeeds } from "./wantedRecords.ts";

/** The content of all records. */
export interface RestoredCluster extends KnownNeeds {
  /** Marked as restored, in order of their records. */
  readonly pods: readonly Pod[];
  readonly faults: readonly RecordFault[];
}

/** A record that cannot be used, and why. */
export interface RecordFault extends Pick<KeptRecord, "kind" | "key"> {
  readonly reason: string;
}

/** Reads the values of records at `now`. A record that cannot be used is a fault, and does not affect others. */
export function restoredCluster(records: readonly KeptRecord[], now: EpochMs): RestoredCluster {
  const pods: Pod[] = [];
  const objects = new Map<ManifestObjectKey, ConfigLookup>();
  const tokens = new Map<string, KeptToken>();
  const claims = new Map<string, Claim>();
  const volumes = new Map<string, PersistentVolume>();
  const faults: RecordFault[] = [];
  let services: readonly ApiObjects["services"][] | undefined;
  let runtimeClasses: RuntimeClasses | undefined;
  for (const { kind, key, value } of records) {
    const refuse = (reason: string): void => void faults.push({ kind, key, reason });
    if (kind === "pod") {
      const { pod, problems } = readApiPod(value, now);
      if (pod?.metadata.uid === key) pods.push(markRestored(pod));
      else refuse(problems.map(({ field, reason }) => `${field}: ${reason}`).join("; ") || "it is another pod");
    } else if (kind === "object") {
      const lookup = lookupOf(value);
      if (lookup?.kind === "found" && keyOf(lookup.object) === key) objects.set(keyOf(lookup.object), lookup);
      else refuse(lookup?.kind === "unknown" ? lookup.error.message : "it is another object");
    } else if (kind === "token") {
      const token = tokenOf(value);
      if (token !== undefined && tokenKey(token.wish) === key) tokens.set(key, token);
      else refuse("it is not a token of this name");
    } else if (kind === "claim" || kind === "volume") {
      const found =
        isJsonObject(value) && isJsonObject(value["spec"]) ? (value as Claim & PersistentVolume) : undefined;
      const [own, into] = kind === "claim" ? [claimKey, claims] : [volumeKey, volumes];
      if (found !== undefined && own(found.metadata ?? {}) === key) into.set(key, found);
      else refuse(`it is not a ${kind} of this name`);
    } else if (!Array.isArray(value)) refuse("it is not a list");
    else if (kind === "services") services = value.filter(isJsonObject);
    else runtimeClasses = new Map(value.filter(isNamedClass));
  }
  return { pods, objects, tokens, claims, volumes, services, runtimeClasses, faults };
}

const volumeKey = ({ name = "" }: { readonly name?: string }): string => name;

function lookupOf(value: unknown): ConfigLookup | undefined {
  if (!isJsonObject(value)) return undefined;
  const { kind } = value;
  return kind === "ConfigMap" || kind === "Secret" ? configLookupOf(kind, value) : undefined;
}

const isNamedClass = (entry: unknown): entry is [string, ApiObjects["runtimeclasses"]] =>
  Array.isArray(entry) &&
  typeof entry[0] === "string" &&
  isJsonObject(entry[1]) &&
  typeof entry[1]["handler"] === "string";

function tokenOf(value: unknown): KeptToken | undefined {
  if (!isJsonObject(value)) return undefined;
  const { token, expiresAt, lifeMs, wish } = value;
  if (typeof token !== "string" || typeof expiresAt !== "number" || typeof lifeMs !== "number" || !isWish(wish)) {
    return undefined;
  }
  return { token, expiresAt: epochMs(expiresAt), lifeMs, wish };
}

const isWish = (value: unknown): value is TokenWish =>
  isJsonObject(value) &&
  typeof value["namespace"] === "string" &&
  typeof value["serviceAccount"] === "string" &&
  typeof value["expirationSeconds"] === "number" &&
  Array.isArray(value["audiences"]) &&
  value["audiences"].every((each) => typeof each === "string") &&
  isJsonObject(value["pod"]) &&
  typeof value["pod"]["name"] === "string" &&
  typeof value["pod"]["uid"] === "string";
