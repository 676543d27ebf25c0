/** RFC 6455 on a connection in memory: what passes, and what a hostile client comes to. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { type Duplex, duplexPair } from "node:stream";
import { describe, expect, it } from "vitest";
import { acceptWebSocket, handshakeFault, type WebSocketPeer } from "../../../src/streaming/webSocketServer.ts";
import { maskedFrame, OPCODE, serverFrame } from "../../support/webSocketBytes.ts";
import { waitFor } from "../../support/waitFor.ts";

const HEADERS = {
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};
const request = (headers: Readonly<Record<string, string>> = {}, method = "GET") =>
  ({ method, headers: { ...HEADERS, ...headers } }) as unknown as IncomingMessage;

interface Opened {
  readonly peer: WebSocketPeer;
  readonly client: Duplex;
  readonly server: Duplex;
  /** All that the client was sent. */
  heard(): Buffer;
  /** Frames behind the handshake. */
  frames(): readonly { readonly opcode: number; readonly payload: Buffer }[];
}

/** `isReading` false: the client takes nothing. */
function open(protocol = "", isReading = true): Opened {
  const [client, server] = duplexPair();
  const peer = acceptWebSocket({ incoming: request(), socket: server as Socket, head: Buffer.alloc(0) }, protocol);
  if (peer === undefined) throw new Error("the client has gone");
  const parts: Buffer[] = [];
  client.on("error", () => {});
  client.on("data", (part: Buffer) => parts.push(part));
  if (!isReading) client.pause();
  const heard = () => Buffer.concat(parts);
  const frames = () => {
    const found: { opcode: number; payload: Buffer }[] = [];
    let rest = heard();
    rest = rest.subarray(rest.indexOf("\r\n\r\n") + 4);
    for (let frame = serverFrame(rest); frame !== undefined; frame = serverFrame(rest)) {
      found.push(frame);
      rest = rest.subarray(frame.end);
    }
    return found;
  };
  return { peer, client, server, heard, frames };
}

async function messagesOf({ peer }: Opened, count: number): Promise<readonly string[]> {
  const messages: string[] = [];
  for await (const message of peer.messages) {
    messages.push(String(message));
    if (messages.length === count) break;
  }
  return messages;
}

/** The code that the server closes with. */
async function closeCode(opened: Opened): Promise<number> {
  opened.peer.messages.resume();
  const close = await waitFor("the close", () => opened.frames().find(({ opcode }) => opcode === OPCODE.close));
  return close.payload.readUInt16BE();
}

/** A message that does not end. */
const inParts = (payload: Buffer, count: number): readonly Buffer[] =>
  Array.from({ length: count }, (_, at) => maskedFrame(at === 0 ? OPCODE.binary : OPCODE.continuation, payload, false));

const inPieces = (frame: Buffer): readonly Buffer[] => [...frame].map((byte) => Buffer.from([byte]));

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("a WebSocket handshake", () => {
  it.each([
    ["", ""],
    ["SPDY/3.1+portforward.k8s.io", "Sec-WebSocket-Protocol: SPDY/3.1+portforward.k8s.io\r\n"],
  ])("is answered, with the protocol %j", async (protocol, line) => {
    const { heard } = open(protocol);
    await settled();
    expect(String(heard())).toBe(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n${line}\r\n`,
    );
  });

  it.each([
    ["without fault", request(), undefined],
    ["by POST", request({}, "POST"), [405, "bad method"]],
    ["of version 8", request({ "sec-websocket-version": "8" }), [400, "missing or bad WebSocket Version"]],
    ["without key", request({ "sec-websocket-key": "" }), [400, "mismatch challenge/response"]],
    ["with a key that is none", request({ "sec-websocket-key": "x" }), [400, "mismatch challenge/response"]],
  ])("%s", (_title, incoming, fault) => {
    expect(handshakeFault(incoming)).toEqual(fault);
  });

  it("returns no peer if the client has disconnected", () => {
    const [, server] = duplexPair();
    server.destroy();
    expect(acceptWebSocket({ incoming: request(), socket: server as Socket, head: Buffer.alloc(0) }, "")).toBe(
      undefined,
    );
  });
});

describe("WebSocket messages", () => {
  it("arrive complete and in order, fragmented or not, with a ping between fragments", async () => {
    const opened = open();
    opened.client.write(
      Buffer.concat([
        maskedFrame(OPCODE.text, Buffer.from("one")),
        maskedFrame(OPCODE.binary, Buffer.from("t"), false),
        maskedFrame(OPCODE.ping, Buffer.from("p")),
        maskedFrame(OPCODE.continuation, Buffer.alloc(0), false),
        maskedFrame(OPCODE.continuation, Buffer.from("wo")),
      ]),
    );
    opened.client.write(maskedFrame(OPCODE.binary, Buffer.alloc(100_000, "x")));
    expect(await messagesOf(opened, 3)).toEqual(["one", "two", "x".repeat(100_000)]);
    expect(opened.frames()).toMatchObject([{ opcode: OPCODE.pong, payload: Buffer.from("p") }]);
  });

  it("include data received with the request", async () => {
    const [client, server] = duplexPair();
    const head = maskedFrame(OPCODE.text, Buffer.from("early"));
    const peer = acceptWebSocket({ incoming: request(), socket: server as Socket, head }, "");
    client.resume().write(maskedFrame(OPCODE.text, Buffer.from("late")));
    expect(await messagesOf({ peer } as Opened, 2)).toEqual(["early", "late"]);
  });

  it.each([
    ["Hello", "810548656c6c6f"],
    [Buffer.alloc(256), "827e0100"],
    [Buffer.alloc(65_536), "827f0000000000010000"],
  ])("are sent as the specification writes them", async (message, hex) => {
    const { peer, heard } = open();
    await new Promise<void>((sent) => peer.send(message, sent));
    await settled();
    const frame = heard().subarray(heard().indexOf("\r\n\r\n") + 4);
    expect(frame.subarray(0, hex.length / 2).toString("hex")).toBe(hex);
  });

  it("apply back-pressure to the client when they are not read", async () => {
    const { client, peer } = open();
    const frame = maskedFrame(OPCODE.binary, Buffer.alloc(16_384));
    let taken = 0;
    for (let count = 0; count < 200; count += 1) client.write(frame, () => (taken += 1));
    await settled();
    expect([taken < 10, peer.messages.readableLength <= 2]).toEqual([true, true]);
    peer.messages.resume();
    await waitFor("all to be taken", () => taken === 200);
  });

  it("are sent to a disconnected client without an error", async () => {
    const { peer, client, server } = open();
    client.destroy();
    server.destroy();
    await new Promise<void>((sent) => peer.send(Buffer.from("x"), sent));
    expect(await messagesOf({ peer } as Opened, 1)).toEqual([]);
  });
});

describe("the closing handshake", () => {
  it("starts after all sent messages and does not wait for a client that does not read", async () => {
    const { peer, client, server, frames } = open();
    client.write(maskedFrame(OPCODE.binary, Buffer.alloc(16_384)));
    client.write(maskedFrame(OPCODE.binary, Buffer.alloc(16_384)));
    peer.send("last", () => {});
    peer.close();
    await waitFor("the close", () => frames().length === 2);
    expect(frames().map(({ opcode }) => opcode)).toEqual([OPCODE.text, OPCODE.close]);
    client.write(maskedFrame(OPCODE.close, Buffer.from([0x03, 0xe8])));
    client.once("end", () => client.end());
    await waitFor("the connection to end", () => server.writableEnded);
  });

  it("of the client is answered and ends the messages", async () => {
    const opened = open();
    opened.client.once("end", () => opened.client.end());
    opened.client.write(maskedFrame(OPCODE.text, Buffer.from("one")));
    opened.client.write(maskedFrame(OPCODE.close, Buffer.from([0x03, 0xe8])));
    expect(await messagesOf(opened, 2)).toEqual(["one"]);
    expect(opened.frames().map(({ opcode, payload }) => [opcode, payload.readUInt16BE()])).toEqual([
      [OPCODE.close, 1_000],
    ]);
  });
});

describe("a hostile client", () => {
  it("that pings without reading has one pending pong, for the newest ping", async () => {
    const { peer, client, server, frames } = open("", false);
    peer.messages.resume();
    const count = 20_000;
    for (let at = 0; at < count; at += 1) client.write(maskedFrame(OPCODE.ping, Buffer.alloc(125, String(at))));
    let most = 0;
    await waitFor("all pings to be taken", () => {
      most = Math.max(most, server.writableLength);
      return client.writableLength === 0;
    });
    expect(most).toBeLessThan(64 * 1024);
    client.resume();
    const newest = Buffer.alloc(125, String(count - 1));
    await waitFor("the newest pong", () => frames().at(-1)?.payload.equals(newest));
    expect(frames().length).toBeLessThan(1_000);
  });

  it.each([
    ["more frames than a message may have, all empty", inParts(Buffer.alloc(0), 16_385), 1_008],
    ["a frame in more pieces than it may have", inPieces(maskedFrame(OPCODE.binary, Buffer.alloc(8_192))), 1_008],
    ["a frame beyond 32 MiB", [maskedFrame(OPCODE.binary, Buffer.alloc(32 * 1024 * 1024 + 1)).subarray(0, 14)], 1_009],
    ["a message beyond 32 MiB", inParts(Buffer.alloc(16 * 1024 * 1024), 3), 1_009],
    ["a reserved opcode", [maskedFrame(3, Buffer.from("x"))], 1_002],
    ["a reserved control opcode", [maskedFrame(11, Buffer.alloc(0))], 1_002],
    ["a continuation of nothing", [maskedFrame(OPCODE.continuation, Buffer.from("x"))], 1_002],
    ["a message within another", [...inParts(Buffer.from("x"), 1), maskedFrame(OPCODE.text, Buffer.from("y"))], 1_002],
    ["text that is none", [maskedFrame(OPCODE.text, Buffer.from([0xc3, 0x28]))], 1_007],
    ["a frame without mask", [Buffer.from([0x82, 1, 0])], 1_002],
    ["an extension nobody agreed to", [Buffer.from([0xc2, 0x80, 0, 0, 0, 0])], 1_002],
    ["a control frame in parts", [maskedFrame(OPCODE.ping, Buffer.alloc(1), false)], 1_002],
    ["a control frame that is too long", [maskedFrame(OPCODE.ping, Buffer.alloc(126))], 1_002],
    ["a close with a code that is none", [maskedFrame(OPCODE.close, Buffer.from([0, 1]))], 1_002],
  ])("that sends %s is cut off", async (_title, frames, code) => {
    const opened = open();
    for (const frame of frames) opened.client.write(frame);
    expect(await closeCode(opened)).toBe(code);
  });
});
