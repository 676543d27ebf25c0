/**
 * Calls to the Docker Engine API over HTTP on its Unix socket. Bounds: a deadline on every call, `maxBytes` per body,
 * 64 KiB of headers, `MAX_CONNECTIONS` calls at a time; later calls wait. Owns its connections until `close`.
 */
import http from "node:http";
import type { Socket } from "node:net";
import { type Dispatcher, Pool } from "undici";
import { parseJson } from "../../core/json.ts";
import { MAX_TIMER_MS } from "../../criServer/within.ts";
import { apiVersionOf } from "./apiVersion.ts";
import type { ApiVersion } from "./apiVersion.ts";
import { garbled, noAnswer, refusal } from "./engineFault.ts";
import { readLines } from "./readLines.ts";

/** A request to Docker. */
export interface EngineRequest {
  readonly method: "GET" | "POST" | "DELETE";
  /** Path below the version, for example `/containers/json`; each part is encoded by the caller. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Time for the whole answer in milliseconds; for streams, until it begins. */
  readonly deadlineMs?: number;
  /** Bound of the body, or of a line of a stream. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal | undefined;
}

/** A connection that carries the streams of a command. */
export interface Hijacked {
  readonly socket: Socket;
  /** Whether Docker says that it frames the outputs. */
  readonly isFramed: boolean;
}

/** Calls to Docker. Each rejects with an EngineFault. */
export interface Engine {
  /** The API version that both sides speak. */
  version(): Promise<ApiVersion>;
  /** Returns the JSON body; undefined for an empty one and for 304, which says that nothing was to be done. */
  call(request: EngineRequest): Promise<unknown>;
  /** Yields the JSON documents of a stream until it ends. Rejects where Docker breaks off inside a document. */
  stream(request: EngineRequest): Promise<AsyncGenerator<unknown, void>>;
  /** Opens a connection for the streams of a command. */
  hijack(request: EngineRequest): Promise<Hijacked>;
  close(): Promise<void>;
}

const DEADLINE_MS = 120_000;
const MAX_CONNECTIONS = 256;
const MAX_HEADER_BYTES = 64 * 1024;
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const MAX_REFUSAL_BYTES = 64 * 1024;
const IDLE_MS = 30_000;
const VERSION_MS = 10_000;
const ORIGIN = "http://docker";
const HTTP_ERRORS = 400;
/** Docker's answer also to a version that it does not serve. */
const BAD_REQUEST = 400;
const NOT_MODIFIED = 304;
const FRAMED = "application/vnd.docker.multiplexed-stream";

/** Creates the calls to the Docker that listens on a Unix socket; connects at the first. */
export function createEngine(socketPath: string): Engine {
  const pool = new Pool(ORIGIN, {
    connect: { socketPath, timeout: IDLE_MS },
    connections: MAX_CONNECTIONS,
    pipelining: 1,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: IDLE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  let negotiated: Promise<ApiVersion> | undefined;
  const version = (): Promise<ApiVersion> => {
    negotiated ??= negotiate(pool).catch((thrown: unknown) => {
      negotiated = undefined;
      throw thrown;
    });
    return negotiated;
  };
  const versioned = async (request: EngineRequest): Promise<string> => `/v${(await version()).text}${target(request)}`;
  /**
   * Runs an exchange. A Docker that gave no answer, or refuses the request, may be another one than before, and is asked for its
   * version again.
   */
  const watched = async <T>(exchange: () => Promise<T>): Promise<T> => {
    try {
      return await exchange();
    } catch (thrown) {
      const { httpStatus = BAD_REQUEST } = thrown as { readonly httpStatus?: number };
      if (httpStatus === BAD_REQUEST) negotiated = undefined;
      throw thrown;
    }
  };
  return {
    version: () => watched(version),
    call: (request) => watched(async () => callJson(pool, await versioned(request), request)),
    stream: (request) => watched(async () => openStream(pool, await versioned(request), request)),
    hijack: (request) => watched(async () => hijack(socketPath, await versioned(request), request)),
    close: () => pool.destroy(),
  };
}

const nameOf = ({ method, path }: EngineRequest): string => `${method} ${path}`;

function target({ path, query = {} }: EngineRequest): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  return parameters.size === 0 ? path : `${path}?${parameters.toString()}`;
}

async function negotiate(pool: Pool): Promise<ApiVersion> {
  const request: EngineRequest = {
    method: "GET",
    path: "/version",
    deadlineMs: VERSION_MS,
    maxBytes: MAX_REFUSAL_BYTES,
  };
  return apiVersionOf(await callJson(pool, request.path, request));
}

const headersOf = ({ body, headers }: EngineRequest): Record<string, string> => ({
  ...(body === undefined ? {} : { "content-type": "application/json" }),
  ...headers,
});

const payload = ({ body }: EngineRequest): string | null => (body === undefined ? null : JSON.stringify(body));

async function send(
  pool: Pool,
  path: string,
  request: EngineRequest,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const answer = await pool.request({
    method: request.method,
    path,
    headers: headersOf(request),
    body: payload(request),
    signal,
  });
  if (answer.statusCode < HTTP_ERRORS) return answer;
  const body = await readUpTo(answer.body, MAX_REFUSAL_BYTES, nameOf(request)).catch(() => Buffer.alloc(0));
  throw refusal(nameOf(request), answer.statusCode, body.toString());
}

async function callJson(pool: Pool, path: string, request: EngineRequest): Promise<unknown> {
  const { deadlineMs = DEADLINE_MS, maxBytes = MAX_BODY_BYTES, signal } = request;
  const deadline = AbortSignal.timeout(Math.min(deadlineMs, MAX_TIMER_MS));
  const ends = signal === undefined ? deadline : AbortSignal.any([deadline, signal]);
  try {
    const { statusCode, body } = await send(pool, path, request, ends);
    const text = (await readUpTo(body, maxBytes, nameOf(request))).toString();
    if (statusCode === NOT_MODIFIED || text === "") return undefined;
    const value = parseJson(text);
    if (value === undefined) throw garbled(nameOf(request), "the answer is no JSON");
    return value;
  } catch (thrown) {
    throw noAnswer(nameOf(request), thrown, signal);
  }
}

async function readUpTo(body: AsyncIterable<Buffer>, maxBytes: number, what: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > maxBytes) throw garbled(what, `the answer is longer than ${maxBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

async function openStream(pool: Pool, path: string, request: EngineRequest): Promise<AsyncGenerator<unknown, void>> {
  const { deadlineMs = DEADLINE_MS, maxBytes = MAX_BODY_BYTES, signal } = request;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new DOMException("no answer", "TimeoutError")), deadlineMs);
  try {
    const ends = signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]);
    const { body } = await send(pool, path, request, ends);
    return readLines(body, maxBytes, nameOf(request), signal);
  } catch (thrown) {
    throw noAnswer(nameOf(request), thrown, signal);
  } finally {
    clearTimeout(timer);
  }
}

/** Node's own client: the connection of an upgrade with a body is its to give. */
async function hijack(socketPath: string, path: string, request: EngineRequest): Promise<Hijacked> {
  const { promise, resolve, reject } = Promise.withResolvers<Hijacked>();
  const what = nameOf(request);
  const outgoing = http.request({
    socketPath,
    path,
    method: request.method,
    headers: { ...headersOf(request), host: "docker", connection: "Upgrade", upgrade: "tcp" },
    agent: false,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  const timer = setTimeout(() => {
    outgoing.destroy(new DOMException("no answer", "TimeoutError"));
  }, request.deadlineMs ?? DEADLINE_MS);
  const cancel = (): void => void outgoing.destroy(new Error("cancelled"));
  request.signal?.addEventListener("abort", cancel, { once: true });
  outgoing.on("error", (thrown) => reject(noAnswer(what, thrown, request.signal)));
  outgoing.on("upgrade", (answer, socket, head) => {
    // The reader of the socket sees its errors; late ones are nobody's.
    socket.on("error", () => undefined);
    if (head.length > 0) socket.unshift(head);
    resolve({ socket, isFramed: answer.headers["content-type"] === FRAMED });
  });
  outgoing.on("response", (answer) => {
    readUpTo(answer, MAX_REFUSAL_BYTES, what).then(
      (body) => reject(refusal(what, answer.statusCode ?? 0, body.toString())),
      (thrown: unknown) => reject(noAnswer(what, thrown)),
    );
  });
  outgoing.end(payload(request) ?? undefined);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    request.signal?.removeEventListener("abort", cancel);
  }
}
