/**
 * Deletion in two steps for pods: a first request sets the deletion timestamp, a request with grace 0 removes the
 * object. All other objects are removed at once. Finalizers hold any object back. Differs from upstream: there is no
 * garbage collector, so every propagation policy acts as Background.
 */
import { API_RESOURCES, type ApiResourceName } from "../../core/api/apiResources.ts";
import { parseInstant } from "../../core/time/civilTime.ts";
import { formatInstant } from "../../core/time/civilTime.ts";
import { epochMs } from "../../core/ids.ts";
import type { ApiStatus } from "../../core/api/apiStatus.ts";
import type { ApiDeleteOptions, ObjectRef } from "../../ports/apiServer.ts";
import type { ApiWorld } from "./apiWorld.ts";
import { conflict, deletedStatus, invalidOptions, notFound } from "../../core/apiObjects/refusals.ts";
import { fieldAt, keyOf, refOf, type StoredObject } from "../../core/apiObjects/storedObject.ts";

const MS_PER_SECOND = 1000;
const POLICIES: readonly string[] = ["Foreground", "Background", "Orphan"];

function checkPolicy({ propagationPolicy = "Background" }: ApiDeleteOptions): void {
  if (!POLICIES.includes(propagationPolicy)) throw invalidOptions(propagationPolicy, POLICIES);
}

function checkPreconditions(resource: ApiResourceName, object: StoredObject, options: ApiDeleteOptions): void {
  const { uid, resourceVersion } = options.preconditions ?? {};
  const { metadata } = object;
  const differs = (what: string, wanted: string, found: string) =>
    conflict(
      resource,
      metadata.name,
      `the ${what} in the precondition (${wanted}) does not match the ${what} in record (${found}). ` +
        "The object might have been deleted and then recreated",
    );
  if (uid !== undefined && uid !== metadata.uid) throw differs("UID", uid, metadata.uid);
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw differs("ResourceVersion", resourceVersion, metadata.resourceVersion);
  }
}

/**
 * Returns the grace seconds of a pod's first deletion: 0 before it is bound to a node, or after it has terminated.
 */
function podGraceSeconds(pod: StoredObject, { gracePeriodSeconds }: ApiDeleteOptions): number {
  const phase = fieldAt(pod, "status.phase");
  if (!fieldAt(pod, "spec.nodeName") || phase === "Succeeded" || phase === "Failed") return 0;
  const seconds = gracePeriodSeconds ?? Number(fieldAt(pod, "spec.terminationGracePeriodSeconds") ?? 30);
  return seconds < 0 ? 1 : seconds;
}

function marked(object: StoredObject, deletionTimestamp: string, graceSeconds: number): StoredObject {
  return { ...object, metadata: { ...object.metadata, deletionTimestamp, deletionGracePeriodSeconds: graceSeconds } };
}

/** Sets the deletion timestamp for the first time, which counts as a change of the desired state. */
function firstMark(object: StoredObject, deletionTimestamp: string, graceSeconds: number): StoredObject {
  const { generation } = object.metadata;
  const next = marked(object, deletionTimestamp, graceSeconds);
  return generation === undefined ? next : { ...next, metadata: { ...next.metadata, generation: generation + 1 } };
}

/** Sets the deletion timestamp of a pod, or shortens its grace; undefined if the request changes nothing. */
function markPod(world: ApiWorld, pod: StoredObject, options: ApiDeleteOptions): StoredObject | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  if (deletionTimestamp === undefined) {
    const seconds = podGraceSeconds(pod, options);
    return firstMark(pod, world.now(seconds), seconds);
  }
  const before = deletionGracePeriodSeconds ?? 0;
  const seconds = options.gracePeriodSeconds;
  if (seconds === undefined || seconds >= before) return undefined;
  const endsAt = (parseInstant(deletionTimestamp) ?? world.clock.wallTime()) - (before - seconds) * MS_PER_SECOND;
  return marked(pod, formatInstant(epochMs(endsAt)), Math.max(0, seconds));
}

/** Returns whether an object with a deletion timestamp may be removed. */
export const isReadyToGo = ({ metadata }: StoredObject): boolean =>
  metadata.deletionTimestamp !== undefined &&
  (metadata.finalizers ?? []).length === 0 &&
  (metadata.deletionGracePeriodSeconds ?? 0) === 0;

function deletePod(world: ApiWorld, pod: StoredObject, options: ApiDeleteOptions): StoredObject {
  const mark = markPod(world, pod, options);
  if (mark === undefined) return pod;
  const stored = world.store.put("pods", mark);
  return isReadyToGo(stored) ? world.store.remove("pods", stored) : stored;
}

/**
 * Sets the deletion timestamp of a namespace and deletes its objects; the namespace is removed with the last of them.
 */
function deleteNamespace(world: ApiWorld, namespace: StoredObject): StoredObject {
  const { name, deletionTimestamp } = namespace.metadata;
  if (deletionTimestamp === undefined) {
    const terminating = { ...marked(namespace, world.now(), 0), status: { phase: "Terminating" } };
    world.store.put("namespaces", terminating);
    for (const resource of Object.keys(API_RESOURCES) as ApiResourceName[]) {
      for (const object of [...world.store.all(resource).values()]) {
        if (object.metadata.namespace === name) deleteObject(world, resource, refOf(object), {});
      }
    }
  }
  return releaseNamespace(world, name) ?? world.store.get("namespaces", name) ?? namespace;
}

/** Removes a namespace that is being deleted once it is empty. */
export function releaseNamespace(world: ApiWorld, name: string): StoredObject | undefined {
  const namespace = world.store.get("namespaces", name);
  if (namespace?.metadata.deletionTimestamp === undefined) return undefined;
  for (const resource of Object.keys(API_RESOURCES) as ApiResourceName[]) {
    for (const { metadata } of world.store.all(resource).values()) if (metadata.namespace === name) return undefined;
  }
  return world.store.remove("namespaces", namespace);
}

/** Deletes an object. Errors: 404; 409 if the preconditions do not hold. */
export function deleteObject(
  world: ApiWorld,
  resource: ApiResourceName,
  ref: ObjectRef,
  options: ApiDeleteOptions,
): StoredObject | ApiStatus {
  checkPolicy(options);
  const object = world.store.get(resource, keyOf(ref));
  if (object === undefined) throw notFound(resource, ref.name);
  checkPreconditions(resource, object, options);
  if (resource === "namespaces") return deleteNamespace(world, object);
  const answer = resource === "pods" ? deletePod(world, object, options) : deletePlain(world, resource, object);
  if (ref.namespace !== undefined) releaseNamespace(world, ref.namespace);
  return answer;
}

function deletePlain(world: ApiWorld, resource: ApiResourceName, object: StoredObject): StoredObject | ApiStatus {
  const { finalizers = [], deletionTimestamp, name, uid } = object.metadata;
  if (finalizers.length === 0) {
    world.store.remove(resource, object);
    return deletedStatus(resource, name, uid);
  }
  return deletionTimestamp === undefined ? world.store.put(resource, firstMark(object, world.now(), 0)) : object;
}
