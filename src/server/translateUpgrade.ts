/**
 * Exec and attach for a WebSocket client with v5 channels (which can close stdin), translated to SPDY for the runtime.
 * The client's WebSocket opens first, so later errors are sent as a Status on the error channel.
 * Upstream: StreamTranslatorHandler of k8s.io/apiserver, which the kubelet uses.
 */
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { internalErrorStatus, translatedStatus } from "../core/server/remoteStatus.ts";
import type { ProcessStreams } from "../core/server/streamOptions.ts";
import { CHANNEL, openChannels } from "../streaming/channels.ts";
import { openSpdy, type SpdyConnection } from "../streaming/spdyConnection.ts";
import { CLOSE_SIGNAL_PROTOCOL } from "../streaming/subprotocols.ts";
import { acceptWebSocket, handshakeFault } from "../streaming/webSocketServer.ts";
import { dialUpgrade } from "./dialUpgrade.ts";
import { limitIdleness, type ProxyUpgradeOptions, reportReceived } from "./proxyUpgrade.ts";
import { answerRaw } from "./rawAnswer.ts";

const SPDY_PROTOCOLS = "v4.channel.k8s.io, v3.channel.k8s.io, v2.channel.k8s.io, channel.k8s.io";

/** Resolves when the connection is closed. Never rejects. */
export async function translateUpgrade(options: ProxyUpgradeOptions, wanted: ProcessStreams): Promise<void> {
  const { incoming, socket, idleTimeoutMs } = options;
  const fault = handshakeFault(incoming);
  if (fault !== undefined) return answerRaw(socket, ...fault);
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const peer = acceptWebSocket(options, CLOSE_SIGNAL_PROTOCOL);
  if (peer === undefined) return;
  reportReceived(options);
  limitIdleness([socket], idleTimeoutMs);
  const readable = [wanted.stdin, false, false, false, wanted.tty];
  const channels = openChannels(peer, { isBase64: false, hasCloseSignal: true }, readable);
  const first = wanted.stdout ? CHANNEL.stdout : wanted.stderr ? CHANNEL.stderr : CHANNEL.error;
  // An empty message signals that the streams are open.
  channels[first]?.write(Buffer.alloc(0));
  const status = await throughRuntime(options, wanted, channels).catch(({ message }: Error) =>
    internalErrorStatus(message),
  );
  const error = channels[CHANNEL.error];
  if (error !== undefined && !socket.destroyed) {
    error.end(status);
    await Promise.race([once(error, "finish"), closed]);
  }
  peer.close();
  await closed;
  for (const channel of channels) channel.destroy();
}

/**
 * Connects the streams to the runtime and returns the status for the client. Rejects if the runtime is unreachable,
 * refuses or disconnects.
 */
async function throughRuntime(
  { socket, url, idleTimeoutMs }: ProxyUpgradeOptions,
  wanted: ProcessStreams,
  channels: readonly Duplex[],
): Promise<string> {
  const upgrade = ["Connection", "Upgrade", "Upgrade", "SPDY/3.1", "X-Stream-Protocol-Version", SPDY_PROTOCOLS];
  const dialed = await dialUpgrade(url, "POST", ["Host", url.host, ...upgrade], socket);
  if (dialed.kind === "failed") throw new Error(dialed.message);
  if (dialed.kind === "refused") throw new Error(`unable to upgrade connection: ${dialed.body.trim()}`);
  const { runtime, early } = dialed;
  limitIdleness([runtime], idleTimeoutMs);
  const connection = openSpdy(runtime, "client", { head: early });
  const end = (): void => connection.close();
  socket.once("close", end);
  try {
    return await joinStreams(connection, wanted, channels);
  } finally {
    socket.removeListener("close", end);
    end();
  }
}

async function joinStreams(
  connection: SpdyConnection,
  wanted: ProcessStreams,
  channels: readonly Duplex[],
): Promise<string> {
  const open = (name: string): Promise<Duplex> => connection.createStream([["streamType", name]]);
  const error = await open("error");
  const status = text(error);
  status.catch(() => {}); // awaited below, after the outputs
  error.end();
  const inputs = [...(wanted.stdin ? (["stdin"] as const) : []), ...(wanted.tty ? (["resize"] as const) : [])];
  for (const name of inputs) {
    const stream = await open(name);
    channels[CHANNEL[name]]?.pipe(stream);
    stream.on("error", () => channels[CHANNEL[name]]?.resume());
  }
  const outputs = (["stdout", "stderr"] as const).filter((name) => wanted[name]);
  await Promise.all(
    outputs.map(async (name) => {
      const stream = await open(name);
      const channel = channels[CHANNEL[name]];
      if (channel !== undefined) await pipeline(stream, channel);
    }),
  );
  return translatedStatus(await status);
}
