/**
 * The connections of one server, in rooms: strangers, and those whose peer proved who it is, by a token or by a
 * certificate. A full room closes one of its own connections (`core/server/connectionRoom.ts`), so that nobody without
 * credentials keeps out anybody with them. Owns what it knows of a connection until that is closed.
 * Differs from upstream: Go's server has no bound but the files of its process.
 */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { connectionToClose, peerGroup } from "../core/server/connectionRoom.ts";
import type { Metrics } from "../ports/telemetry.ts";

/** By what the peer of a connection is known. */
export type Room = "strangers" | "tokens" | "certificates";

/** Connections at a time, by room. */
export type RoomSizes = Readonly<Record<Room, number>>;

/** A connection, for who answers its requests. */
export interface Connection {
  /** Its certificate was accepted by authorities that do not count any more. */
  readonly isStale: boolean;
  /** Takes it out of the strangers. False: that room is full of connections at work, and this one has to end. */
  admit(room: Exclude<Room, "strangers">): boolean;
  /** A request begins; the connection is idle again when what is returned was called for each. */
  work(): () => void;
}

/** See the file header. */
export interface Connections {
  /** Of a request; undefined: it was just closed. */
  of(socket: Pick<Socket, "remoteAddress" | "remotePort">): Connection | undefined;
  /** Certificates count no more: their connections end, those at work with their last request. */
  distrust(): void;
}

interface Held extends Connection {
  readonly socket: Socket;
  readonly peer: string;
  room: Room;
  readonly isIdle: boolean;
  distrust(): void;
}

/** Watches a server that does not listen yet. */
export function watchConnections(server: Server, sizes: RoomSizes, metrics: Metrics): Connections {
  const rooms: Readonly<Record<Room, Set<Held>>> = {
    strangers: new Set(),
    tokens: new Set(),
    certificates: new Set(),
  };
  const byPeer = new Map<string, Held>();
  /** Closes one connection if the room is too full; false: there is none that may be closed. */
  const makeRoom = (room: Room): boolean => {
    if (rooms[room].size <= sizes[room]) return true;
    const closed = connectionToClose(rooms[room], room === "strangers");
    if (closed === undefined) return false;
    rooms[room].delete(closed);
    closed.socket.destroy();
    metrics.count("rxlet_connections_closed_for_room_total", { room });
    return true;
  };
  const admit = (held: Held, room: Room): boolean => {
    if (held.room === room || held.socket.destroyed) return true;
    // A certificate is worth more than a token that comes with it.
    if (held.room === "certificates") return true;
    rooms[held.room].delete(held);
    held.room = room;
    rooms[room].add(held);
    return makeRoom(room) || !rooms[room].delete(held);
  };
  server.on("connection", (socket: Socket) => {
    const key = keyOf(socket);
    const held = heldConnection(socket, admit);
    byPeer.set(key, held);
    rooms.strangers.add(held);
    socket.once("close", () => {
      rooms[held.room].delete(held);
      if (byPeer.get(key) === held) byPeer.delete(key);
    });
    makeRoom("strangers");
  });
  server.on("secureConnection", (socket: TLSSocket) => {
    const held = byPeer.get(keyOf(socket));
    if (socket.authorized && held?.admit("certificates") === false) socket.destroy();
  });
  return {
    of: (socket) => byPeer.get(keyOf(socket)),
    distrust: () => {
      for (const held of rooms.certificates) held.distrust();
    },
  };
}

/** Both ends of a connection to one listener; the same for the connection and for TLS on it. */
const keyOf = ({ remoteAddress, remotePort }: Pick<Socket, "remoteAddress" | "remotePort">): string =>
  `${remoteAddress} ${remotePort}`;

function heldConnection(socket: Socket, admit: (held: Held, room: Room) => boolean): Held {
  let working = 0;
  let isStale = false;
  const held: Held = {
    socket,
    peer: peerGroup(socket.remoteAddress),
    room: "strangers",
    get isIdle() {
      return working === 0;
    },
    get isStale() {
      return isStale;
    },
    admit: (room) => admit(held, room),
    work: () => {
      working += 1;
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        working -= 1;
        if (isStale && working === 0) socket.destroy();
      };
    },
    distrust: () => {
      isStale = true;
      if (working === 0) socket.destroy();
    },
  };
  return held;
}
