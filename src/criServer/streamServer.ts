/**
 * The streaming server of the runtime: exec, attach and port-forward on a loopback address, each at a single-use URL.
 * Owns its connections; `close` closes them.
 * Upstream: the server of cri-streaming, as embedded by containerd.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import { isIPv6, type AddressInfo, type Socket } from "node:net";
import { type RunCommand, serveCommand, type WantedStreams } from "./commandStreams.ts";
import { type Forward, servePortForward } from "./portForwardStreams.ts";
import { messageOf } from "../grpcServer/rpcFault.ts";
import { createStreamTokens } from "./streamTokens.ts";
import { refuse, type StreamUpgrade } from "./streamUpgrade.ts";

/** The request behind a URL. */
export type StreamRequest =
  | { readonly kind: "exec" | "attach"; readonly wanted: WantedStreams; readonly run: RunCommand }
  | { readonly kind: "portforward"; readonly ports: readonly number[]; readonly forward: Forward };

/** The streaming server. See the file header. */
export interface StreamServer {
  /** Returns a new URL. Throws RESOURCE_EXHAUSTED if a thousand unused URLs are pending. */
  urlFor(request: StreamRequest): string;
  close(): void;
}

const LOOPBACK = "127.0.0.1";
/** Idle timeout of a connection. */
const IDLE_MS = 4 * 60 * 60 * 1000;

/** Starts the server; `report` receives problems that cannot be returned to a client. */
export async function startStreamServer(report: (line: string) => void, address = LOOPBACK): Promise<StreamServer> {
  const tokens = createStreamTokens<StreamRequest>(() => performance.now());
  const sockets = new Set<Socket>();
  const server = createServer((_request, answer) => {
    answer
      .writeHead(400, { "content-type": "text/plain; charset=utf-8" })
      .end("unable to upgrade: no upgrade requested\n");
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("upgrade", (incoming, socket: Socket, head) => {
    socket.on("error", () => socket.destroy());
    socket.setTimeout(IDLE_MS, () => socket.destroy());
    const [, kind, token = ""] = /^\/(exec|attach|portforward)\/([\w-]+)$/.exec(incoming.url ?? "") ?? [];
    const request = tokens.take(token);
    if (request === undefined || request.kind !== kind) return refuse(socket, 404, "404 page not found");
    serve({ incoming, socket, head }, request).catch((thrown: unknown) => {
      report(`${request.kind}: ${messageOf(thrown)}`);
      socket.destroy();
    });
  });
  server.listen(0, address);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const host = isIPv6(address) ? `[${address}]` : address;
  return {
    urlFor: (request) => `http://${host}:${port}/${request.kind}/${tokens.issue(request)}`,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

const serve = (upgrade: StreamUpgrade, request: StreamRequest): Promise<void> =>
  request.kind === "portforward"
    ? servePortForward(upgrade, request.ports, request.forward)
    : serveCommand(upgrade, request.wanted, request.run);
