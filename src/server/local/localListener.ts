/**
 * The listener of the local socket. A node that nobody asks does not load the routes: the first connection does. Owns the
 * socket and its connections, which close with the subscription.
 */
import * as fs from "node:fs/promises";
import { createServer, type Server as NetServer, type Socket } from "node:net";
import type { Server } from "node:http";
import { Observable } from "rxjs";
import { placeUnixSocket } from "../../grpcServer/unixSocket.ts";
import { once } from "node:events";

/** An HTTP server that accepts connections of another listener. */
export interface LocalHttp {
  readonly server: Server;
  close(): void;
}

export interface LocalListenerOptions {
  readonly socket: string;
  /** Descriptor of the socket if it listens already and belongs to the service manager, which then also removes it. */
  readonly fd?: number | undefined;
  readonly mode: number;
  readonly gid: number | undefined;
  /** Creates the HTTP server, for the first connection. */
  readonly load: () => Promise<LocalHttp>;
  readonly onProblem: (problem: unknown) => void;
}

/** Connections that wait for the routes, and connections at once. */
const MAX_CONNECTIONS = 256;

/**
 * Listens while subscribed: emits once when it listens, and never completes. Errors: the socket cannot be made, or another
 * process serves it.
 */
export const localListener = (options: LocalListenerOptions): Observable<void> =>
  new Observable<void>((subscriber) => {
    const open = new Set<Socket>();
    let http: Promise<LocalHttp> | undefined;
    let removeSocket = (): void => {};
    const listener = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
      open.add(socket);
      socket.once("close", () => open.delete(socket));
      socket.on("error", () => socket.destroy());
      http ??= options.load();
      http.then(
        ({ server }) => {
          if (socket.destroyed) return;
          server.emit("connection", socket);
          socket.resume();
        },
        (thrown: unknown) => {
          options.onProblem(thrown);
          http = undefined;
          socket.destroy();
        },
      );
    });
    listener.maxConnections = MAX_CONNECTIONS;
    const heard =
      options.fd === undefined
        ? placeUnixSocket(options.socket, { ...options, bind: (place) => listening(listener, place) })
        : takenOver(listener, options.fd, options);
    heard.then(
      (remove) => {
        removeSocket = remove;
        if (subscriber.closed) remove();
        else subscriber.next();
      },
      (thrown: unknown) => subscriber.error(thrown),
    );
    return () => {
      removeSocket();
      listener.close();
      for (const socket of open) socket.destroy();
      http?.then((loaded) => loaded.close(), options.onProblem);
    };
  });

async function listening(listener: NetServer, place: string | { readonly fd: number }): Promise<void> {
  const heard = once(listener, "listening");
  listener.listen(place);
  await heard;
}

/** Listens on a socket of the service manager, for those who may use it. Resolves with a function that removes nothing. */
async function takenOver(listener: NetServer, fd: number, options: LocalListenerOptions): Promise<() => void> {
  const { socket, mode, gid } = options;
  if (gid !== undefined) await fs.lchown(socket, process.getuid?.() ?? -1, gid);
  await fs.chmod(socket, mode);
  await listening(listener, { fd });
  return () => {};
}
