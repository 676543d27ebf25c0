/** A client of the kubelet's streams by WebSocket, in the protocol `v4.channel.k8s.io` or later: one byte of channel, then data. */
import { Agent, WebSocket } from "undici";

/** Channels of exec and attach. */
export const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;

/** An open stream. */
export interface ChannelSocket {
  send(channel: number, data: string | Uint8Array): void;
  /** Ends a channel, by the signal of v5. */
  end(channel: number): void;
  /** All that came on a channel until now. */
  heard(channel: number): Buffer;
  /** Resolves when the other side has closed it. */
  readonly closed: Promise<void>;
  close(): void;
}

/** Address of the kubelet and credentials. */
export interface KubeletTls {
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
}

/** Opens one; rejects when the kubelet refuses. */
export async function openChannels(
  url: string,
  tls: KubeletTls,
  protocol = "v4.channel.k8s.io",
): Promise<ChannelSocket> {
  const dispatcher = new Agent({ connect: { ...tls } });
  const socket = new WebSocket(url, { protocols: [protocol], dispatcher });
  socket.binaryType = "arraybuffer";
  const channels = new Map<number, Buffer[]>();
  socket.addEventListener("message", ({ data }) => {
    const bytes = Buffer.from(data as ArrayBuffer);
    const channel = bytes[0] ?? -1;
    channels.set(channel, [...(channels.get(channel) ?? []), bytes.subarray(1)]);
  });
  const closed = new Promise<void>((resolve) => socket.addEventListener("close", () => resolve()));
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", (event) =>
      reject(new Error(String((event as { readonly message?: string }).message))),
    );
  });
  return {
    send: (channel, data) => socket.send(Buffer.concat([Buffer.from([channel]), Buffer.from(data)])),
    end: (channel) => socket.send(Buffer.from([255, channel])),
    heard: (channel) => Buffer.concat(channels.get(channel) ?? []),
    closed: closed.then(() => dispatcher.destroy()),
    close: () => socket.close(),
  };
}
