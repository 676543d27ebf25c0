/**
 * A GET of a probe or hook: a new connection, no proxy, no certificate verification, redirects on the same host
 * only. Keeps no state. Bounds: 10 KiB of body, ten requests; the caller bounds the time. Upstream: pkg/probe/http.
 */
import { type ClientRequest, type ClientRequestArgs, type IncomingMessage, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { connect, isIP, type LookupFunction, type Socket } from "node:net";
import { type HttpTarget, joinHostPort } from "../../core/probe/probeTarget.ts";
import { dialError, isPlainAnswer, readError } from "./netError.ts";

/** Bytes of a body that are read. */
const MAX_BODY_BYTES = 10 * 1024;
const MAX_REQUESTS = 10;
const MAX_HEADER_BYTES = 1 << 20;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** The buffer into which all connections read: Node allocates 64 KiB for each read otherwise, for a few bytes. */
const READS = Buffer.allocUnsafeSlow(16 * 1024);
/** Headers that the connection sets itself. */
const NOT_SENT: ReadonlySet<string> = new Set(["content-length", "transfer-encoding", "trailer", "connection", "host"]);

export interface HttpReply {
  readonly status: number;
  /** Bound: MAX_BODY_BYTES. */
  readonly body: string;
}

/** The progress of a GET, which lets the caller end it. */
export interface GetProgress {
  /** The request in flight. */
  url: string;
  address: string;
  stage: "dial" | "headers" | "body";
}

/** The failure of a GET without a response. */
export class GetFailure extends Error {
  readonly stage: GetProgress["stage"];
  /** The server answered HTTPS with plain HTTP. */
  readonly isPlainAnswer: boolean;

  constructor(stage: GetProgress["stage"], message: string, cause?: unknown) {
    super(message, { cause });
    this.stage = stage;
    this.isPlainAnswer = isPlainAnswer(cause);
  }
}

interface Hop extends HttpTarget {
  /** Value of the Host header. */
  readonly authority: string;
  readonly lookup?: LookupFunction;
}

export const newProgress = (): GetProgress => ({ url: "", address: "", stage: "dial" });

/** Gets `target`. Rejects with a GetFailure; updates `progress` until then. */
export async function httpGet(
  target: HttpTarget,
  signal: AbortSignal,
  progress: GetProgress,
  lookup?: LookupFunction,
): Promise<HttpReply> {
  const given = target.headers.find(([name]) => name.toLowerCase() === "host")?.[1] ?? "";
  const resolving = lookup && { lookup };
  let hop: Hop = { ...target, ...resolving, authority: given === "" ? joinHostPort(target.host, target.port) : given };
  for (let made = 1; ; made += 1) {
    const response = await send(hop, signal, progress);
    try {
      const next = redirected(hop, response, given);
      if (next === undefined || next.host.toLowerCase() !== target.host.toLowerCase()) {
        return { status: response.statusCode ?? 0, body: await readBody(response, progress) };
      }
      if (made >= MAX_REQUESTS) {
        throw new GetFailure("headers", `Get ${JSON.stringify(progress.url)}: stopped after ${MAX_REQUESTS} redirects`);
      }
      hop = { ...next, ...resolving };
    } finally {
      response.destroy();
    }
  }
}

/** Sends one request; resolves with the head of the response. */
function send(hop: Hop, signal: AbortSignal, progress: GetProgress): Promise<IncomingMessage> {
  progress.address = joinHostPort(hop.host, hop.port);
  progress.url = `${hop.scheme}://${progress.address}${hop.path}`;
  progress.stage = "dial";
  const refused = (thrown: unknown): GetFailure => {
    const text = progress.stage === "dial" ? dialError(progress.address, thrown) : readError(progress.address, thrown);
    return new GetFailure(progress.stage, `Get ${JSON.stringify(progress.url)}: ${text}`, thrown);
  };
  return new Promise<IncomingMessage>((resolve, reject) => {
    const request = start(hop);
    // Set here and not as an option, because Node's handling of that option costs half as much as the request.
    const abort = (): void => void request.destroy();
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    request.on("socket", (socket) => socket.once("connect", () => (progress.stage = "headers")));
    request.on("error", (thrown) => reject(refused(thrown)));
    request.on("response", resolve);
    // A 101 response has no body.
    request.on("upgrade", (response: IncomingMessage, socket) => {
      socket.destroy();
      resolve(response);
    });
    request.end();
  }).catch((thrown: unknown) => {
    throw thrown instanceof GetFailure ? thrown : refused(thrown);
  });
}

function start(hop: Hop): ClientRequest {
  const { scheme, host, port, path } = hop;
  const sent = hop.headers.filter(
    ([name, value]) => !NOT_SENT.has(name.toLowerCase()) && !(name.toLowerCase() === "user-agent" && value === ""),
  );
  const options = {
    host,
    port,
    path,
    method: "GET",
    // A flat list keeps repeated names.
    headers: ["Host", hop.authority, ...sent.flat(), "Connection", "close"],
    maxHeaderSize: MAX_HEADER_BYTES,
    ...(hop.lookup && { lookup: hop.lookup }),
  };
  if (scheme === "http") return httpRequest({ ...options, createConnection });
  return httpsRequest({
    ...options,
    agent: false,
    rejectUnauthorized: false,
    servername: isIP(host) === 0 ? host : "",
  });
}

/** Opens a connection for one request, without an agent. */
function createConnection({ host, port, lookup }: ClientRequestArgs): Socket {
  const socket: Socket = connect({
    host: host ?? "",
    port: Number(port),
    noDelay: true,
    ...(lookup && { lookup }),
    // The copy is made before another connection can read.
    onread: { buffer: READS, callback: (length) => socket.push(Buffer.from(READS.subarray(0, length))) },
  });
  return socket;
}

/** Returns the target of a redirect; undefined for a final response. */
function redirected(hop: Hop, response: IncomingMessage, givenHost: string): Hop | undefined {
  const { location } = response.headers;
  if (!REDIRECTS.has(response.statusCode ?? 0) || location === undefined || location === "") return undefined;
  const from = `${hop.scheme}://${joinHostPort(hop.host, hop.port)}${hop.path}`;
  if (!URL.canParse(location, from)) {
    throw new GetFailure("headers", `Get ${JSON.stringify(from)}: failed to parse Location header ${location}`);
  }
  const url = new URL(location, from);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    const scheme = url.protocol.slice(0, -1);
    throw new GetFailure("headers", `Get ${JSON.stringify(location)}: unsupported protocol scheme "${scheme}"`);
  }
  const scheme = url.protocol === "https:" ? "https" : "http";
  const isRelative = !URL.canParse(location) && !location.startsWith("//");
  const reportedReferer = hop.headers.filter(([name]) => name.toLowerCase() !== "referer");
  const refers = hop.scheme !== "https" || scheme === "https";
  return {
    scheme,
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port) || (scheme === "https" ? 443 : 80),
    path: `${url.pathname}${url.search}`,
    headers: refers ? [...reportedReferer, ["Referer", from]] : hop.headers,
    authority: isRelative && givenHost !== "" ? givenHost : url.host,
  };
}

/** Reads the first bytes of the body and does not wait for the rest. */
function readBody(response: IncomingMessage, progress: GetProgress): Promise<string> {
  progress.stage = "body";
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    const ended = (): void => {
      resolve(Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES).toString("utf8"));
    };
    response.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= MAX_BODY_BYTES) ended();
    });
    response.on("end", ended);
    response.on("error", (thrown) => {
      reject(new GetFailure("body", readError(progress.address, thrown), thrown));
    });
  });
}
