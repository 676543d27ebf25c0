/** Converts the verbs of the port to HTTP requests: path, query, body. Sends no requests. */
import { API_RESOURCES, type ApiObjects, type ApiResourceName, apiVersionOf } from "../../core/api/apiResources.ts";
import { kubeletError } from "../../core/errors.ts";
import type {
  ApiDeleteOptions,
  ApiGetOptions,
  ApiListOptions,
  ApiPatch,
  ApiPatchOptions,
  ApiSelection,
  ApiWatchOptions,
  ObjectRef,
} from "../../ports/apiServer.ts";

/** An HTTP request. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query, below the server's base URL. */
  readonly path: string;
  readonly contentType?: string;
  /** Default: JSON. */
  readonly accept?: string;
  readonly body?: string;
}

const JSON_TYPE = "application/json";
const METADATA_TYPE = `${JSON_TYPE};as=PartialObjectMetadata;g=meta.k8s.io;v=v1, ${JSON_TYPE}`;

/** Returns the path of all objects of a resource, in one namespace or all. */
function collection(resource: ApiResourceName, namespace: string | undefined): string {
  const { group, version, namespaced } = API_RESOURCES[resource];
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const scope = namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  return `${root}${scope}/${resource}`;
}

/** Returns the path of one object. Throws InvalidArgument for a name that would change the path. */
function single(resource: ApiResourceName, { namespace = "", name }: ObjectRef, subresource?: string): string {
  const needed = API_RESOURCES[resource].namespaced ? [namespace, name] : [name];
  if (needed.some((part) => part === "" || part === "." || part === "..")) {
    throw kubeletError(
      "InvalidArgument",
      `${resource} ${JSON.stringify(name)} in namespace ${JSON.stringify(namespace)} cannot be asked for`,
    );
  }
  const path = `${collection(resource, namespace)}/${encodeURIComponent(name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

function withQuery(path: string, query: Query): string {
  const parts = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== "")
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return parts.length === 0 ? path : `${path}?${parts.join("&")}`;
}

const selectors = ({ fieldSelector, labelSelector }: ApiSelection): Query => ({ fieldSelector, labelSelector });

const typed = (resource: ApiResourceName, object: object): string => {
  const info = API_RESOURCES[resource];
  return JSON.stringify({ apiVersion: apiVersionOf(info), kind: info.kind, ...object });
};

const refOf = (object: ApiObjects[ApiResourceName]): ObjectRef => {
  const { namespace, name = "" } = object.metadata ?? {};
  return namespace === undefined ? { name } : { namespace, name };
};

/** Builds a get. */
export const getRequest = (
  resource: ApiResourceName,
  ref: ObjectRef,
  { resourceVersion }: ApiGetOptions,
): ApiRequest => ({
  method: "GET",
  path: withQuery(single(resource, ref), { resourceVersion }),
});

/** Builds a list. */
export const listRequest = (resource: ApiResourceName, options: ApiListOptions): ApiRequest => {
  const { namespace, resourceVersion, resourceVersionMatch, limit, continue: token } = options;
  const page = { resourceVersion, resourceVersionMatch, limit, continue: token };
  return { method: "GET", path: withQuery(collection(resource, namespace), { ...selectors(options), ...page }) };
};

/** Builds a watch. */
export const watchRequest = (resource: ApiResourceName, options: ApiWatchOptions): ApiRequest => {
  const { namespace, resourceVersion, allowWatchBookmarks, sendInitialEvents, timeoutSeconds } = options;
  const query = {
    ...selectors(options),
    watch: true,
    resourceVersion,
    allowWatchBookmarks,
    ...(sendInitialEvents === true ? { sendInitialEvents, resourceVersionMatch: "NotOlderThan" } : {}),
    timeoutSeconds,
  };
  return { method: "GET", path: withQuery(collection(resource, namespace), query) };
};

/** Builds a create. */
export const createRequest = <R extends ApiResourceName>(resource: R, object: ApiObjects[R]): ApiRequest => ({
  method: "POST",
  path: collection(resource, object.metadata?.namespace),
  contentType: JSON_TYPE,
  body: typed(resource, object),
});

/** Builds a create of a subresource: binding, eviction or token. */
export const subresourceRequest = (name: string, ref: ObjectRef, kind: string, body: object): ApiRequest => {
  const [resource = "", subresource = ""] = name.split("/");
  const typedBody = { apiVersion: SUBRESOURCE_VERSIONS[kind], kind, ...body };
  return {
    method: "POST",
    path: single(resource as ApiResourceName, ref, subresource),
    contentType: JSON_TYPE,
    body: JSON.stringify(typedBody),
  };
};

const SUBRESOURCE_VERSIONS: Readonly<Record<string, string>> = {
  Binding: "v1",
  Eviction: "policy/v1",
  TokenRequest: "authentication.k8s.io/v1",
};

/** Builds an update with the whole object. */
export const updateRequest = <R extends ApiResourceName>(
  resource: R,
  object: ApiObjects[R],
  subresource: string | undefined,
): ApiRequest => ({
  method: "PUT",
  path: single(resource, refOf(object), subresource),
  contentType: JSON_TYPE,
  body: typed(resource, object),
});

/** Builds a patch with its content type. */
export const patchRequest = (
  resource: ApiResourceName,
  ref: ObjectRef,
  patch: ApiPatch,
  { subresource, answer }: Pick<ApiPatchOptions, "subresource" | "answer">,
): ApiRequest => ({
  method: "PATCH",
  path: single(resource, ref, subresource),
  contentType: patch.type,
  ...(answer === "metadata" ? { accept: METADATA_TYPE } : {}),
  body: JSON.stringify(patch.body),
});

/** Builds a delete, whose options are its body. */
export const deleteRequest = (resource: ApiResourceName, ref: ObjectRef, options: ApiDeleteOptions): ApiRequest => {
  const { deadlineMs: _deadline, parent: _parent, ...body } = options;
  return {
    method: "DELETE",
    path: single(resource, ref),
    contentType: JSON_TYPE,
    body: JSON.stringify({ apiVersion: "v1", kind: "DeleteOptions", ...body }),
  };
};
