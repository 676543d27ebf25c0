/**
 * Port-forward on an upgraded connection: a pair of SPDY streams per forwarded connection, or a pair of WebSocket
 * channels per requested port.
 * Upstream: portforward of cri-streaming.
 */
import type { Duplex, Writable } from "node:stream";
import { channelCodec, openChannels } from "../streaming/channels.ts";
import { openSpdy } from "../streaming/spdyConnection.ts";
import type { SpdyStream } from "../streaming/spdyStream.ts";
import { messageOf } from "../grpcServer/rpcFault.ts";
import { acceptSpdy, acceptWebSocket, isWebSocketUpgrade, type StreamUpgrade } from "./streamUpgrade.ts";
import { within } from "./within.ts";

/**
 * Connects a stream to a port until both directions have ended. Resolves with an error text, or undefined on success.
 */
export type Forward = (port: number, stream: Duplex) => Promise<string | undefined>;

/** Time for the second stream of a pair to arrive, in milliseconds. */
const CREATION_MS = 30_000;
const SPDY_PROTOCOLS = ["portforward.k8s.io"];
const WEB_SOCKET_PROTOCOLS = ["v4.channel.k8s.io", "v4.base64.channel.k8s.io"];

/** Serves port-forward requests; resolves when the connection has ended. */
export async function servePortForward(upgrade: StreamUpgrade, ports: readonly number[], forward: Forward) {
  if (isWebSocketUpgrade(upgrade)) return overWebSocket(upgrade, ports, forward);
  if (acceptSpdy(upgrade, SPDY_PROTOCOLS) === undefined) return;
  const pairs = new Map<string, StreamPair>();
  const connection = openSpdy(upgrade.socket, "server", {
    head: upgrade.head,
    onStream: (stream) => isWellFormed(stream) && joinPair(pairs, stream, forward),
  });
  await connection.closed;
}

type Role = "data" | "error";
interface StreamPair {
  readonly streams: Partial<Record<Role, SpdyStream>>;
  readonly complete: PromiseWithResolvers<void>;
}

const roleOf = (stream: SpdyStream): string | undefined => stream.headers.get("streamtype");

function portOf({ headers }: SpdyStream): number | undefined {
  const port = /^\d{1,5}$/.test(headers.get("port") ?? "") ? Number(headers.get("port")) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
}

const isWellFormed = (stream: SpdyStream): boolean =>
  portOf(stream) !== undefined && (roleOf(stream) === "data" || roleOf(stream) === "error");

/**
 * Returns the request ID of a stream. Older clients send none, but open the error stream directly before the data
 * stream.
 */
const requestOf = (stream: SpdyStream): string =>
  stream.headers.get("requestid") ?? String(roleOf(stream) === "error" ? stream.streamId : stream.streamId - 2);

/** Adds a stream to its pair; the second stream starts the forwarding. */
function joinPair(pairs: Map<string, StreamPair>, stream: SpdyStream, forward: Forward): boolean {
  const request = requestOf(stream);
  const role = roleOf(stream) as Role;
  const giveUp = (): void => void stream.destroy();
  let pair = pairs.get(request);
  if (pair === undefined) {
    pair = { streams: {}, complete: Promise.withResolvers() };
    pairs.set(request, pair);
    awaitPair(pair, request, () => pairs.delete(request)).catch(giveUp);
  }
  if (pair.streams[role] !== undefined) {
    pair.streams.error?.write(`error processing stream for request ${request}: ${role} stream already assigned`);
    return false;
  }
  pair.streams[role] = stream;
  const { data, error } = pair.streams;
  if (data !== undefined && error !== undefined) {
    pair.complete.resolve();
    error.resume();
    forwardPair(portOf(data) ?? 0, data, error, forward).catch(giveUp);
  }
  return true;
}

async function awaitPair({ streams, complete }: StreamPair, request: string, settled: () => void): Promise<void> {
  const isComplete = await within(CREATION_MS, complete.promise);
  settled();
  if (!isComplete) streams.error?.end(`(request=${request}) timed out waiting for streams`);
}

async function forwardPair(port: number, data: Duplex, error: Writable, forward: Forward): Promise<void> {
  const problem = await forward(port, data).catch(messageOf);
  if (problem !== undefined) data.destroy();
  error.end(problem);
}

async function overWebSocket(upgrade: StreamUpgrade, ports: readonly number[], forward: Forward): Promise<void> {
  const accepted = acceptWebSocket(upgrade, WEB_SOCKET_PROTOCOLS);
  if (accepted === undefined) return;
  const { peer, protocol } = accepted;
  const codec = channelCodec(protocol) ?? { isBase64: false, hasCloseSignal: false };
  const channels = openChannels(
    peer,
    codec,
    ports.flatMap(() => [true, false]),
  );
  upgrade.socket.once("close", () => channels.forEach((channel) => channel.destroy()));
  await Promise.all(
    ports.map(async (port, index) => {
      const [data, error] = channels.slice(index * 2, index * 2 + 2);
      if (data === undefined || error === undefined) return;
      const portBytes = Buffer.alloc(2);
      portBytes.writeUInt16LE(port);
      for (const channel of [data, error]) channel.write(portBytes);
      const problem = await forward(port, data).catch(messageOf);
      if (problem !== undefined) error.write(problem);
    }),
  );
  peer.close();
}
