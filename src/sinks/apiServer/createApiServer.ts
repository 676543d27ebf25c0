/**
 * The ApiServer port over HTTP: one lane to a real API server. Owns only its connections. Bounds: each call has a
 * deadline that includes rate limiting and waiting; a watch ends with its subscription. Upstream: client-go's
 * rest.Request.
 */
import { catchError, defer, map, type Observable, switchMap, tap, throwError } from "rxjs";
import { answerError } from "../../core/api/apiAnswer.ts";
import type { ApiObjects, ApiResourceName, ApiSubresources } from "../../core/api/apiResources.ts";
import type { ApiStatus } from "../../core/api/apiStatus.ts";
import { isKubeletError, kubeletError } from "../../core/errors.ts";
import { isJsonObject, parseJson } from "../../core/json.ts";
import { deadline } from "../../operators/deadline.ts";
import type { TokenBucket } from "../../operators/tokenBucket.ts";
import type { ApiList, ApiServer, ApiWatchEvent } from "../../ports/apiServer.ts";
import type { Call, CallOptions } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";
import {
  type ApiRequest,
  createRequest,
  deleteRequest,
  getRequest,
  listRequest,
  patchRequest,
  subresourceRequest,
  updateRequest,
  watchRequest,
} from "./apiRequests.ts";
import { type HttpAnswer, type Transport, wholeAnswer } from "./transport.ts";
import { watchEvents } from "./watchEvents.ts";

/** The credentials of requests. */
export interface ApiAuthorization {
  /** Returns the headers of the next request. Errors: no credentials are available. */
  headers(): Call<Readonly<Record<string, string>>>;
  /** Called when the server rejected the last credentials (Unauthorized). */
  rejected(): void;
}

/** A finished request, for metrics and the log. */
export interface ApiRequestRecord {
  /** HTTP method. */
  readonly method: string;
  /** Path with its query. */
  readonly path: string;
  /** `host:port` of the server. */
  readonly host: string;
  /** Status code of the response; undefined without a response. */
  readonly code: number | undefined;
  /** Set for requests with one response; a watch has neither duration nor sizes. */
  readonly call?: { readonly durationMs: number; readonly requestBytes: number; readonly responseBytes: number };
}

/** The measurements behind the metrics. */
export interface ApiObserver {
  onRequest(record: ApiRequestRecord): void;
  /** Time a request waited for the rate limiter. */
  onTurn(method: string, host: string, waitedMs: number): void;
  /** Called after each look-up of the server's host name. */
  onLookup?(host: string, durationMs: number): void;
}

export interface ApiServerOptions {
  readonly transport: Transport;
  readonly authorization: ApiAuthorization;
  /** The rate limit of the lane. */
  readonly bucket: TokenBucket;
  readonly clock: Clock;
  readonly userAgent: string;
  /** Deadline of calls without one. */
  readonly deadlineMs: number;
  /** Treats a call that times out as a sign of a dead connection. Only for a lane of short calls. */
  readonly reconnectsAfterDeadline?: boolean;
  readonly observer: ApiObserver;
}

const SUBRESOURCE_KINDS: Readonly<Record<keyof ApiSubresources, string>> = {
  "pods/binding": "Binding",
  "pods/eviction": "Eviction",
  "serviceaccounts/token": "TokenRequest",
};

/** Creates the port of a lane. */
export function createApiServer(options: ApiServerOptions): ApiServer {
  const { transport, clock, observer } = options;
  const call = <T>(make: () => ApiRequest, { deadlineMs = options.deadlineMs }: CallOptions = {}): Call<T> =>
    defer(() => {
      const request = make();
      const name = nameOf(transport, request);
      return authorized(options, request).pipe(
        switchMap((headers) => answered(options, request, headers)),
        map((answer) => decoded<T>(answer, name)),
        deadline(deadlineMs, clock, () => {
          if (options.reconnectsAfterDeadline === true) transport.reconnect();
          return kubeletError("DeadlineExceeded", `${name}: no answer within ${deadlineMs} ms`);
        }),
      );
    });
  return {
    get: (resource, ref, given) => call(() => getRequest(resource, ref, given ?? {}), given),
    list: <R extends ApiResourceName>(resource: R, given = {}) =>
      call<ApiList<ApiObjects[R]>>(() => listRequest(resource, given), given).pipe(
        // Go encodes an empty list as null.
        map((list) => ({ ...list, items: list.items ?? [] })),
      ),
    watch: <R extends ApiResourceName>(resource: R, given = {}) =>
      defer(() => {
        const request = watchRequest(resource, given);
        const onCode = (code: number | undefined) => {
          if (code === 401) options.authorization.rejected();
          observer.onRequest({ method: request.method, path: request.path, host: transport.host, code });
        };
        return authorized(options, request).pipe(
          switchMap((headers) => watchEvents(transport, request, headers, clock, onCode)),
        ) as Observable<ApiWatchEvent<ApiObjects[R]>>;
      }),
    create: (resource, object, given) => call(() => createRequest(resource, object), given),
    update: (resource, object, given) => call(() => updateRequest(resource, object, given?.subresource), given),
    patch: (resource, ref, patch, given) => call(() => patchRequest(resource, ref, patch, given ?? {}), given),
    delete: (resource, ref, given) => call(() => deleteRequest(resource, ref, given ?? {}), given),
    createSubresource: <S extends keyof ApiSubresources>(
      name: S,
      ref: never,
      body: ApiSubresources[S],
      given?: CallOptions,
    ) =>
      call<ApiSubresources[S] | ApiStatus>(
        () => subresourceRequest(name, ref, SUBRESOURCE_KINDS[name], body),
        given,
      ).pipe(
        // The server answers bindings and evictions with a plain success Status.
        map((answer) => (answer.kind === "Status" ? body : (answer as ApiSubresources[S]))),
      ),
  };
}

const nameOf = ({ host }: Transport, { method, path }: ApiRequest): string => `${method} ${host}${path}`;

/** Waits for the rate limiter, then returns the headers of the request. */
function authorized(
  { bucket, clock, transport, authorization, userAgent, observer }: ApiServerOptions,
  { method, contentType, accept = "application/json" }: ApiRequest,
): Call<Readonly<Record<string, string>>> {
  const askedAt = clock.monotonicMs();
  return bucket.acquire().pipe(
    tap(() => observer.onTurn(method, transport.host, clock.monotonicMs() - askedAt)),
    switchMap(() => authorization.headers()),
    map((proof) => ({
      accept,
      "user-agent": userAgent,
      ...(contentType === undefined ? {} : { "content-type": contentType }),
      ...proof,
    })),
  );
}

function answered(
  options: ApiServerOptions,
  request: ApiRequest,
  headers: Readonly<Record<string, string>>,
): Call<HttpAnswer> {
  const { transport, authorization, clock, observer } = options;
  const { method, body = "" } = request;
  const sent$ = defer(() => {
    const startedAt = clock.monotonicMs();
    const record = (code: number | undefined, responseBytes: number): void =>
      observer.onRequest({
        method,
        path: request.path,
        host: transport.host,
        code,
        call: { durationMs: clock.monotonicMs() - startedAt, requestBytes: Buffer.byteLength(body), responseBytes },
      });
    return wholeAnswer(transport, request, headers).pipe(
      tap({ next: (answer) => record(answer.status, answer.body.length), error: () => record(undefined, 0) }),
    );
  });
  return sent$.pipe(
    // The server may have just closed a kept-alive connection, so a read is retried once.
    catchError((thrown: unknown) => (isBrokenRead(method, thrown) ? sent$ : throwError(() => thrown))),
    tap(({ status }) => {
      if (status === 401) authorization.rejected();
    }),
  );
}

const isBrokenRead = (method: string, thrown: unknown): boolean =>
  method === "GET" && isKubeletError(thrown) && thrown.code === "Unavailable";

function decoded<T>({ status, headers, body }: HttpAnswer, name: string): T {
  const text = body.toString("utf8");
  const { "retry-after": retryAfter } = headers;
  if (status < 200 || status >= 300) throw answerError({ status, retryAfter, body: text }, name);
  const value = parseJson(text);
  if (isJsonObject(value)) return value as T;
  throw kubeletError("Unknown", `${name}: the answer is no JSON object: ${text.slice(0, 100)}`);
}
