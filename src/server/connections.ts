/**
 * The connections of one server, in one pool per kind of peer: unauthenticated, by token, and by certificate. A full
 * pool closes one of its own connections (`core/server/connectionRoom.ts`), so clients without credentials cannot
 * displace clients that have them. Owns the state of each connection until the connection closes.
 * Differs from upstream: the number of connections of Go's server is bounded only by its file descriptors.
 */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { connectionToClose, peerGroup } from "../core/server/connectionRoom.ts";
import type { Metrics } from "../ports/telemetry.ts";

/** The kind of peer of a connection. */
export type Room = "strangers" | "tokens" | "certificates";

/** Maximum number of connections per kind of peer. */
export type RoomSizes = Readonly<Record<Room, number>>;

/** A connection as seen by request handlers. */
export interface Connection {
  /** The authorities that accepted the client certificate are no longer trusted. */
  readonly isStale: boolean;
  /**
   * Moves the connection to the pool of authenticated peers. Returns false if that pool is full of busy connections;
   * the caller must then end the connection.
   */
  admit(room: Exclude<Room, "strangers">): boolean;
  /** Marks the start of a request. The connection is idle again after every returned function was called. */
  work(): () => void;
}

/** The open connections of a server. See the file header. */
export interface Connections {
  /** Returns the connection of a request; undefined if the connection was just closed. */
  of(socket: Pick<Socket, "remoteAddress" | "remotePort">): Connection | undefined;
  /**
   * Revokes trust in client certificates: their idle connections close at once, the busy ones after the current
   * request.
   */
  distrust(): void;
}

interface Held extends Connection {
  readonly socket: Socket;
  readonly peer: string;
  room: Room;
  readonly isIdle: boolean;
  distrust(): void;
}

/** Tracks the connections of a server. Call before the server listens. */
export function watchConnections(server: Server, sizes: RoomSizes, metrics: Metrics): Connections {
  const rooms: Readonly<Record<Room, Set<Held>>> = {
    strangers: new Set(),
    tokens: new Set(),
    certificates: new Set(),
  };
  const byPeer = new Map<string, Held>();
  /** Closes one connection if the pool is over its size. Returns false if none can be closed. */
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
    // A certificate takes precedence over a token sent on the same connection.
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

/** Key of a connection, equal for the TCP socket and the TLS socket on top of it. */
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
