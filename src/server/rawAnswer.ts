/** Responses on a raw socket, for upgrade requests, which Node's HTTP server detaches. */
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** Time for a client to take a piece of its response and to close its end, in milliseconds. */
const LINGER_MS = 5_000;

/** Returns the head of a response including the empty line. */
export const headText = (
  status: number,
  reason: string,
  headers: Iterable<readonly [name: string, value: string]>,
): string =>
  [`HTTP/1.1 ${status} ${reason}`, ...[...headers].map(([name, value]) => `${name}: ${value}`), "", ""].join("\r\n");

/** Returns the head of a response that closes the connection. */
function lastHead(
  status: number,
  headers: Iterable<readonly [name: string, value: string]>,
  own: readonly (readonly [name: string, value: string])[] = [],
): string {
  const kept = [...headers].filter(([name]) => !/^(content-length|connection|transfer-encoding)$/i.test(name));
  return headText(status, STATUS_CODES[status] ?? "", [...kept, ...own, ["Connection", "close"]]);
}

/** Returns false if the client has disconnected. Otherwise sets the timeout for each piece of the response. */
function canAnswer(socket: Socket): boolean {
  if (socket.destroyed || socket.writableEnded) return false;
  socket.setTimeout(LINGER_MS, () => socket.destroy());
  socket.resume();
  return true;
}

/** Sends a text response, if the client is still connected, and closes the connection. */
export function answerRaw(
  socket: Socket,
  status: number,
  body: string,
  headers: Iterable<readonly [name: string, value: string]> = [["Content-Type", "text/plain; charset=utf-8"]],
): void {
  if (!canAnswer(socket)) return;
  const length = ["Content-Length", String(Buffer.byteLength(body))] as const;
  socket.end(`${lastHead(status, headers, [length])}${body}`);
}

/**
 * Sends the response of a route with back-pressure and closes the connection. Never rejects, even if the client
 * disconnects.
 */
export async function answerResponse(socket: Socket, { status, headers, body }: Response): Promise<void> {
  if (!canAnswer(socket)) return body?.cancel();
  socket.write(lastHead(status, headers));
  if (body === null) return void socket.end();
  await pipeline(Readable.fromWeb(body), socket).catch(() => socket.destroy());
}
