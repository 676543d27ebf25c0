/** Objects of an API server: plain JSON of any resource, replaced and never changed in place. */
import { API_RESOURCES, type ApiObjects, type ApiResourceName, apiVersionOf } from "../api/apiResources.ts";
import type { ObjectMeta } from "../api.ts";
import type { ObjectRef } from "../api/apiRequests.ts";

/** An object as a client sends it. */
export interface ApiObject {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly [field: string]: unknown;
}

/** An object with the metadata that the server sets. */
export interface StoredObject extends ApiObject {
  readonly metadata: ObjectMeta & {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly creationTimestamp: string;
  };
}

/** Returns any typed object as the server handles it. */
export const untyped = (object: ApiObjects[ApiResourceName]): ApiObject => object;

/** Returns a stored object with the type of its resource. */
export const typed = <R extends ApiResourceName>(object: ApiObject): ApiObjects[R] =>
  object as unknown as ApiObjects[R];

/** Returns the form of an object that has nothing but its metadata. */
export const metadataOnly = ({ metadata }: StoredObject): StoredObject => ({
  kind: "PartialObjectMetadata",
  apiVersion: "meta.k8s.io/v1",
  metadata,
});

/** Returns the key of an object within its resource. */
export const keyOf = ({ namespace = "", name }: ObjectRef): string =>
  namespace === "" ? name : `${namespace}/${name}`;

/** Returns the reference to an object, from its metadata. */
export const refOf = ({ metadata }: ApiObject): ObjectRef => {
  const { namespace, name = "" } = metadata ?? {};
  return namespace === undefined ? { name } : { namespace, name };
};

/** Returns a field by its path, such as `spec.nodeName`; undefined when absent. */
export function fieldAt(object: unknown, path: string): unknown {
  let here = object;
  for (const step of path.split(".")) {
    if (typeof here !== "object" || here === null) return undefined;
    here = (here as Readonly<Record<string, unknown>>)[step];
  }
  return here;
}

/** Returns `name`, or `name.group` outside the core group: the name of a resource in messages. */
export function qualifiedResource(resource: ApiResourceName): string {
  const { group } = API_RESOURCES[resource];
  return group === "" ? resource : `${resource}.${group}`;
}

/** Returns the kind and version that every object of the resource carries. */
export const typeOf = (resource: ApiResourceName): { readonly apiVersion: string; readonly kind: string } => ({
  apiVersion: apiVersionOf(API_RESOURCES[resource]),
  kind: API_RESOURCES[resource].kind,
});
