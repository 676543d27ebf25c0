/**
 * The Kubernetes channel protocol over a WebSocket: the first byte of each message is the channel number. With v5, the
 * message 255 followed by a channel number closes the client's direction of that channel; in earlier versions only
 * closing the connection does. Bound: as in upstream, a channel that is not read blocks the whole connection.
 * Upstream: httpstream/wsstream of k8s.io/streaming.
 */
import { Duplex, Writable } from "node:stream";
import type { WebSocketPeer } from "./webSocketServer.ts";

/** Channels of exec and attach. */
export const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;

/** Encoding of messages. */
export interface ChannelCodec {
  /** Text messages: the channel number as a digit, the data in base64. */
  readonly isBase64: boolean;
  /** Whether message 255 closes a channel. */
  readonly hasCloseSignal: boolean;
}

const CLOSE_SIGNAL = 255;
const DIGIT_ZERO = 48;

/**
 * Returns the codec of a subprotocol; undefined if it is not a channel protocol. The empty name is the default without
 * negotiation.
 */
export function channelCodec(protocol: string): ChannelCodec | undefined {
  const found = /^(v[45]\.)?(base64\.)?channel\.k8s\.io$/.exec(protocol);
  if (protocol !== "" && (found === null || (found[1] === "v5." && found[2] !== undefined))) return undefined;
  return { isBase64: found?.[2] !== undefined, hasCloseSignal: found?.[1] === "v5." };
}

/**
 * Opens `readable.length` channels. Data for a channel that is not readable is dropped. All channels end with the
 * connection.
 */
export function openChannels(
  peer: WebSocketPeer,
  { isBase64, hasCloseSignal }: ChannelCodec,
  readable: readonly boolean[],
): readonly Duplex[] {
  const channels = readable.map(
    (_, number) =>
      new Channel((data, sent) => peer.send(isBase64 ? base64Message(number, data) : message(number, data), sent)),
  );
  const take = (bytes: Buffer, taken: () => void): void => {
    const [first, second] = bytes;
    if (hasCloseSignal && first === CLOSE_SIGNAL) {
      channels[second ?? -1]?.endInput();
      return taken();
    }
    const number = isBase64 ? (first ?? -1) - DIGIT_ZERO : (first ?? -1);
    const channel = readable[number] === true ? channels[number] : undefined;
    if (channel === undefined) return taken();
    channel.accept(isBase64 ? Buffer.from(bytes.toString("latin1", 1), "base64") : bytes.subarray(1), taken);
  };
  peer.messages.pipe(
    new Writable({
      objectMode: true,
      highWaterMark: 1,
      write: (bytes: Buffer, _encoding, taken) => take(bytes, taken),
      final: (done) => {
        for (const channel of channels) channel.endInput();
        done();
      },
    }),
  );
  return channels;
}

const message = (number: number, data: Buffer): Buffer => Buffer.concat([Buffer.from([number]), data]);
const base64Message = (number: number, data: Buffer): string => `${number}${data.toString("base64")}`;

class Channel extends Duplex {
  readonly #send: (data: Buffer, sent: () => void) => void;
  #hasEnded = false;
  #onDrain: (() => void) | undefined;

  constructor(send: (data: Buffer, sent: () => void) => void) {
    super({ allowHalfOpen: true, readableHighWaterMark: 1 });
    this.#send = send;
    this.on("error", () => {});
  }

  /** Accepts data from the client; calls `taken` when the stream accepts more. */
  accept(data: Buffer, taken: () => void): void {
    if (this.#hasEnded || this.destroyed || data.length === 0 || this.push(data)) return taken();
    this.#onDrain = taken;
  }

  endInput(): void {
    if (this.#hasEnded || this.destroyed) return;
    this.#hasEnded = true;
    this.push(null);
  }

  #drained(): void {
    const taken = this.#onDrain;
    this.#onDrain = undefined;
    taken?.();
  }

  override _read(): void {
    this.#drained();
  }

  override _write(data: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#send(data, done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#drained();
    done(error);
  }
}
