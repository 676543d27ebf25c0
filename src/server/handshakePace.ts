/**
 * Rate limit for TLS handshakes, each of which costs one or two milliseconds of the event loop. Connections above the
 * limit wait before any data is read. Peers are served round robin; within a peer the newest connection is first,
 * because its client most likely still waits. Bound: waiting connections count as unauthenticated in `connections.ts`.
 * Differs from upstream: Go performs handshakes on all processors.
 */
import type { Server } from "node:https";
import type { Socket } from "node:net";
import { peerGroup } from "../core/server/connectionToClose.ts";
import type { Clock } from "../ports/clock.ts";

/** Handshakes allowed in a burst. */
const BURST = 128;
/** Handshakes per period after the burst. A busy event loop delays the timers, and missed periods are not made up. */
const PER_PERIOD = 2;
const PERIOD_MS = 10;

/** Paces the connections of a server that has only its built-in connection listeners. */
export function paceHandshakes(server: Server, { scheduler }: Clock): void {
  const begins = server.listeners("connection") as ((this: Server, socket: Socket) => void)[];
  server.removeAllListeners("connection");
  const begin = (socket: Socket): void => begins.forEach((each) => each.call(server, socket));
  const waiting = turns();
  let left = BURST;
  let isRefilling = false;
  const refill = (): void => {
    left = Math.min(BURST, left + PER_PERIOD);
    for (; left > 0; left -= 1) {
      const next = waiting.take();
      if (next === undefined) break;
      begin(next);
    }
    isRefilling = left < BURST;
    if (isRefilling) scheduler.schedule(refill, PERIOD_MS);
  };
  server.on("connection", (socket: Socket) => {
    // The client may reset the connection before TLS attaches its own error listener.
    socket.on("error", () => {});
    if (left > 0) {
      left -= 1;
      begin(socket);
    } else waiting.add(socket);
    if (!isRefilling) scheduler.schedule(refill, PERIOD_MS);
    isRefilling = true;
  });
}

/** Maximum number of closed sockets in the queue before they are removed. */
const MAX_CLOSED = 1_024;

/** Waiting sockets by peer. The next socket is the newest of the peer that waited longest. */
function turns() {
  const byPeer = new Map<string, Socket[]>();
  let count = 0;
  let openAtLastLook = 0;
  const forgetClosed = (): void => {
    count = 0;
    for (const [peer, sockets] of byPeer) {
      const open = sockets.filter(({ destroyed }) => !destroyed);
      count += open.length;
      if (open.length === 0) byPeer.delete(peer);
      else byPeer.set(peer, open);
    }
    openAtLastLook = count;
  };
  return {
    add(socket: Socket): void {
      const peer = peerGroup(socket.remoteAddress);
      const sockets = byPeer.get(peer) ?? [];
      sockets.push(socket);
      byPeer.set(peer, sockets);
      count += 1;
      if (count > openAtLastLook + MAX_CLOSED) forgetClosed();
    },
    take(): Socket | undefined {
      for (const [peer, sockets] of byPeer) {
        byPeer.delete(peer);
        for (let next = sockets.pop(); next !== undefined; next = sockets.pop()) {
          count -= 1;
          if (next.destroyed) continue;
          if (sockets.length > 0) byPeer.set(peer, sockets);
          return next;
        }
      }
      return undefined;
    },
  };
}
