/**
 * The ApiServer port of one client of the simulated API server: authorizes each request, then runs its verb, on the
 * way of a call.
 */
import { defer, type Observable, throwError } from "rxjs";
import type { ApiObjects, ApiResourceName, ApiSubresources } from "../../core/api/apiResources.ts";
import type {
  ApiGetOptions,
  ApiList,
  ApiListOptions,
  ApiPatch,
  ApiPatchOptions,
  ApiServer,
  ApiUpdateOptions,
  ApiWatchEvent,
  ApiWatchOptions,
  ObjectRef,
} from "../../ports/apiServer.ts";
import type { CallOptions } from "../../ports/call.ts";
import { type ApiCallSettings, apiCall, apiRequest, type SimApiRequest } from "./apiCall.ts";
import type { ApiWorld } from "./apiWorld.ts";
import { deleteObject } from "./deletion.ts";
import type { ApiIdentity } from "./identity.ts";
import { type ApiAttributes, type ApiVerb, authorize, partsOf } from "./nodeAuthorizer.ts";
import { admitPodRemoval } from "./nodeRestriction.ts";
import { forbidden, tooManyRequests } from "../../core/apiObjects/refusals.ts";
import { getObject, listObjects } from "../../core/apiObjects/reads.ts";
import {
  type ApiObject,
  metadataOnly,
  refOf,
  type StoredObject,
  typed,
  untyped,
} from "../../core/apiObjects/storedObject.ts";
import { bindPod, evictPod, requestToken, reviewAccess, reviewToken } from "./subresources.ts";
import type { SimAccess } from "./tokenRestriction.ts";
import { type WatchSettings, watchStream } from "./watchStream.ts";
import { createObject, patchObject, updateObject } from "./writes.ts";

/** Settings that all clients of a server share. */
export interface ClientSettings {
  readonly calls: ApiCallSettings;
  readonly watches: WatchSettings;
  readonly maxWatches: number;
  readonly mayAccess: SimAccess;
}

type Parts = Partial<Pick<ApiAttributes, "ref" | "selection" | "subresource">> & { readonly body?: unknown };

/** Creates the port of a client. */
export function createApiClient(world: ApiWorld, settings: ClientSettings, identity: ApiIdentity): ApiServer {
  const caller = callerOf(world, settings, identity);
  return { ...readVerbs(world, settings, caller), ...writeVerbs(world, settings, identity, caller) };
}

type Caller = ReturnType<typeof callerOf>;

/** Makes the requests of one client, each authorized when it reaches the server. */
function callerOf(world: ApiWorld, settings: ClientSettings, identity: ApiIdentity) {
  const requestOf = (verb: ApiVerb, resource: ApiResourceName, parts: Parts): SimApiRequest => ({
    verb,
    resource,
    identity,
    subresource: parts.subresource,
    ref: parts.ref,
    selection: parts.selection,
    body: parts.body,
  });
  const check = (request: SimApiRequest): void => {
    const why = authorize(world, identity, request);
    if (why !== undefined) throw forbidden(request.resource, request.ref?.name ?? "", why);
  };
  const call = <T>(
    verb: ApiVerb,
    resource: ApiResourceName,
    parts: Parts,
    effect: () => T,
    options: CallOptions | undefined,
  ) => {
    const request = requestOf(verb, resource, parts);
    const checked = () => {
      check(request);
      return effect();
    };
    return apiCall(settings.calls, request, checked, options);
  };
  return { requestOf, check, call };
}

function readVerbs(
  world: ApiWorld,
  settings: ClientSettings,
  { requestOf, check, call }: Caller,
): Pick<ApiServer, "get" | "list" | "watch"> {
  return {
    get: <R extends ApiResourceName>(resource: R, ref: ObjectRef, options: ApiGetOptions = {}) =>
      call("get", resource, { ref }, () => typed<R>(getObject(world, resource, ref, options.resourceVersion)), options),
    list: <R extends ApiResourceName>(resource: R, options: ApiListOptions = {}) =>
      call(
        "list",
        resource,
        { selection: options },
        () => listObjects(world, resource, options) as unknown as ApiList<ApiObjects[R]>,
        options,
      ),
    watch: <R extends ApiResourceName>(resource: R, options: ApiWatchOptions = {}) => {
      const request = requestOf("watch", resource, { selection: options });
      const start = () =>
        defer(() => {
          check(request);
          if (settings.watches.open.size >= settings.maxWatches) return throwError(() => tooManyRequests());
          return watchStream(world, settings.watches, resource, options);
        });
      return apiRequest(settings.calls, request, start) as unknown as Observable<ApiWatchEvent<ApiObjects[R]>>;
    },
  };
}

function writeVerbs(
  world: ApiWorld,
  settings: ClientSettings,
  identity: ApiIdentity,
  { call }: Caller,
): Pick<ApiServer, "create" | "update" | "patch" | "delete" | "createSubresource"> {
  return {
    create: <R extends ApiResourceName>(resource: R, object: ApiObjects[R], options?: CallOptions) => {
      const body = untyped(object);
      const effect = () => typed<R>(createAny(world, settings, identity, resource, body));
      return call("create", resource, { ref: refOf(body), body }, effect, options);
    },
    update: <R extends ApiResourceName>(resource: R, object: ApiObjects[R], options: ApiUpdateOptions = {}) => {
      const body = untyped(object);
      const { subresource } = options;
      const effect = () => typed<R>(updateObject(world, { resource, identity, subresource }, body));
      return call("update", resource, { ref: refOf(body), subresource, body }, effect, options);
    },
    patch: <R extends ApiResourceName>(resource: R, ref: ObjectRef, patch: ApiPatch, options: ApiPatchOptions = {}) => {
      const { subresource, answer } = options;
      const effect = () => {
        const object = patchObject(world, { resource, identity, subresource }, ref, patch);
        return typed<R>(answer === "metadata" ? metadataOnly(object) : object);
      };
      return call("patch", resource, { ref, subresource, body: patch }, effect, options);
    },
    delete: (resource, ref, options = {}) => {
      const effect = () => {
        const refusal = resource === "pods" ? admitPodRemoval(world, identity, ref, "delete") : undefined;
        if (refusal !== undefined) throw forbidden("pods", ref.name, refusal);
        return deleteObject(world, resource, ref, options) as never;
      };
      return call("delete", resource, { ref, body: options }, effect, options);
    },
    createSubresource: <S extends keyof ApiSubresources>(
      name: S,
      ref: ObjectRef,
      body: ApiSubresources[S],
      options?: CallOptions,
    ) => {
      const [resource, subresource] = partsOf(name);
      const effect = () => subresourceOf(world, settings, identity, name, ref, body) as ApiSubresources[S];
      return call("create", resource, { ref, subresource, body }, effect, options);
    },
  };
}

/** Reviews are answered and not stored; every other object is stored. */
function createAny(
  world: ApiWorld,
  { mayAccess }: ClientSettings,
  identity: ApiIdentity,
  resource: ApiResourceName,
  object: ApiObject,
): ApiObject {
  const asReview = <R extends ApiResourceName>() => typed<R>(object);
  if (resource === "tokenreviews") return untyped(reviewToken(world, asReview<"tokenreviews">()));
  if (resource === "subjectaccessreviews") {
    return untyped(reviewAccess(mayAccess, asReview<"subjectaccessreviews">()));
  }
  return createObject(world, { resource, identity }, object) satisfies StoredObject;
}

function subresourceOf(
  world: ApiWorld,
  { mayAccess }: ClientSettings,
  identity: ApiIdentity,
  name: keyof ApiSubresources,
  ref: ObjectRef,
  body: ApiSubresources[keyof ApiSubresources],
): ApiSubresources[keyof ApiSubresources] {
  switch (name) {
    case "pods/binding":
      bindPod(world, ref, (body as ApiSubresources["pods/binding"]).target.name ?? "");
      return body;
    case "pods/eviction":
      return evictPod(world, identity, ref, body);
    case "serviceaccounts/token":
      return requestToken({ world, mayAccess }, identity, ref, body);
  }
}
