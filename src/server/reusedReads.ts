/**
 * A TCP connection whose reads share one buffer. Node allocates 64 KiB for each read otherwise, which takes more CPU than
 * to forward the data. Bound: READ_BYTES are read ahead of a slow receiver.
 */
import type { ClientRequestArgs } from "node:http";
import { connect, type Socket } from "node:net";
import type { Writable } from "node:stream";

const READ_BYTES = 262_144;

/** A connection, and how to forward its data. */
export interface ReusedReads {
  /** Emits copies of its data until `sendTo`. */
  readonly socket: Socket;
  /** Forwards all further data and the end to `to`, each piece after `to` has taken the last one. Call it once. */
  sendTo(to: Writable): void;
}

/** Opens the connection to the target of an HTTP request. */
export function connectReused({ host, port, timeout }: ClientRequestArgs): ReusedReads {
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  let receiver: Writable | undefined;
  /** Returns whether the connection goes on reading. */
  const take = (length: number): boolean => {
    const piece = buffer.subarray(0, length);
    if (receiver === undefined) return socket.push(Buffer.from(piece));
    receiver.write(piece, (error) => {
      if (!error) socket.resume();
    });
    return false;
  };
  const socket = connect({
    host: host ?? "",
    port: Number(port),
    // Keystrokes do not wait for acknowledgements. Agents of Node set this too.
    noDelay: true,
    ...(timeout !== undefined && { timeout }),
    onread: { buffer, callback: take },
  });
  return {
    socket,
    sendTo: (to) => {
      for (let piece: unknown = socket.read(); piece !== null; piece = socket.read()) to.write(piece);
      receiver = to;
      socket.once("end", () => to.end());
      socket.resume();
    },
  };
}
