/**
 * Requests for another protocol on their connection, which an HTTP server lets go of. They take the same way through
 * the app as all others: what it answers is the answer, unless a route hands the connection on. Owns the connections.
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Hono } from "hono";
import { isStreamPath } from "../core/server/streamOptions.ts";
import { proxyUpgrade } from "./proxyUpgrade.ts";
import { answerRaw } from "./rawAnswer.ts";
import type { ServerBindings } from "./serverBindings.ts";
import { translateUpgrade } from "./translateUpgrade.ts";
import { tunnelUpgrade } from "./tunnelUpgrade.ts";

/** The listener of a server's `upgrade` event, and the end of all connections. */
export interface Upgrades {
  /** Whether a request is one of these; others are answered as if they had not asked. */
  isWanted(incoming: IncomingMessage): boolean;
  listener(incoming: IncomingMessage, socket: Socket, head: Buffer): void;
  close(): void;
}

/** `idleTimeoutMs` is that of connections that were handed on; `isStream` knows the URLs that may hand them on. */
export function createUpgrades(
  app: Hono,
  idleTimeoutMs: number,
  isStream: (url: string) => boolean = isStreamPath,
): Upgrades {
  const open = new Set<Socket>();
  const isWanted = ({ url = "" }: IncomingMessage): boolean => isStream(url);
  return {
    isWanted,
    listener: (incoming, socket, head) => {
      open.add(socket);
      socket.once("close", () => open.delete(socket));
      socket.on("error", () => socket.destroy());
      // Older versions of Node ask nobody whether to upgrade.
      if (!isWanted(incoming)) answerRaw(socket, 400, "400: Bad Request");
      else void answer(app, { incoming, socket, head, idleTimeoutMs });
    },
    close: () => {
      for (const socket of open) socket.destroy();
    },
  };
}

interface Upgrade {
  readonly incoming: IncomingMessage;
  readonly socket: Socket;
  readonly head: Buffer;
  readonly idleTimeoutMs: number;
}

async function answer(app: Hono, upgrade: Upgrade): Promise<void> {
  const { incoming, socket } = upgrade;
  const request = requestOf(incoming);
  if (request === undefined) return answerRaw(socket, 400, "400: Bad Request");
  let isHandedOn = false;
  const handOn = (closed: Promise<void>): Promise<void> => {
    isHandedOn = true;
    return closed;
  };
  const bindings: ServerBindings = {
    incoming,
    upgrade: {
      proxyTo: (url) => handOn(proxyUpgrade({ ...upgrade, url })),
      translateTo: (url, streams) => handOn(translateUpgrade({ ...upgrade, url }, streams)),
      tunnelTo: (url) => handOn(tunnelUpgrade({ ...upgrade, url })),
    },
  };
  const response = await app.fetch(request, bindings);
  if (!isHandedOn) answerRaw(socket, response.status, await response.text(), response.headers);
}

/** Without body: an upgrade has none. */
function requestOf({ url = "", method = "GET", rawHeaders }: IncomingMessage): Request | undefined {
  if (!url.startsWith("/")) return undefined;
  try {
    const headers = new Headers();
    for (let at = 0; at + 1 < rawHeaders.length; at += 2)
      headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
    return new Request(`https://kubelet${url}`, { method, headers });
  } catch {
    return undefined;
  }
}
