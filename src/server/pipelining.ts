/**
 * Serializes the requests of an HTTP/1.1 connection: a client may pipeline requests, and Node's parser emits all of
 * them at once. Bound: MAX_WAITING requests wait per connection; one more closes the connection.
 * Differs from upstream: Go reads a request only after it answered the previous one. A pipelining client must expect
 * that the connection closes (RFC 9112, 9.3.2).
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Http2ServerRequest } from "node:http2";
import type { Socket } from "node:net";
import type { RequestListener } from "./requestListener.ts";

/** Maximum number of waiting requests per connection. Each holds its headers in memory. */
export const MAX_WAITING = 16;

/** The request queues of one server's connections. */
export interface Pipelining {
  /** Receives every request. */
  readonly listener: RequestListener;
  /** Returns whether a request is in progress on this connection. */
  isBusy(socket: Socket): boolean;
}

/** Forwards requests to `answer` one at a time per connection. HTTP/2 requests are forwarded at once. */
export function pipelining(answer: RequestListener): Pipelining {
  const queues = new WeakMap<Socket, (() => void)[]>();
  const begin = (incoming: IncomingMessage, outgoing: ServerResponse, socket: Socket): void => {
    outgoing.once("close", () => {
      const next = queues.get(socket)?.shift();
      // After the last response of a connection no other response is sent.
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
