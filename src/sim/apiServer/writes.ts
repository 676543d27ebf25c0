/** Create, update and patch: admission, strategy, and the write to the store. */
import { API_RESOURCES, type ApiResourceName } from "../../core/api/apiResources.ts";
import { jsonMergePatch } from "./patches/jsonMergePatch.ts";
import { jsonPatch } from "./patches/jsonPatch.ts";
import { patchSchemaOf } from "../../core/api/patchSchema.ts";
import { strategicMergePatch } from "./patches/strategicMergePatch.ts";
import { required } from "../../core/pod/fieldProblem.ts";
import type { Result } from "../../core/result.ts";
import { sameValue } from "../../core/sameValue.ts";
import type { ApiPatch, ObjectRef } from "../../ports/apiServer.ts";
import type { ApiWorld } from "./apiWorld.ts";
import { isReadyToGo, releaseNamespace } from "./deletion.ts";
import type { ApiIdentity } from "./identity.ts";
import { keptIdentity, metadataProblems, newObject } from "./metadata.ts";
import { admitWrite } from "./nodeRestriction.ts";
import * as refusals from "../../core/apiObjects/refusals.ts";
import { strategyOf } from "./strategies.ts";
import type { Subresource } from "./strategy.ts";
import { type ApiObject, keyOf, refOf, type StoredObject } from "../../core/apiObjects/storedObject.ts";
import { wireForm } from "./wireForm.ts";

/** A write of an identity. */
export interface WriteRequest {
  readonly resource: ApiResourceName;
  readonly identity: ApiIdentity;
  readonly subresource?: Subresource;
}

const kindOf = (resource: ApiResourceName): string => API_RESOURCES[resource].kind;

/** Creates an object. Errors: 400, 403, 404 (namespace), 409 AlreadyExists, 422. */
export function createObject(world: ApiWorld, { resource, identity }: WriteRequest, object: ApiObject): StoredObject {
  const made = newObject(world, resource, object);
  const { name } = made.metadata;
  const strategy = strategyOf(resource);
  // Admission sees the request before the strategy changes it.
  const refusal = admitWrite(world, identity, { resource, object: made, old: undefined, subresource: undefined });
  if (refusal !== undefined) throw refusals.forbidden(resource, name, refusal);
  const prepared = wireForm(kindOf(resource), strategy.prepareCreate(made, identity)) as StoredObject;
  const problems = strategy.validateCreate(prepared);
  if (problems.length > 0) throw refusals.invalidObject(resource, name, problems);
  if (world.store.get(resource, keyOf(refOf(prepared))) !== undefined) throw refusals.alreadyExists(resource, name);
  if (resource === "events") world.forgetOldEvents();
  return world.store.put(resource, prepared);
}

/** Replaces an object. Errors: 400, 403, 404, 409 Conflict, 422. */
export function updateObject(world: ApiWorld, request: WriteRequest, object: ApiObject): StoredObject {
  const { resource } = request;
  const ref = refOf(object);
  const strategy = strategyOf(resource);
  const old = world.store.get(resource, keyOf(ref));
  if (old === undefined) {
    if (strategy.createOnUpdate && request.subresource === undefined) return createObject(world, request, object);
    throw refusals.notFound(resource, ref.name);
  }
  const { uid = "", resourceVersion = "" } = object.metadata ?? {};
  if (uid !== "" && uid !== old.metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid}`;
    throw refusals.conflict(resource, ref.name, why);
  }
  if (resourceVersion === "" && !strategy.unconditionalUpdate) {
    const problem = required("metadata.resourceVersion", "must be specified for an update");
    throw refusals.invalidObject(resource, ref.name, [problem]);
  }
  return writeOver(world, request, old, object);
}

/** Patches an object. Errors: those of an update; 415 for an unknown content type. */
export function patchObject(world: ApiWorld, request: WriteRequest, ref: ObjectRef, patch: ApiPatch): StoredObject {
  const { resource } = request;
  const old = world.store.get(resource, keyOf(ref));
  if (old === undefined) throw refusals.notFound(resource, ref.name);
  return writeOver(world, request, old, patched(resource, old, patch));
}

function patched(resource: ApiResourceName, old: StoredObject, patch: ApiPatch): ApiObject {
  const accepted = (result: Result<unknown>): ApiObject => {
    if (!result.ok) throw refusals.badRequest(result.error.message);
    if (typeof result.value === "object" && result.value !== null) return result.value as ApiObject;
    throw refusals.badRequest("the patched value is no object");
  };
  switch (patch.type) {
    case "application/strategic-merge-patch+json":
      return accepted(strategicMergePatch(old, asMap(patch.body), patchSchemaOf(kindOf(resource))));
    case "application/merge-patch+json":
      return jsonMergePatch(old, asMap(patch.body));
    case "application/json-patch+json":
      if (!Array.isArray(patch.body)) throw refusals.badRequest("a JSON patch is a list of operations");
      return accepted(jsonPatch(old, patch.body));
    default: {
      const { type } = patch as { readonly type: string };
      throw refusals.unsupportedMediaType(`the body of the request was in an unknown format - ${type}`);
    }
  }
}

function asMap(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (typeof body === "object" && body !== null && !Array.isArray(body)) return body;
  throw refusals.badRequest("the patch is no JSON object");
}

/** Validates and stores the result of an update or patch. */
function writeOver(world: ApiWorld, request: WriteRequest, old: StoredObject, object: ApiObject): StoredObject {
  const { resource, identity, subresource } = request;
  const { name, resourceVersion } = old.metadata;
  const strategy = strategyOf(resource);
  if (subresource !== undefined && !strategy.subresources.includes(subresource)) {
    throw refusals.notFound(resource, `${name}/${subresource}`);
  }
  const wanted = object.metadata?.resourceVersion ?? "";
  if (wanted !== "" && wanted !== resourceVersion) throw refusals.staleVersion(resource, name);
  const asked = keptIdentity(resource, object, old);
  const refusal = admitWrite(world, identity, { resource, object: asked as StoredObject, old, subresource });
  if (refusal !== undefined) throw refusals.forbidden(resource, name, refusal);
  const next = wireForm(kindOf(resource), strategy.prepareUpdate(asked, old, subresource)) as StoredObject;
  const problems = [...metadataProblems(next, old), ...strategy.validateUpdate(next, old, subresource)];
  if (problems.length > 0) throw refusals.invalidObject(resource, name, problems);
  if (sameValue(next, old)) return old;
  if (resource !== "namespaces" && isReadyToGo(next)) {
    const removed = world.store.remove(resource, old, next);
    if (removed.metadata.namespace !== undefined) releaseNamespace(world, removed.metadata.namespace);
    return removed;
  }
  return world.store.put(resource, next);
}
