/** Rules of the server for the metadata of all written objects. */
import { API_RESOURCES, type ApiResourceName } from "../../core/api/apiResources.ts";
import { type FieldProblem, forbidden, invalid, invalidEach, required } from "../../core/pod/fieldProblem.ts";
import { dnsSubdomain, labelValue, qualifiedName } from "../../core/pod/validateFormats.ts";
import { sameValue } from "../../core/sameValue.ts";
import type { ApiWorld } from "./apiWorld.ts";
import { badRequest, forbidden as refuse, invalidObject, notFound } from "../../core/apiObjects/refusals.ts";
import { type ApiObject, fieldAt, type StoredObject, typeOf } from "../../core/apiObjects/storedObject.ts";

const checkType = (resource: ApiResourceName, { apiVersion, kind }: ApiObject): void => {
  const right = typeOf(resource);
  if ((apiVersion ?? right.apiVersion) === right.apiVersion && (kind ?? right.kind) === right.kind) return;
  throw badRequest(`${kind ?? ""} in version "${apiVersion ?? ""}" cannot be handled as a ${right.kind}`);
};

/** Checks that the namespace exists and is not terminating. */
function checkNamespace(world: ApiWorld, resource: ApiResourceName, namespace: string, name: string): void {
  const found = world.store.get("namespaces", namespace);
  if (found === undefined) throw notFound("namespaces", namespace);
  if (fieldAt(found, "status.phase") !== "Terminating") return;
  throw refuse(resource, name, `unable to create new content in namespace ${namespace} because it is being terminated`);
}

/**
 * Names of certificate signing requests are digests, with upper case letters too; names of trust bundles begin with
 * their signer and a colon.
 */
const hasOwnNames = (resource: ApiResourceName): boolean =>
  resource === "certificatesigningrequests" || resource === "clustertrustbundles";

/** Returns the object with its new identity: name, UID, creation timestamp. */
export function newObject(world: ApiWorld, resource: ApiResourceName, object: ApiObject): StoredObject {
  checkType(resource, object);
  const { namespaced } = API_RESOURCES[resource];
  const {
    namespace = "",
    resourceVersion = "",
    deletionTimestamp: _deletion,
    deletionGracePeriodSeconds: _grace,
    generation: _generation,
    ...metadata
  } = object.metadata ?? {};
  const { name = "", generateName = "" } = metadata;
  if (resourceVersion !== "") throw badRequest("resourceVersion should not be set on objects to be created");
  if (namespaced && namespace === "") throw badRequest("an empty namespace may not be set during creation");
  const given = name === "" && generateName !== "" ? `${generateName}${world.suffix()}` : name;
  if (given === "") {
    throw invalidObject(resource, "", [required("metadata.name", "name or generateName is required")]);
  }
  const complaints = hasOwnNames(resource) ? [] : dnsSubdomain(given);
  const problems = [...invalidEach("metadata.name", given, complaints), ...markProblems(metadata)];
  if (problems.length > 0) throw invalidObject(resource, given, problems);
  if (namespaced) checkNamespace(world, resource, namespace, given);
  return {
    ...object,
    ...typeOf(resource),
    metadata: {
      ...metadata,
      name: given,
      ...(namespaced ? { namespace } : {}),
      uid: world.ids.uuid(),
      creationTimestamp: world.now(),
      resourceVersion: "",
    },
  };
}

/** Returns an update with immutable metadata restored. Errors: 400 if it names another object. */
export function keptIdentity(resource: ApiResourceName, object: ApiObject, old: StoredObject): ApiObject {
  checkType(resource, object);
  const { generation: _generation, deletionTimestamp: _deletion, ...metadata } = object.metadata ?? {};
  const kept = old.metadata;
  if ((metadata.name ?? kept.name) !== kept.name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${kept.name})`);
  }
  if ((metadata.namespace ?? kept.namespace) !== kept.namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  return {
    ...object,
    ...typeOf(resource),
    metadata: {
      ...metadata,
      name: kept.name,
      ...(kept.namespace === undefined ? {} : { namespace: kept.namespace }),
      uid: metadata.uid || kept.uid,
      creationTimestamp: kept.creationTimestamp,
      resourceVersion: kept.resourceVersion,
      ...(kept.generation === undefined ? {} : { generation: kept.generation }),
      ...(kept.deletionTimestamp === undefined ? {} : { deletionTimestamp: kept.deletionTimestamp }),
      ...(kept.deletionGracePeriodSeconds === undefined
        ? {}
        : { deletionGracePeriodSeconds: metadata.deletionGracePeriodSeconds ?? kept.deletionGracePeriodSeconds }),
    },
  };
}

/** Returns the problems of labels and annotations. */
function* markProblems({ labels = {}, annotations = {} }: NonNullable<ApiObject["metadata"]>): Iterable<FieldProblem> {
  for (const [key, value] of Object.entries(labels)) {
    yield* invalidEach("metadata.labels", key, qualifiedName(key));
    yield* invalidEach("metadata.labels", value, labelValue(value));
  }
  for (const key of Object.keys(annotations)) {
    yield* invalidEach("metadata.annotations", key, qualifiedName(key.toLowerCase()));
  }
}

/** Returns the problems of the metadata of an update. */
export function* metadataProblems({ metadata = {} }: ApiObject, old: StoredObject): Iterable<FieldProblem> {
  const { labels, annotations } = old.metadata;
  if (!sameValue(metadata.labels, labels) || !sameValue(metadata.annotations, annotations)) {
    yield* markProblems(metadata);
  }
  if (metadata.uid !== old.metadata.uid) yield invalid("metadata.uid", metadata.uid, "field is immutable");
  if (!sameValue(metadata.deletionGracePeriodSeconds, old.metadata.deletionGracePeriodSeconds)) {
    yield invalid("metadata.deletionGracePeriodSeconds", metadata.deletionGracePeriodSeconds, "field is immutable");
  }
  if (old.metadata.deletionTimestamp === undefined) return;
  const added = (metadata.finalizers ?? []).filter((each) => !(old.metadata.finalizers ?? []).includes(each));
  if (added.length > 0) {
    yield forbidden(
      "metadata.finalizers",
      `no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`,
    );
  }
}
