/**
 * The Kubernetes API server as a kubelet sees it: generic verbs over typed resources. Objects are in their wire form.
 * Refusals are KubeletErrors made from the server's Status, which is their cause: see `apiError`.
 */
import type { Observable } from "rxjs";
import type { ApiObjects, ApiResourceName, ApiSubresources } from "../core/api/apiResources.ts";
import type { ApiStatus } from "../core/api/apiStatus.ts";
import type { JsonPatchOperation } from "../core/api/jsonPatch.ts";
import type { ApiList, ApiListQuery, ApiWatchEvent, ApiWatchOptions, ObjectRef } from "../core/api/apiRequests.ts";
import type { Call, CallOptions } from "./call.ts";

export type {
  ApiBookmark,
  ApiList,
  ApiSelection,
  ApiWatchEvent,
  ApiWatchOptions,
  ObjectRef,
} from "../core/api/apiRequests.ts";

export interface ApiGetOptions extends CallOptions {
  /** Absent: the newest state. "0": whatever the server has at hand. Else: not older than this. */
  readonly resourceVersion?: string;
}

export interface ApiListOptions extends ApiListQuery, CallOptions {}

export interface ApiUpdateOptions extends CallOptions {
  /** Absent: the object without its status. */
  readonly subresource?: "status" | "resize" | "ephemeralcontainers" | "approval";
}

/** A patch by its content type. */
export type ApiPatch =
  | { readonly type: "application/strategic-merge-patch+json"; readonly body: Readonly<Record<string, unknown>> }
  | { readonly type: "application/merge-patch+json"; readonly body: Readonly<Record<string, unknown>> }
  | { readonly type: "application/json-patch+json"; readonly body: readonly JsonPatchOperation[] };

export interface ApiDeleteOptions extends CallOptions {
  /** Absent: what the object asks for. */
  readonly gracePeriodSeconds?: number;
  /** Conflict unless the object is this one. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
}

/** The verbs. Writes answer the object as stored. */
export interface ApiServer {
  get<R extends ApiResourceName>(resource: R, ref: ObjectRef, options?: ApiGetOptions): Call<ApiObjects[R]>;
  list<R extends ApiResourceName>(resource: R, options?: ApiListOptions): Call<ApiList<ApiObjects[R]>>;
  /** Cold: one subscription is one request. Completes when the server ends it, errors when the connection breaks. */
  watch<R extends ApiResourceName>(resource: R, options?: ApiWatchOptions): Observable<ApiWatchEvent<ApiObjects[R]>>;
  create<R extends ApiResourceName>(resource: R, object: ApiObjects[R], options?: CallOptions): Call<ApiObjects[R]>;
  /** Replaces the object named by its metadata; Conflict when its `resourceVersion` is not the stored one. */
  update<R extends ApiResourceName>(
    resource: R,
    object: ApiObjects[R],
    options?: ApiUpdateOptions,
  ): Call<ApiObjects[R]>;
  patch<R extends ApiResourceName>(
    resource: R,
    ref: ObjectRef,
    patch: ApiPatch,
    options?: ApiUpdateOptions,
  ): Call<ApiObjects[R]>;
  /** The object as it was last, or a Status of success. */
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
 * One server, reached over lanes: what is sent on one never waits for the connections or the rate of another. Together
 * they keep within `kubeAPIQPS`, but for heartbeats, events and reviews, which have bounds of their own.
 */
export interface ApiLanes {
  /** Leases and the status of the node. */
  readonly heartbeats: ApiServer;
  /** What the kubelet says of pods: statuses, deletions, mirror pods. Each request takes a turn first. */
  readonly pods: ApiServer;
  /** Completes when the rate allows a request on the lane of pods: what it says may be decided then. */
  podTurn(): Call<void>;
  readonly events: ApiServer;
  /** Everything it reads, and tokens. */
  readonly objects: ApiServer;
  /** Whose a token is that somebody shows to this node: whoever reaches its port makes these requests. */
  readonly tokenReviews: ApiServer;
  /** What a user may do on this node; these wait for no token of a stranger. */
  readonly accessReviews: ApiServer;
  /** Emits when the server, on whatever lane, is found to be there again. */
  readonly returns$: Observable<void>;
}
