/** Answers on a bare connection: of requests for an upgrade, which the HTTP server lets go of. */
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** For a client to take its answer and close its end, in milliseconds. */
const LINGER_MS = 5_000;

/** The head of an answer, its empty line included. */
export const headText = (
  status: number,
  reason: string,
  headers: Iterable<readonly [name: string, value: string]>,
): string =>
  [`HTTP/1.1 ${status} ${reason}`, ...[...headers].map(([name, value]) => `${name}: ${value}`), "", ""].join("\r\n");

/** The head of an answer behind which the connection ends. */
function lastHead(
  status: number,
  headers: Iterable<readonly [name: string, value: string]>,
  own: readonly (readonly [name: string, value: string])[] = [],
): string {
  const kept = [...headers].filter(([name]) => !/^(content-length|connection|transfer-encoding)$/i.test(name));
  return headText(status, STATUS_CODES[status] ?? "", [...kept, ...own, ["Connection", "close"]]);
}

/** False: there is nobody to answer. Otherwise the client has so long to take each piece of its answer. */
function canAnswer(socket: Socket): boolean {
  if (socket.destroyed || socket.writableEnded) return false;
  socket.setTimeout(LINGER_MS, () => socket.destroy());
  socket.resume();
  return true;
}

/** Answers with a text, if the connection is still there, and ends it. */
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

/** Answers with what a route said, as the client takes it, and ends the connection. Never rejects: the client may go. */
export async function answerResponse(socket: Socket, { status, headers, body }: Response): Promise<void> {
  if (!canAnswer(socket)) return body?.cancel();
  socket.write(lastHead(status, headers));
  if (body === null) return void socket.end();
  await pipeline(Readable.fromWeb(body), socket).catch(() => socket.destroy());
}
