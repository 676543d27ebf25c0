/**
 * Requests a protocol upgrade from the runtime's streaming server. No client data is sent before the runtime agrees.
 */
import { type ClientRequestArgs, type IncomingMessage, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import type { Writable } from "node:stream";
import { connectReused, type ReusedReads } from "./reusedReads.ts";

/** Result of an upgrade request. */
export type Dialed =
  | {
      readonly kind: "upgraded";
      readonly answer: IncomingMessage;
      readonly runtime: Socket;
      readonly early: Buffer;
      /** Forwards all further data of the runtime and its end. */
      readonly sendTo: (client: Writable) => void;
    }
  | {
      readonly kind: "refused";
      readonly status: number;
      readonly headers: readonly (readonly [name: string, value: string])[];
      readonly body: string;
    }
  | { readonly kind: "failed"; readonly message: string };

/** Timeout for the runtime's response, in milliseconds. */
const ANSWER_TIMEOUT_MS = 30_000;
/** Maximum size of a forwarded error body, in bytes. */
const MAX_REFUSAL_BYTES = 65_536;

/** Sends the request. `headers` alternates names and values, Host included. Closing `client` cancels the request. */
export function dialUpgrade(url: URL, method: string, headers: readonly string[], client: Socket): Promise<Dialed> {
  return new Promise((resolve) => {
    let reads: ReusedReads | undefined;
    const createConnection = (target: ClientRequestArgs): Socket => {
      reads = connectReused(target);
      return reads.socket;
    };
    const options = {
      method,
      headers: [...headers, ...(method === "GET" ? [] : ["Content-Length", "0"])],
      setHost: false,
      timeout: ANSWER_TIMEOUT_MS,
    };
    const request =
      url.protocol === "https:"
        ? httpsRequest(url, { ...options, agent: false })
        : httpRequest(url, { ...options, createConnection });
    client.once("close", () => request.destroy());
    request.on("timeout", () => request.destroy(new Error(`no answer within ${ANSWER_TIMEOUT_MS} ms`)));
    request.on("error", ({ message }) => resolve({ kind: "failed", message: `error dialing backend: ${message}` }));
    request.on("response", (answer) => resolve(refusalOf(answer)));
    request.on("upgrade", (answer, runtime, early) => {
      runtime.on("error", () => runtime.destroy());
      const sendTo = (to: Writable): void => (reads === undefined ? void runtime.pipe(to) : reads.sendTo(to));
      resolve({ kind: "upgraded", answer, runtime, early, sendTo });
    });
    request.end();
  });
}

function refusalOf(answer: IncomingMessage): Promise<Dialed> {
  const parts: Buffer[] = [];
  let size = 0;
  answer.on("data", (part: Buffer) => {
    size += part.length;
    if (size <= MAX_REFUSAL_BYTES) parts.push(part);
    else answer.destroy();
  });
  return new Promise((resolve) => {
    answer.once("close", () => {
      const status = answer.statusCode ?? 500;
      // The response is neither an upgrade nor an error.
      if (status < 400) return resolve({ kind: "failed", message: `invalid upgrade response: status code ${status}` });
      resolve({
        kind: "refused",
        status,
        headers: pairsOf(answer.rawHeaders),
        body: Buffer.concat(parts).toString("utf8"),
      });
    });
  });
}

/** Groups raw headers into pairs of name and value. */
export function pairsOf(rawHeaders: readonly string[]): readonly (readonly [name: string, value: string])[] {
  const pairs: (readonly [string, string])[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) pairs.push([rawHeaders[at] ?? "", rawHeaders[at + 1] ?? ""]);
  return pairs;
}
