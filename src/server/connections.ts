/**
 * The connections of one server, in one pool per kind of peer: unauthenticated, by token, and by certificate. A full
 * pool closes one of its own connections (`core/server/connectionToClose.ts`), so clients without credentials cannot
 * displace clients that have them. Owns the state of each connection until the connection closes.
 * Differs from upstream: the number of connections of Go's server is bounded only by its file descriptors.
 */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { connectionToClose, peerGroup } from "../core/server/connectionToClose.ts";
import type { Metrics } from "../ports/telemetry.ts";

/** The kind of peer of a connection. */
export type ConnectionPool = "unauthenticated" | "tokens" | "certificates";

/** Maximum number of connections per kind of peer. */
export type PoolSizes = Readonly<Record<ConnectionPool, number>>;

/** A connection as seen by request handlers. */
export interface Connection {
  /** The authorities that accepted the client certificate are no longer trusted. */
  readonly isStale: boolean;
  /**
   * Moves the connection to the pool of authenticated peers. Returns false if that pool is full of busy connections;
   * the caller must then end the connection.
   */
  admit(pool: Exclude<ConnectionPool, "unauthenticated">): boolean;
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
  pool: ConnectionPool;
  readonly isIdle: boolean;
  distrust(): void;
}

/** Tracks the connections of a server. Call before the server listens. */
export function watchConnections(server: Server, sizes: PoolSizes, metrics: Metrics): Connections {
  const pools: Readonly<Record<ConnectionPool, Set<Held>>> = {
    unauthenticated: new Set(),
    tokens: new Set(),
    certificates: new Set(),
  };
  const byPeer = new Map<unknown, Held>();
  /** Closes one connection if the pool is over its size. Returns false if none can be closed. */
  const closeOverLimit = (pool: ConnectionPool): boolean => {
    if (pools[pool].size <= sizes[pool]) return true;
    const closed = connectionToClose(pools[pool], pool === "unauthenticated");
    if (closed === undefined) return false;
    pools[pool].delete(closed);
    closed.socket.destroy();
    metrics.count("rxlet_connections_closed_at_limit_total", { pool });
    return true;
  };
  const admit = (held: Held, pool: ConnectionPool): boolean => {
    if (held.pool === pool || held.socket.destroyed) return true;
    // A certificate takes precedence over a token sent on the same connection.
    if (held.pool === "certificates") return true;
    pools[held.pool].delete(held);
    held.pool = pool;
    pools[pool].add(held);
    return closeOverLimit(pool) || !pools[pool].delete(held);
  };
  server.on("connection", (socket: Socket) => {
    const key = keyOf(socket);
    const held = heldConnection(socket, admit);
    byPeer.set(key, held);
    pools.unauthenticated.add(held);
    socket.once("close", () => {
      pools[held.pool].delete(held);
      if (byPeer.get(key) === held) byPeer.delete(key);
    });
    closeOverLimit("unauthenticated");
  });
  server.on("secureConnection", (socket: TLSSocket) => {
    const held = byPeer.get(keyOf(socket));
    if (socket.authorized && held?.admit("certificates") === false) socket.destroy();
  });
  return {
    of: (socket) => byPeer.get(keyOf(socket)),
    distrust: () => {
      for (const held of pools.certificates) held.distrust();
    },
  };
}

/** Key of a connection, equal for the TCP socket and the TLS socket on top of it. A Unix socket has no address. */
const keyOf = (socket: Pick<Socket, "remoteAddress" | "remotePort">): unknown =>
  socket.remotePort === undefined ? socket : `${socket.remoteAddress} ${socket.remotePort}`;

function heldConnection(socket: Socket, admit: (held: Held, pool: ConnectionPool) => boolean): Held {
  let working = 0;
  let isStale = false;
  const held: Held = {
    socket,
    peer: peerGroup(socket.remoteAddress),
    pool: "unauthenticated",
    get isIdle() {
      return working === 0;
    },
    get isStale() {
      return isStale;
    },
    admit: (pool) => admit(held, pool),
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
