/**
 * The Kubernetes API server as a kubelet uses it: generic verbs over typed resources, with objects in their wire form.
 * A rejected request is a KubeletError built from the server's Status, which is its cause: see `apiError`.
 */
import type { Observable } from "rxjs";
import type { ApiObjects, ApiResourceName, ApiSubresources } from "../core/api/apiResources.ts";
import type { ApiStatus } from "../core/api/apiStatus.ts";
import type { JsonPatchOperation } from "../core/api/jsonPatchOperation.ts";
import type { ApiList, ApiListQuery, ApiWatchEvent, ApiWatchOptions, ObjectRef } from "../core/api/apiRequests.ts";
import type { Call, CallOptions } from "./call.ts";

export type {
  ApiList,
  ApiSelection,
  ApiWatchEvent,
  ApiWatchOptions,
  ObjectRef,
} from "../core/api/apiRequests.ts";

/** Options of a get. */
export interface ApiGetOptions extends CallOptions {
  /** Absent: the newest state. "0": any state the server has in its cache. Otherwise: not older than this version. */
  readonly resourceVersion?: string;
}

export interface ApiListOptions extends ApiListQuery, CallOptions {}

export interface ApiUpdateOptions extends CallOptions {
  /** Absent: the object itself, without its status. */
  readonly subresource?: "status" | "resize" | "ephemeralcontainers" | "approval";
}

/** Options of a patch. */
export interface ApiPatchOptions extends ApiUpdateOptions {
  /**
   * The response needs no more than the metadata: it is a PartialObjectMetadata, or the whole object of a server that
   * does not support that. Absent: the whole object.
   */
  readonly answer?: "metadata";
}

/** A patch, discriminated by its content type. */
export type ApiPatch =
  | { readonly type: "application/strategic-merge-patch+json"; readonly body: Readonly<Record<string, unknown>> }
  | { readonly type: "application/merge-patch+json"; readonly body: Readonly<Record<string, unknown>> }
  | { readonly type: "application/json-patch+json"; readonly body: readonly JsonPatchOperation[] };

/** Options of a delete. */
export interface ApiDeleteOptions extends CallOptions {
  /** Absent: the default of the object or its resource. */
  readonly gracePeriodSeconds?: number;
  /** Fails with Conflict unless the object matches. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
}

/** The verbs. Writes return the object as stored. */
export interface ApiServer {
  get<R extends ApiResourceName>(resource: R, ref: ObjectRef, options?: ApiGetOptions): Call<ApiObjects[R]>;
  list<R extends ApiResourceName>(resource: R, options?: ApiListOptions): Call<ApiList<ApiObjects[R]>>;
  /**
   * Cold: one subscription is one request. Completes when the server ends the watch, errors when the connection breaks.
   */
  watch<R extends ApiResourceName>(resource: R, options?: ApiWatchOptions): Observable<ApiWatchEvent<ApiObjects[R]>>;
  create<R extends ApiResourceName>(resource: R, object: ApiObjects[R], options?: CallOptions): Call<ApiObjects[R]>;
  /** Replaces the object that its metadata names. Errors: Conflict when its `resourceVersion` is not the stored one. */
  update<R extends ApiResourceName>(
    resource: R,
    object: ApiObjects[R],
    options?: ApiUpdateOptions,
  ): Call<ApiObjects[R]>;
  patch<R extends ApiResourceName>(
    resource: R,
    ref: ObjectRef,
    patch: ApiPatch,
    options?: ApiPatchOptions,
  ): Call<ApiObjects[R]>;
  /** Returns the last state of the object, or a Status of success. */
  delete<R extends ApiResourceName>(
    resource: R,
    ref: ObjectRef,
    options?: ApiDeleteOptions,
  ): Call<ApiObjects[R] | ApiStatus>;
  createSubresource<S extends keyof ApiSubresources>(
    subresource: S,
    ref: ObjectRef,
    body: ApiSubresources[S],
    options?: CallOptions,
  ): Call<ApiSubresources[S]>;
}

/**
 * The lanes of one server. A request on one lane never waits for the connections or the rate limit of another.
 * All lanes together keep within `kubeAPIQPS`, except heartbeats, events and reviews, which have their own bounds.
 */
export interface ApiLanes {
  /** Leases and the node's status. */
  readonly heartbeats: ApiServer;
  /** Pod statuses, pod deletions and mirror pods. Each request waits for a turn first (`podTurn`). */
  readonly pods: ApiServer;
  /** Completes when the rate limit allows a request on the pods lane; the caller computes the request only then. */
  podTurn(): Call<void>;
  readonly events: ApiServer;
  /** All reads, and service account tokens. */
  readonly objects: ApiServer;
  /**
   * TokenReviews for bearer tokens presented to this node's server. Separate, because any client that reaches the port
   * can cause these requests.
   */
  readonly tokenReviews: ApiServer;
  /**
   * SubjectAccessReviews for users of this node's server. They never wait behind the TokenReviews of unauthenticated
   * clients.
   */
  readonly accessReviews: ApiServer;
  /** Emits when the server is reachable again, on any lane. */
  readonly returns$: Observable<void>;
}
