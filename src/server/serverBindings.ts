/** The connection of a request, as handlers see it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ProcessStreams } from "../core/server/streamOptions.ts";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Connection } from "./connections.ts";

/** A request for a protocol upgrade. */
export interface UpgradeRequest {
  /** Forwards the connection to this URL. Resolves when both ends are closed, or the target rejected the upgrade. */
  proxyTo(url: URL): Promise<void>;
  /** Like proxyTo, for a v5 WebSocket client; the runtime receives SPDY. */
  translateTo(url: URL, streams: ProcessStreams): Promise<void>;
  /** Like proxyTo, for a WebSocket client that tunnels SPDY. */
  tunnelTo(url: URL): Promise<void>;
}

/** `context.env` of an app behind `serve`. */
export interface ServerBindings {
  readonly incoming: IncomingMessage | Http2ServerRequest;
  /** Absent for an upgrade request. */
  readonly outgoing?: ServerResponse | Http2ServerResponse;
  readonly upgrade?: UpgradeRequest;
  /** Absent after the connection has closed. */
  readonly connection?: Connection | undefined;
}
