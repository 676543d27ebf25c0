/**
 * Long-lived connections to a kubelet's server: followed logs, and the SPDY streams of exec, attach and port-forward.
 * Each connection belongs to its caller, who closes it.
 */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import type { KubeletAccess } from "../core/auth/kubeletAccess.ts";
import { type KubeletError, kubeletError } from "../core/errors.ts";
import { deadline } from "../operators/deadline.ts";
import { fromCall } from "../operators/fromCall.ts";
import type { Call } from "../ports/call.ts";
import type { Clock } from "../ports/clock.ts";
import { openSpdy, type SpdyConnection } from "../streaming/spdyConnection.ts";
import { STREAM_PROTOCOL_HEADER } from "../streaming/subprotocols.ts";
import { connectionOptions } from "./kubeletConnection.ts";

/** Bound on the wait for the server's response, including a rejection, in milliseconds. */
const ANSWER_WITHIN_MS = 30_000;
/** Bound on the body of a rejection, in bytes. */
const MAX_REFUSAL_BYTES = 64 * 1024;

/** The server's response when it does not open the requested stream. */
export interface Refusal {
  readonly status: number;
  readonly text: string;
}

/** Opens the body of a response. Errors: Unavailable without a response. */
export const openBody = (url: string, access: KubeletAccess, clock: Clock): Call<IncomingMessage | Refusal> =>
  fromCall(async (signal) => {
    const request = start(url, { ...(await connectionOptions(access)), method: "GET", signal });
    const answer = await answered(request, "response");
    request.setTimeout(0);
    const [message] = answer as [IncomingMessage];
    return message.statusCode === 200 ? message : refusalOf(message);
  }).pipe(deadline(ANSWER_WITHIN_MS, clock, isLate));

/** Opens SPDY streams with this protocol. Errors: Unavailable without a response. */
export const openStreams = (
  url: string,
  protocol: string,
  access: KubeletAccess,
  clock: Clock,
): Call<SpdyConnection | Refusal> =>
  fromCall(async (signal) => {
    const { headers, ...options } = await connectionOptions(access);
    const asked = { connection: "Upgrade", upgrade: "SPDY/3.1", [STREAM_PROTOCOL_HEADER]: protocol };
    const all = { ...headers, ...asked, "content-length": "0" };
    const request = start(url, { ...options, method: "POST", headers: all, signal });
    const upgraded = new Promise<SpdyConnection>((resolve) => {
      request.once("upgrade", (_answer, socket: Socket, head) => {
        socket.setTimeout(0);
        resolve(openSpdy(socket, "client", { head }));
      });
    });
    const refused = answered(request, "response").then(([message]) => refusalOf(message as IncomingMessage));
    return Promise.race([upgraded, refused]);
  }).pipe(deadline(ANSWER_WITHIN_MS, clock, isLate));

const isLate = (): KubeletError => kubeletError("Unavailable", `no answer within ${ANSWER_WITHIN_MS} ms`);

type Options = Parameters<typeof httpsRequest>[1];

function start(url: string, options: Options) {
  const open = url.startsWith("https:") ? httpsRequest : httpRequest;
  const request = open(url, { ...options, agent: false, timeout: ANSWER_WITHIN_MS });
  request.once("timeout", () => request.destroy(new Error(`nothing for ${ANSWER_WITHIN_MS} ms`)));
  request.end();
  return request;
}

const answered = (request: ReturnType<typeof start>, event: "response"): Promise<readonly unknown[]> =>
  once(request, event).catch((thrown: unknown) => {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    throw kubeletError("Unavailable", message, { cause: thrown });
  });

async function refusalOf(message: IncomingMessage): Promise<Refusal> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of message as AsyncIterable<Buffer>) {
    parts.push(part);
    length += part.length;
    if (length > MAX_REFUSAL_BYTES) break;
  }
  return { status: message.statusCode ?? 0, text: Buffer.concat(parts).toString("utf8").trim() };
}
