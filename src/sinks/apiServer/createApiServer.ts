/**
 * The ApiServer port over HTTP: one lane to a real API server. Keeps nothing but its connections. Bounds: each call has
 * a deadline, rate and waiting included; a watch ends with its subscription. Counterpart: client-go's rest.Request.
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

/** How requests prove who sends them. */
export interface ApiAuthorization {
  /** Headers of the next request. Errors: when there is nothing to prove it with. */
  headers(): Call<Readonly<Record<string, string>>>;
  /** The server did not know us by the last ones. */
  rejected(): void;
}

/** One request that ended, for metrics and the log. */
export interface ApiRequestRecord {
  /** HTTP method. */
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** `host:port` of the server. */
  readonly host: string;
  /** Of the answer; undefined: there was none. */
  readonly code: number | undefined;
  /** Of requests with one answer; a watch has neither length nor sizes. */
  readonly call?: { readonly durationMs: number; readonly requestBytes: number; readonly responseBytes: number };
}

/** What metrics are made of. */
export interface ApiObserver {
  onRequest(record: ApiRequestRecord): void;
  /** How long a request waited for its turn under the rate. */
  onTurn(method: string, host: string, waitedMs: number): void;
}

export interface ApiServerOptions {
  readonly transport: Transport;
  readonly authorization: ApiAuthorization;
  /** The rate of the lane. */
  readonly bucket: TokenBucket;
  readonly clock: Clock;
  readonly userAgent: string;
  /** Of calls that bring none. */
  readonly deadlineMs: number;
  /** A call without answer in time says that the connection is dead. Only for a lane of short calls. */
  readonly reconnectsAfterDeadline?: boolean;
  readonly observer: ApiObserver;
}

const SUBRESOURCE_KINDS: Readonly<Record<keyof ApiSubresources, string>> = {
  "pods/binding": "Binding",
  "pods/eviction": "Eviction",
  "serviceaccounts/token": "TokenRequest",
};

/** Makes the port of a lane. */
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
        // An empty list of Go is null.
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
    patch: (resource, ref, patch, given) => call(() => patchRequest(resource, ref, patch, given?.subresource), given),
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
        // Bindings and evictions are answered with a mere success.
        map((answer) => (answer.kind === "Status" ? body : (answer as ApiSubresources[S]))),
      ),
  };
}

const nameOf = ({ host }: Transport, { method, path }: ApiRequest): string => `${method} ${host}${path}`;

/** Waits for the turn of a request, then says with which headers it goes. */
function authorized(
  { bucket, clock, transport, authorization, userAgent, observer }: ApiServerOptions,
  { method, contentType }: ApiRequest,
): Call<Readonly<Record<string, string>>> {
  const askedAt = clock.monotonicMs();
  return bucket.acquire().pipe(
    tap(() => observer.onTurn(method, transport.host, clock.monotonicMs() - askedAt)),
    switchMap(() => authorization.headers()),
    map((proof) => ({
      accept: "application/json",
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
    // A connection that was kept may be closed by the other side just now: a read is asked once more.
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
