/**
 * The channel protocol of Kubernetes over a WebSocket: each message begins with the number of its channel. With v5 a
 * message 255 and a number ends the client's direction of that channel; before, only the connection's end did.
 * Counterpart: httpstream/wsstream of k8s.io/streaming.
 */
import { Duplex } from "node:stream";
import type { WebSocketPeer } from "./webSocketServer.ts";

/** Channels of exec and attach. */
export const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;

/** How messages are written. */
export interface ChannelCodec {
  /** Text: the number as a digit, the data in base64. */
  readonly isBase64: boolean;
  /** Whether 255 ends a channel. */
  readonly hasCloseSignal: boolean;
}

const CLOSE_SIGNAL = 255;
const DIGIT_ZERO = 48;
/** Of one channel, before the connection is read no further. */
const UNREAD_BYTES = 1024 * 1024;

/** The codec of a subprotocol; undefined when it is no channel protocol. The empty name is none asked for. */
export function channelCodec(protocol: string): ChannelCodec | undefined {
  const found = /^(v[45]\.)?(base64\.)?channel\.k8s\.io$/.exec(protocol);
  if (protocol !== "" && (found === null || (found[1] === "v5." && found[2] !== undefined))) return undefined;
  return { isBase64: found?.[2] !== undefined, hasCloseSignal: found?.[1] === "v5." };
}

/** Opens `readable.length` channels; what comes on one that is not readable is dropped. All end with the connection. */
export function openChannels(
  peer: WebSocketPeer,
  { isBase64, hasCloseSignal }: ChannelCodec,
  readable: readonly boolean[],
): readonly Duplex[] {
  const rooms = new Map<number, () => void>();
  const ended = new Set<number>();
  const end = (number: number): void => {
    if (ended.has(number) || channels[number]?.destroyed !== false) return;
    ended.add(number);
    channels[number]?.push(null);
  };
  const channels = readable.map(
    (_, channel) =>
      new Duplex({
        allowHalfOpen: true,
        readableHighWaterMark: UNREAD_BYTES,
        read: () => rooms.get(channel)?.(),
        write: (data: Buffer, _encoding, done) => void peer.send(...encode(channel, data)).then(() => done()),
        destroy: (error, done) => {
          rooms.get(channel)?.();
          done(error);
        },
      }),
  );
  const encode = (channel: number, data: Buffer): [Buffer, "binary" | "text"] =>
    isBase64
      ? [Buffer.from(`${channel}${data.toString("base64")}`), "text"]
      : [Buffer.concat([Buffer.from([channel]), data]), "binary"];

  const take = async (message: Buffer): Promise<void> => {
    const [first, second] = message;
    if (first === undefined) return;
    if (hasCloseSignal && first === CLOSE_SIGNAL) return end(second ?? -1);
    const number = isBase64 ? first - DIGIT_ZERO : first;
    const channel = channels[number];
    const data = isBase64 ? Buffer.from(message.toString("latin1", 1), "base64") : message.subarray(1);
    if (channel === undefined || readable[number] !== true || ended.has(number) || channel.destroyed) return;
    if (data.length === 0 || channel.push(data)) return;
    await new Promise<void>((resolve) => rooms.set(number, resolve));
    rooms.delete(number);
  };
  const read = async (): Promise<void> => {
    for await (const message of peer.messages) await take(message);
  };
  for (const channel of channels) channel.on("error", () => {});
  void read().finally(() => channels.forEach((_, number) => end(number)));
  return channels;
}
