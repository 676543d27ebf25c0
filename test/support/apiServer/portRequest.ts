/** Translates an HTTP API request to a call of the port: paths, queries and bodies to verbs and options. */
import { firstValueFrom, map, type Observable } from "rxjs";
import { API_RESOURCES, type ApiSubresources, apiVersionOf } from "../../../src/core/api/apiResources.ts";
import type {
  ApiPatch,
  ApiServer,
  ApiUpdateOptions,
  ApiWatchOptions,
  ObjectRef,
} from "../../../src/ports/apiServer.ts";
import type { ApiIdentity } from "../../../src/sim/apiServer/identity.ts";
import { type ApiObject, typed, typeOf } from "../../../src/core/apiObjects/storedObject.ts";
import {
  checkObjectType,
  checkPatchType,
  HttpRefusal,
  isMetadataAccepted,
  mediaTypeOf,
  parseBody,
  readBody,
  type ServerRequest,
} from "./answers.ts";
import type { ApiPath } from "../../../src/core/apiObjects/apiPath.ts";
import { checkSigningRequest } from "./signingRequestRules.ts";
import { checkWireTypes } from "./wireTypes.ts";

/** The client of a request, and the server's port for it. */
export interface Asking {
  readonly port: ApiServer;
  readonly identity: ApiIdentity;
}

/** Response: a code and a body. */
export interface Reply {
  readonly code: number;
  readonly body: unknown;
}

const PATCH_TYPES = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
] as const satisfies readonly ApiPatch["type"][];
const UPDATED = ["status", "resize", "ephemeralcontainers", "approval"];
const CREATED: readonly string[] = [
  "pods/binding",
  "pods/eviction",
  "serviceaccounts/token",
] satisfies readonly (keyof ApiSubresources)[];

const NOT_FOUND = () => new HttpRefusal(404, "NotFound", "the server could not find the requested resource");
const NOT_ALLOWED = () =>
  new HttpRefusal(405, "MethodNotAllowed", "the server does not allow this method on the requested resource");

const given = <T extends object>(options: T): { readonly [K in keyof T]?: Exclude<T[K], undefined | null> } =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined && value !== null)) as never;

/** A number of the query; undefined when it is not there. */
function count(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  return text === null || text === "" ? undefined : Number(text);
}

const isTrue = (query: URLSearchParams, name: string): boolean => ["true", "1"].includes(query.get(name) ?? "");

const selectionOf = ({ namespace }: ApiPath, query: URLSearchParams) => ({
  namespace,
  fieldSelector: query.get("fieldSelector"),
  labelSelector: query.get("labelSelector"),
});

const invalidListOptions = (why: string): HttpRefusal =>
  new HttpRefusal(422, "Invalid", `ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: ${why}`);

/** Whether a request opens a watch. */
export const isWatch = (method: string | undefined, { name }: ApiPath, query: URLSearchParams): boolean =>
  method === "GET" && name === undefined && isTrue(query, "watch");

/** The options of a watch. Throws 422. */
export function watchOptions(path: ApiPath, query: URLSearchParams): ApiWatchOptions {
  const match = query.get("resourceVersionMatch");
  const sendInitialEvents = isTrue(query, "sendInitialEvents");
  if (sendInitialEvents && match !== "NotOlderThan") {
    throw invalidListOptions("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  if (!sendInitialEvents && match !== null) {
    throw invalidListOptions("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
  }
  return given({
    ...selectionOf(path, query),
    resourceVersion: query.get("resourceVersion"),
    allowWatchBookmarks: isTrue(query, "allowWatchBookmarks"),
    sendInitialEvents: sendInitialEvents || undefined,
    timeoutSeconds: count(query, "timeoutSeconds"),
  });
}

const answered = async (code: number, call: Observable<unknown>): Promise<Reply> => ({
  code,
  body: await firstValueFrom(call),
});

/** Makes the request of the port. Rejects with an HttpRefusal or the port's KubeletError. */
export async function portRequest(
  asking: Asking,
  request: ServerRequest,
  path: ApiPath,
  query: URLSearchParams,
): Promise<Reply> {
  const { port } = asking;
  if (path.name === undefined) return ofAll(asking, request, path, query);
  const ref: ObjectRef = { ...given({ namespace: path.namespace }), name: path.name };
  if (request.method === "POST") return ofSubresource(port, request, path, ref);
  if (path.subresource !== undefined && !UPDATED.includes(path.subresource)) throw NOT_FOUND();
  const options = given({ subresource: path.subresource as ApiUpdateOptions["subresource"] });
  switch (request.method) {
    case "GET":
      return answered(200, port.get(path.resource, ref, given({ resourceVersion: query.get("resourceVersion") })));
    case "PUT":
      return answered(200, port.update(path.resource, typed(await objectOf(request, path)), options));
    case "PATCH": {
      const type = mediaTypeOf(request);
      checkPatchType(type, PATCH_TYPES);
      const body = parseBody(await readBody(request));
      if (!Array.isArray(body)) checkWireTypes(path.resource, body, true);
      const patch = { type, body } as unknown as ApiPatch;
      const answer = isMetadataAccepted(request) ? ({ answer: "metadata" } as const) : {};
      return answered(200, port.patch(path.resource, ref, patch, { ...options, ...answer }));
    }
    case "DELETE":
      return answered(200, port.delete(path.resource, ref, await deleteOptions(request, query)));
    default:
      throw NOT_ALLOWED();
  }
}

async function ofAll(
  { port, identity }: Asking,
  request: ServerRequest,
  path: ApiPath,
  query: URLSearchParams,
): Promise<Reply> {
  const { resource } = path;
  if (request.method === "POST") {
    const object = await objectOf(request, path);
    if (resource === "certificatesigningrequests") await checkSigningRequest(object, identity);
    return answered(201, port.create(resource, typed(object)));
  }
  if (request.method !== "GET") throw NOT_ALLOWED();
  const options = given({
    ...selectionOf(path, query),
    resourceVersion: query.get("resourceVersion"),
    resourceVersionMatch: query.get("resourceVersionMatch") as "Exact" | "NotOlderThan" | null,
    limit: count(query, "limit"),
    continue: query.get("continue"),
  });
  const list$ = port.list(resource, options).pipe(
    map(({ metadata, items }) => ({
      ...typeOf(resource),
      kind: `${API_RESOURCES[resource].kind}List`,
      metadata,
      // The type of what is listed is that of the list; items do not repeat it.
      items: (items as readonly ApiObject[]).map(({ kind: _kind, apiVersion: _version, ...item }) => item),
    })),
  );
  return answered(200, list$);
}

async function ofSubresource(
  port: ApiServer,
  request: ServerRequest,
  { resource, subresource }: ApiPath,
  ref: ObjectRef,
): Promise<Reply> {
  const name = `${resource}/${subresource}`;
  if (!CREATED.includes(name)) throw subresource === undefined ? NOT_ALLOWED() : NOT_FOUND();
  checkObjectType(request);
  const body = parseBody(await readBody(request));
  const answer = await firstValueFrom(port.createSubresource(name as keyof ApiSubresources, ref, body as never));
  const done = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
  return { code: 201, body: name === "serviceaccounts/token" ? answer : done };
}

/** The object of a create or update; what its URL says of it goes without saying. Throws 400, 415. */
async function objectOf(request: ServerRequest, { resource, namespace, name }: ApiPath): Promise<ApiObject> {
  checkObjectType(request);
  const object = parseBody(await readBody(request)) as ApiObject;
  const info = API_RESOURCES[resource];
  const { apiVersion = apiVersionOf(info), kind = info.kind } = object;
  if (kind !== info.kind || apiVersion !== apiVersionOf(info)) {
    const message = `${kind} in version "${apiVersion}" cannot be handled as a ${info.kind}`;
    throw new HttpRefusal(400, "BadRequest", message);
  }
  checkWireTypes(resource, object, false);
  const { metadata = {} } = object;
  if (namespace !== undefined && (metadata.namespace ?? namespace) !== namespace) {
    const message = "the namespace of the provided object does not match the namespace sent on the request";
    throw new HttpRefusal(400, "BadRequest", message);
  }
  if (name !== undefined && metadata.name !== name) {
    const message = `the name of the object (${metadata.name ?? ""}) does not match the name on the URL (${name})`;
    throw new HttpRefusal(400, "BadRequest", message);
  }
  return { ...object, metadata: { ...metadata, ...given({ namespace }) } };
}

/** Options of a deletion: the body's, else the query's. */
async function deleteOptions(request: ServerRequest, query: URLSearchParams) {
  const text = await readBody(request);
  if (text === "") {
    return given({
      gracePeriodSeconds: count(query, "gracePeriodSeconds"),
      propagationPolicy: query.get("propagationPolicy") as "Background" | null,
    });
  }
  checkObjectType(request);
  const { kind, apiVersion: _version, ...options } = parseBody(text);
  if ((kind ?? "DeleteOptions") === "DeleteOptions") return options;
  throw new HttpRefusal(400, "BadRequest", `expected DeleteOptions, got ${String(kind)}`);
}
