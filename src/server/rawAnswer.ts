/** Answers on a bare connection: of requests for an upgrade, which the HTTP server lets go of. */
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";

/** For a client to take its answer and close its end, in milliseconds. */
const LINGER_MS = 5_000;

/** The head of an answer, its empty line included. */
export const headText = (
  status: number,
  reason: string,
  headers: Iterable<readonly [name: string, value: string]>,
): string =>
  [`HTTP/1.1 ${status} ${reason}`, ...[...headers].map(([name, value]) => `${name}: ${value}`), "", ""].join("\r\n");

/** Answers with a text, if the connection is still there, and ends it. */
export function answerRaw(
  socket: Socket,
  status: number,
  body: string,
  headers: Iterable<readonly [name: string, value: string]> = [["Content-Type", "text/plain; charset=utf-8"]],
): void {
  if (socket.destroyed || socket.writableEnded) return;
  socket.setTimeout(LINGER_MS, () => socket.destroy());
  socket.resume();
  const own: readonly (readonly [string, string])[] = [
    ["Content-Length", String(Buffer.byteLength(body))],
    ["Connection", "close"],
  ];
  const kept = [...headers].filter(([name]) => !/^(content-length|connection|transfer-encoding)$/i.test(name));
  socket.end(`${headText(status, STATUS_CODES[status] ?? "", [...kept, ...own])}${body}`);
}
