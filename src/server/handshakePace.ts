/**
 * The pace of TLS handshakes, each of which costs a millisecond or two of the event loop: beyond it connections wait
 * before anything of theirs is read. Peers take turns, and of one peer the newest connection is first, since its client
 * still waits. Bound: what waits is among the strangers of `connections.ts`.
 * Differs from upstream: Go shakes hands on all processors.
 */
import type { Server } from "node:https";
import type { Socket } from "node:net";
import { peerGroup } from "../core/server/connectionRoom.ts";
import type { Clock } from "../ports/clock.ts";

/** Handshakes that may begin at once. */
const BURST = 128;
/** After that, this many each period. A busy event loop is late for its timers and makes up for none. */
const PER_PERIOD = 2;
const PERIOD_MS = 10;

/** Takes over the connections of a server that has no listeners for them but its own. */
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
    // It may be reset before TLS hears of it.
    socket.on("error", () => {});
    if (left > 0) {
      left -= 1;
      begin(socket);
    } else waiting.add(socket);
    if (!isRefilling) scheduler.schedule(refill, PERIOD_MS);
    isRefilling = true;
  });
}

/** Of those closed meanwhile, so many are kept at most before they are looked for. */
const MAX_CLOSED = 1_024;

/** Sockets by peer; the next is the newest of the peer that waited longest for its turn. */
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
