/**
 * The streams of exec and attach on an upgraded connection, over SPDY or WebSocket and in all protocol versions. The
 * result of the command is sent on the error stream.
 * Upstream: remotecommand of cri-streaming.
 */
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { CHANNEL, channelCodec, openChannels } from "../streaming/channels.ts";
import { openSpdy } from "../streaming/spdyConnection.ts";
import type { SpdyStream } from "../streaming/spdyStream.ts";
import { acceptSpdy, acceptWebSocket, isWebSocketUpgrade, type StreamUpgrade } from "./streamUpgrade.ts";
import { within } from "./within.ts";

/** The streams that the request enables. */
export interface WantedStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  /** Includes terminal resize events, if the protocol supports them. */
  readonly tty: boolean;
}

/** Streams of a command; undefined if not requested. */
export interface CommandStreams {
  readonly stdin: Readable | undefined;
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  /** Terminal sizes of the client as JSON. */
  readonly resize: Readable | undefined;
  /** Aborts when the client disconnects. */
  readonly gone: AbortSignal;
}

/** The result of a command. */
export type CommandEnd =
  | { readonly kind: "done" }
  | { readonly kind: "exited"; readonly exitCode: number }
  | { readonly kind: "failed"; readonly message: string };

/** Runs a command on streams. The function ends the streams it writes to. */
export type RunCommand = (streams: CommandStreams) => Promise<CommandEnd>;

interface OpenStreams {
  readonly streams: CommandStreams;
  readonly error: Writable;
  /** Whether the result is sent as a Status object instead of plain text. */
  readonly reportsStatus: boolean;
  close(): void;
}

/** Time for the client to open its streams, in milliseconds. */
const CREATION_MS = 30_000;
const SPDY_PROTOCOLS = ["v4.channel.k8s.io", "v3.channel.k8s.io", "v2.channel.k8s.io", "channel.k8s.io"];
const WEB_SOCKET_PROTOCOLS = [
  "v5.channel.k8s.io",
  "v4.channel.k8s.io",
  "v4.base64.channel.k8s.io",
  "channel.k8s.io",
  "base64.channel.k8s.io",
];

/** Negotiates the protocol, runs the command, sends the result and closes the connection. */
export async function serveCommand(upgrade: StreamUpgrade, wanted: WantedStreams, run: RunCommand): Promise<void> {
  const open = isWebSocketUpgrade(upgrade) ? overWebSocket(upgrade, wanted) : await overSpdy(upgrade, wanted);
  if (open === undefined) return;
  const { streams, error, reportsStatus, close } = open;
  const end = await run(streams);
  const outputs = [streams.stdout, streams.stderr].filter((stream) => stream !== undefined);
  const text = reportsStatus ? JSON.stringify(statusOf(end)) : end.kind === "done" ? "" : statusOf(end).message;
  await Promise.all(outputs.map((stream) => ended(stream)));
  await ended(error, text);
  close();
}

/** Resolves when all data is written or the stream has closed. */
async function ended(stream: Writable, text = ""): Promise<void> {
  if (stream.destroyed || stream.writableFinished) return;
  if (!stream.writableEnded) stream.end(text);
  await Promise.race([once(stream, "finish"), once(stream, "close")]).catch(() => {});
}

/** The fields of a Status that kubectl reads. */
interface RemoteStatus {
  readonly status: "Success" | "Failure";
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: { readonly causes: readonly { readonly reason: string; readonly message: string }[] };
}

/** Returns the Status for the error stream. */
function statusOf(end: CommandEnd): RemoteStatus {
  switch (end.kind) {
    case "done":
      return { status: "Success" };
    case "exited":
      if (end.exitCode === 0) return { status: "Success" };
      return {
        status: "Failure",
        message: `command terminated with non-zero exit code: exit status ${end.exitCode}`,
        reason: "NonZeroExitCode",
        details: { causes: [{ reason: "ExitCode", message: String(end.exitCode) }] },
      };
    case "failed":
      return {
        status: "Failure",
        message: `Internal error occurred: ${end.message}`,
        reason: "InternalError",
        code: 500,
      };
  }
}

function goneSignal(upgrade: StreamUpgrade): AbortSignal {
  const gone = new AbortController();
  upgrade.socket.once("close", () => gone.abort());
  return gone.signal;
}

function overWebSocket(upgrade: StreamUpgrade, wanted: WantedStreams): OpenStreams | undefined {
  const accepted = acceptWebSocket(upgrade, WEB_SOCKET_PROTOCOLS);
  if (accepted === undefined) return undefined;
  const { peer, protocol } = accepted;
  const codec = channelCodec(protocol) ?? { isBase64: false, hasCloseSignal: false };
  const channels = openChannels(peer, codec, [wanted.stdin, false, false, false, wanted.tty]);
  const [stdin, stdout, stderr, error, resize] = channels;
  const gone = goneSignal(upgrade);
  gone.addEventListener("abort", () => channels.forEach((channel) => channel.destroy()));
  const first = wanted.stdout ? CHANNEL.stdout : wanted.stderr ? CHANNEL.stderr : CHANNEL.error;
  // An empty message signals that the streams are open.
  channels[first]?.write(Buffer.alloc(0));
  if (error === undefined) return undefined;
  return {
    streams: {
      stdin: wanted.stdin ? stdin : undefined,
      stdout: wanted.stdout ? stdout : undefined,
      stderr: wanted.stderr ? stderr : undefined,
      resize: wanted.tty ? resize : undefined,
      gone,
    },
    error,
    reportsStatus: /^v[45]/.test(protocol),
    close: () => peer.close(),
  };
}

async function overSpdy(upgrade: StreamUpgrade, wanted: WantedStreams): Promise<OpenStreams | undefined> {
  const accepted = acceptSpdy(upgrade, SPDY_PROTOCOLS);
  if (accepted === undefined) return undefined;
  const outputs = (["stdin", "stdout", "stderr"] as const).filter((name) => wanted[name]);
  const expected = ["error", ...outputs, ...(wanted.tty && /^v[34]/.test(accepted) ? ["resize"] : [])];
  const found = new Map<string, SpdyStream>();
  const complete = Promise.withResolvers<void>();
  const connection = openSpdy(upgrade.socket, "server", {
    head: upgrade.head,
    onStream: (stream) => {
      const type = stream.headers.get("streamtype") ?? "";
      if (!expected.includes(type) || found.has(type)) return false;
      found.set(type, stream);
      if (found.size === expected.length) complete.resolve();
      return true;
    },
  });
  const gone = goneSignal(upgrade);
  await within(CREATION_MS, complete.promise, gone);
  const error = found.get("error");
  if (found.size < expected.length || error === undefined) {
    connection.close();
    return undefined;
  }
  return {
    streams: {
      stdin: found.get("stdin"),
      stdout: found.get("stdout"),
      stderr: found.get("stderr"),
      resize: found.get("resize"),
      gone,
    },
    error,
    reportsStatus: accepted === "v4.channel.k8s.io",
    close: () => connection.close(),
  };
}
