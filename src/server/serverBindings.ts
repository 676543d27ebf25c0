/** What a handler finds beside the request: the connection it came on. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ProcessStreams } from "../core/server/streamOptions.ts";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { Connection } from "./connections.ts";

/** A request that asks for another protocol on its connection. */
export interface UpgradeRequest {
  /** Hands the connection on to this URL; resolves when both ends are closed, or the other side refused. */
  proxyTo(url: URL): Promise<void>;
  /** The same for a WebSocket with v5 channels, which the runtime gets as SPDY. */
  translateTo(url: URL, streams: ProcessStreams): Promise<void>;
  /** The same for a WebSocket that carries SPDY. */
  tunnelTo(url: URL): Promise<void>;
}

/** `context.env` of an app behind `serve`. */
export interface ServerBindings {
  readonly incoming: IncomingMessage | Http2ServerRequest;
  /** Absent for an upgrade. */
  readonly outgoing?: ServerResponse | Http2ServerResponse;
  readonly upgrade?: UpgradeRequest;
  /** Absent once it is closed. */
  readonly connection?: Connection | undefined;
}
