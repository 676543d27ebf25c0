/**
 * Upgrade requests, which Node's HTTP server detaches. They pass through the app like other requests; the app's
 * response is sent unless a route takes over the connection. Owns the upgraded connections.
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Hono } from "hono";
import { getPath } from "hono/utils/url";
import { isStreamPath } from "../core/server/streamOptions.ts";
import type { Telemetry } from "../ports/telemetry.ts";
import type { Connection } from "./connections.ts";
import { failedTask } from "./failedTask.ts";
import { proxyUpgrade, type ProxyUpgradeOptions } from "./proxyUpgrade.ts";
import { answerRaw, answerResponse } from "./rawAnswer.ts";
import type { ServerBindings } from "./serverBindings.ts";
import { translateUpgrade } from "./translateUpgrade.ts";
import { tunnelUpgrade } from "./tunnelUpgrade.ts";

/** Options of all forwarded connections of a server. */
export type Forwarding = Pick<ProxyUpgradeOptions, "idleTimeoutMs" | "onReceived">;

/** Listener for a server's `upgrade` event; `close` ends all upgraded connections. */
export interface Upgrades {
  /** Returns whether a request may be upgraded. Other requests are answered as if they had not asked for an upgrade. */
  isWanted(incoming: IncomingMessage): boolean;
  listener(incoming: IncomingMessage, socket: Socket, head: Buffer, connection: Connection | undefined): void;
  close(): void;
}

/**
 * Creates the upgrade handling. `isStream` selects the paths that may upgrade; `forwarding` applies to forwarded
 * connections.
 */
export function createUpgrades(
  app: Pick<Hono, "fetch">,
  forwarding: Forwarding,
  telemetry: Telemetry,
  isStream: (path: string) => boolean = isStreamPath,
): Upgrades {
  const open = new Set<Socket>();
  const isWanted = (incoming: IncomingMessage): boolean => {
    const request = requestOf(incoming);
    // Uses the same path as the guard and the routes.
    return request !== undefined && isStream(getPath(request));
  };
  return {
    isWanted,
    listener: (incoming, socket, head, connection) => {
      const done = connection?.work();
      open.add(socket);
      socket.once("close", () => {
        open.delete(socket);
        done?.();
      });
      socket.on("error", () => socket.destroy());
      // Older Node versions emit `upgrade` without asking `shouldUpgradeCallback`.
      if (!isWanted(incoming)) answerRaw(socket, 400, "400: Bad Request");
      else {
        answer(app, { incoming, socket, head, connection, ...forwarding }).catch((thrown: unknown) => {
          failedTask(telemetry, "upgrade")(thrown);
          answerRaw(socket, 500, "500: Internal Server Error");
        });
      }
    },
    close: () => {
      for (const socket of open) socket.destroy();
    },
  };
}

interface Upgrade extends Forwarding {
  readonly incoming: IncomingMessage;
  readonly socket: Socket;
  readonly head: Buffer;
  readonly connection: Connection | undefined;
}

async function answer(app: Pick<Hono, "fetch">, upgrade: Upgrade): Promise<void> {
  const { incoming, socket, connection } = upgrade;
  const request = requestOf(incoming);
  if (request === undefined) return answerRaw(socket, 400, "400: Bad Request");
  let isHandedOn = false;
  const handOn = (closed: Promise<void>): Promise<void> => {
    isHandedOn = true;
    return closed;
  };
  const bindings: ServerBindings = {
    incoming,
    connection,
    upgrade: {
      proxyTo: (url) => handOn(proxyUpgrade({ ...upgrade, url })),
      translateTo: (url, streams) => handOn(translateUpgrade({ ...upgrade, url }, streams)),
      tunnelTo: (url) => handOn(tunnelUpgrade({ ...upgrade, url })),
    },
  };
  const response = await app.fetch(request, bindings);
  if (!isHandedOn) await answerResponse(socket, response);
}

/** Builds a request without a body, because an upgrade has none. */
function requestOf({ url = "", method = "GET", rawHeaders }: IncomingMessage): Request | undefined {
  if (!url.startsWith("/") || url.includes("\\")) return undefined;
  try {
    const headers = new Headers();
    for (let at = 0; at + 1 < rawHeaders.length; at += 2)
      headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
    return new Request(`https://kubelet${url}`, { method, headers });
  } catch {
    return undefined;
  }
}
