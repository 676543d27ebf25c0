/**
 * Requests of one HTTP/1.1 connection, one after the other: a client may send the next ones before it has its answer, and
 * Node's parser hands over all of them at once. Bound: MAX_WAITING requests wait on a connection; one more closes it.
 * Differs from upstream: Go reads a request only after it answered the one before. A client that sends ahead has to
 * expect that its connection closes (RFC 9112, 9.3.2).
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Http2ServerRequest } from "node:http2";
import type { Socket } from "node:net";
import type { RequestListener } from "./requestListener.ts";

/** Each holds its headers. */
export const MAX_WAITING = 16;

/** The order of requests on the connections of one server. */
export interface Pipelining {
  /** Hears of every request. */
  readonly listener: RequestListener;
  /** Whether a request is being answered on this connection. */
  isBusy(socket: Socket): boolean;
}

/** Hands requests on to `answer`; those of HTTP/2 have an order of their own. */
export function pipelining(answer: RequestListener): Pipelining {
  const queues = new WeakMap<Socket, (() => void)[]>();
  const begin = (incoming: IncomingMessage, outgoing: ServerResponse, socket: Socket): void => {
    outgoing.once("close", () => {
      const next = queues.get(socket)?.shift();
      // Behind the last answer of a connection nobody reads another one.
      if (next === undefined || socket.destroyed || socket.writableEnded) queues.delete(socket);
      else next();
    });
    answer(incoming, outgoing);
  };
  return {
    isBusy: (socket) => queues.has(socket),
    listener: (incoming, outgoing) => {
      if (incoming instanceof Http2ServerRequest) return answer(incoming, outgoing);
      const { socket } = incoming;
      if (socket.destroyed) return;
      const response = outgoing as ServerResponse;
      const queue = queues.get(socket);
      if (queue === undefined) {
        queues.set(socket, []);
        begin(incoming, response, socket);
      } else if (queue.length < MAX_WAITING) queue.push(() => begin(incoming, response, socket));
      else socket.destroy();
    },
  };
}
