/** Objects as an API server keeps them: plain JSON of any resource, replaced and never changed in place. */
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

/** An object with what the server gives to each. */
export interface StoredObject extends ApiObject {
  readonly metadata: ObjectMeta & {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly creationTimestamp: string;
  };
}

/** Any object of the port, as the server sees it. */
export const untyped = (object: ApiObjects[ApiResourceName]): ApiObject => object;

/** A stored object as the port's type of its resource. */
export const typed = <R extends ApiResourceName>(object: ApiObject): ApiObjects[R] =>
  object as unknown as ApiObjects[R];

/** The key of an object among those of its resource. */
export const keyOf = ({ namespace = "", name }: ObjectRef): string =>
  namespace === "" ? name : `${namespace}/${name}`;

/** The reference an object's metadata makes. */
export const refOf = ({ metadata }: ApiObject): ObjectRef => {
  const { namespace, name = "" } = metadata ?? {};
  return namespace === undefined ? { name } : { namespace, name };
};

/** A field by its path, such as `spec.nodeName`; undefined where there is none. */
export function fieldAt(object: unknown, path: string): unknown {
  let here = object;
  for (const step of path.split(".")) {
    if (typeof here !== "object" || here === null) return undefined;
    here = (here as Readonly<Record<string, unknown>>)[step];
  }
  return here;
}

/** `name`, or `name.group` outside the core group: how messages name a resource. */
export function qualifiedResource(resource: ApiResourceName): string {
  const { group } = API_RESOURCES[resource];
  return group === "" ? resource : `${resource}.${group}`;
}

/** Kind and version as every object of the resource carries them. */
export const typeOf = (resource: ApiResourceName): { readonly apiVersion: string; readonly kind: string } => ({
  apiVersion: apiVersionOf(API_RESOURCES[resource]),
  kind: API_RESOURCES[resource].kind,
});
