/**
 * HTTP exchanges with the API server over the connections of one lane. Owns the connections and their client
 * identity; a new identity opens new connections and ends the watches on the old ones.
 */
import type { IncomingHttpHeaders } from "node:http";
import { Observable, Subject } from "rxjs";
import type { Dispatcher } from "undici";
import type { ApiEndpoint, TlsIdentity } from "../../core/api/clientConfig.ts";
import { kubeletError } from "../../core/errors.ts";
import { trimmedEnd } from "../../core/trimmedEnd.ts";
import { inStage, ownerStage, type Stage } from "../../operators/loopStage.ts";
import type { Call } from "../../ports/call.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ApiRequest } from "./apiRequests.ts";
import { createDispatcher, type DispatcherOptions } from "./dispatcher.ts";
import { transportError } from "./transportError.ts";

/** A complete response. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Callbacks of an exchange, in this order; `failed` may end it at any point. */
export interface ExchangeListener {
  head(status: number, headers: IncomingHttpHeaders): void;
  data(piece: Buffer): void;
  end(): void;
  failed(error: unknown): void;
}

/** Controls an exchange. */
export interface Exchange {
  /** Stops reading from the connection until `resume`. */
  pause(): void;
  resume(): void;
  /** Aborts the exchange; no callback runs afterwards. */
  abort(): void;
}

/** The connections of a lane. */
export interface Transport {
  /** `host:port` of the server. */
  readonly host: string;
  /** Sends a request. `headMs` bounds the wait for the head of the response; 0 is unbounded. */
  exchange(
    request: ApiRequest,
    headers: Readonly<Record<string, string>>,
    headMs: number,
    to: ExchangeListener,
  ): Exchange;
  /** Emits when connections are replaced: long-lived requests should restart. */
  readonly replaced$: Observable<void>;
  /** Opens new connections from now on, with this identity. */
  useIdentity(identity: TlsIdentity | undefined): void;
  /** Opens new connections from now on, to servers of this CA (PEM). */
  useAuthority(certificateAuthority: string): void;
  /** Opens new connections from now on and closes the old ones at once. */
  reconnect(): void;
  /** Closes everything. */
  close(): void;
}

export interface TransportOptions {
  readonly endpoint: ApiEndpoint;
  readonly identity: TlsIdentity | undefined;
  readonly clock: Clock;
  readonly onLookup?: DispatcherOptions["onLookup"];
}

/** Creates a lane; sends no request yet. */
export function createTransport({ endpoint, clock, onLookup, ...given }: TransportOptions): Transport {
  const { host, pathname } = new URL(endpoint.server);
  const { origin } = new URL(endpoint.server);
  const base = trimmedEnd(pathname, "/");
  const replacements = new Subject<void>();
  let { identity } = given;
  let { certificateAuthority } = endpoint;
  const open = (): Dispatcher =>
    createDispatcher({ endpoint: { ...endpoint, certificateAuthority }, identity, clock, onLookup });
  let dispatcher = open();
  const replace = (end: (old: Dispatcher) => void): void => {
    const old = dispatcher;
    dispatcher = open();
    replacements.next();
    end(old);
  };
  return {
    host,
    replaced$: replacements.asObservable(),
    exchange: (request, headers, headMs, to) =>
      startExchange(dispatcher, origin, `${base}${request.path}`, request, headers, headMs, to),
    useIdentity(next) {
      if (next?.certificate === identity?.certificate && next?.key === identity?.key) return;
      identity = next;
      // Calls in flight end normally.
      replace((old) => old.close(() => {}));
    },
    useAuthority(next) {
      if (next === certificateAuthority) return;
      certificateAuthority = next;
      replace((old) => old.close(() => {}));
    },
    reconnect: () => replace((old) => old.destroy(() => {})),
    close: () => dispatcher.destroy(() => {}),
  };
}

function startExchange(
  dispatcher: Dispatcher,
  origin: string,
  path: string,
  { method, body }: ApiRequest,
  headers: Readonly<Record<string, string>>,
  headMs: number,
  to: ExchangeListener,
): Exchange {
  let controller: Dispatcher.DispatchController | undefined;
  let over = false;
  const stage: Stage = { kind: "api_server_answer", text: `answer to ${method} ${path}`, owner: ownerStage() };
  const cancelled = () => kubeletError("Cancelled", "the request was cancelled") as unknown as Error;
  const failed = (error: unknown): void => {
    if (over) return;
    over = true;
    to.failed(transportError(`${method} ${origin}${path}`, error));
  };
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started;
      if (over) started.abort(cancelled());
    },
    onResponseStart(_controller, status, answerHeaders) {
      if (!over && status >= 200) inStage(stage, () => to.head(status, answerHeaders));
    },
    onResponseData(_controller, piece) {
      if (!over) inStage(stage, () => to.data(piece));
    },
    onResponseEnd() {
      if (over) return;
      over = true;
      inStage(stage, () => to.end());
    },
    onResponseError: (_controller, error) => failed(error),
  };
  try {
    const options = { origin, path, method, headers, body: body ?? null, headersTimeout: headMs, bodyTimeout: 0 };
    dispatcher.dispatch(options, handler);
  } catch (thrown) {
    failed(thrown);
  }
  return {
    pause: () => controller?.pause(),
    resume: () => controller?.resume(),
    abort() {
      if (over) return;
      over = true;
      controller?.abort(cancelled());
    },
  };
}

/** Largest response: far more than a page of the largest objects. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

/**
 * Sends a request and returns its complete response, whatever its status code. Cancels: aborts the request. Errors:
 * Unavailable without a response, ResourceExhausted for an oversized response. Bound: MAX_ANSWER_BYTES.
 */
export const wholeAnswer = (
  transport: Transport,
  request: ApiRequest,
  headers: Readonly<Record<string, string>>,
): Call<HttpAnswer> =>
  new Observable<HttpAnswer>((subscriber) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    let status = 0;
    let answerHeaders: IncomingHttpHeaders = {};
    const exchange = transport.exchange(request, headers, 0, {
      head(code, reported) {
        status = code;
        answerHeaders = reported;
      },
      data(piece) {
        bytes += piece.length;
        if (bytes <= MAX_ANSWER_BYTES) pieces.push(piece);
        else subscriber.error(kubeletError("ResourceExhausted", `the answer is larger than ${MAX_ANSWER_BYTES} bytes`));
      },
      end() {
        subscriber.next({ status, headers: answerHeaders, body: Buffer.concat(pieces, bytes) });
        subscriber.complete();
      },
      failed: (error) => subscriber.error(error),
    });
    return () => exchange.abort();
  });
