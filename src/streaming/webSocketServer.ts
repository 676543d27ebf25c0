/**
 * The server's side of a WebSocket on a connection whose handshake is answered: messages in order, pings answered, the
 * end said. Bound: a message of 32 MiB, as upstream; who sends more, or what is no WebSocket, is cut off.
 */
import type { Socket } from "node:net";
import { encodeWebSocketFrame, OPCODE, webSocketFrameReader } from "./webSocketFrames.ts";

/** See the file header. */
export interface WebSocketPeer {
  /** To be read once, to its end: that of the connection. The connection is read as fast as this is. */
  readonly messages: AsyncIterable<Buffer>;
  /** Resolves when the connection takes more, or is gone. */
  send(message: Uint8Array, kind?: "binary" | "text"): Promise<void>;
  /** Says that it ends, after what was sent. */
  close(): void;
}

const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;
/** A normal end, and no reason. */
const NORMAL_CLOSURE = Buffer.from([0x03, 0xe8]);
/** For a client to close its end too, in milliseconds. */
const LINGER_MS = 5_000;

/** `head` is what came behind the request. */
export function serveWebSocket(socket: Socket, head: Buffer): WebSocketPeer {
  socket.on("error", () => {});
  const write = (opcode: number, payload: Uint8Array): Promise<void> =>
    new Promise((resolve) => {
      if (socket.destroyed || socket.writableEnded) resolve();
      else socket.write(encodeWebSocketFrame(opcode, payload), () => resolve());
    });
  const close = (): void => {
    if (socket.destroyed || socket.writableEnded) return;
    void write(OPCODE.close, NORMAL_CLOSURE);
    socket.end();
    socket.resume();
    socket.setTimeout(LINGER_MS, () => socket.destroy());
  };
  return {
    messages: messagesOf(socket, head, write, close),
    send: (message, kind = "binary") => write(OPCODE[kind], message),
    close,
  };
}

async function* messagesOf(
  socket: Socket,
  head: Buffer,
  write: (opcode: number, payload: Uint8Array) => Promise<void>,
  close: () => void,
): AsyncGenerator<Buffer, void, void> {
  const frames = webSocketFrameReader(MAX_MESSAGE_BYTES);
  let parts: Buffer[] = [];
  try {
    for await (const chunk of chunksOf(head, socket)) {
      for (const { fin, opcode, payload } of frames(chunk)) {
        if (opcode === OPCODE.close) return close();
        if (opcode === OPCODE.ping) void write(OPCODE.pong, payload);
        if (opcode >= OPCODE.close) continue;
        parts.push(payload);
        if (parts.reduce((sum, part) => sum + part.length, 0) > MAX_MESSAGE_BYTES) return void socket.destroy();
        if (!fin) continue;
        yield parts.length === 1 ? payload : Buffer.concat(parts);
        parts = [];
      }
    }
  } catch {
    socket.destroy();
  }
}

async function* chunksOf(head: Buffer, socket: Socket): AsyncGenerator<Buffer, void, void> {
  if (head.length > 0) yield head;
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
}
