/** SPDY/3.1 on a connection in memory: one side that does not read holds up the other, and nothing grows. */
import type { Socket } from "node:net";
import { type Duplex, duplexPair } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { openSpdy } from "../../../src/streaming/spdyConnection.ts";
import type { SpdyStream } from "../../../src/streaming/spdyStream.ts";
import { encodeSpdyFrame } from "../../../src/streaming/spdyFrames.ts";
import { spdyHeaderWriter } from "../../../src/streaming/spdyHeaders.ts";
import { waitFor } from "../../support/waitFor.ts";

/** A server that takes every stream, and the other end of its connection. */
function serve(take: (stream: SpdyStream) => boolean = () => true) {
  const [client, server] = duplexPair();
  const streams: SpdyStream[] = [];
  const connection = openSpdy(server as Socket, "server", {
    onStream: (stream) => {
      streams.push(stream);
      return take(stream);
    },
  });
  return { client, server, streams, connection };
}

/** Writes a frame many times; resolves with the most bytes that waited for the client, once no more are taken. */
async function flood(client: Duplex, server: Duplex, frames: Iterable<Buffer>) {
  let taken = 0;
  let most = 0;
  for (const frame of frames) client.write(frame, () => (taken += 1));
  let before = -1;
  await waitFor("the server to stand still", () => {
    most = Math.max(most, server.writableLength);
    const isStill = taken > 0 && before === taken;
    before = taken;
    return isStill;
  });
  return { most, taken };
}

const times = <T>(count: number, make: (at: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, at) => make(at));

describe("a client that does not read", () => {
  it.each([
    ["pings", times(50_000, (id) => encodeSpdyFrame({ kind: "ping", id: id * 2 + 1 }))],
    [
      "streams that are refused",
      (() => {
        const headers = spdyHeaderWriter();
        return times(20_000, (at) =>
          encodeSpdyFrame({ kind: "open", streamId: at * 2 + 1, headers: headers([]), fin: false }),
        );
      })(),
    ],
  ])("has no more than a few answers to its %s waiting", async (_title, frames) => {
    const { client, server } = serve(() => false);
    const { most, taken } = await flood(client, server, frames);
    expect([most < 128 * 1024, taken < frames.length]).toEqual([true, true]);
    client.on("data", () => {});
    await waitFor("all of it to be taken", () => client.writableLength === 0);
    client.destroy();
  });
});

describe("a stream that is not read", () => {
  it("blocks its connection until it is read", async () => {
    const { client, server, streams } = serve();
    const headers = spdyHeaderWriter();
    client.on("data", () => {});
    client.write(encodeSpdyFrame({ kind: "open", streamId: 1, headers: headers([]), fin: false }));
    await waitFor("the stream", () => streams.length === 1);
    const data = encodeSpdyFrame({ kind: "data", streamId: 1, data: Buffer.alloc(16_384), fin: false });
    const { taken } = await flood(
      client,
      server,
      times(100, () => data),
    );
    expect(taken).toBeLessThan(10);
    let read = 0;
    streams[0]?.on("data", (piece: Buffer) => (read += piece.length));
    await waitFor("all of it", () => read === 100 * 16_384);
    client.destroy();
  });

  it("does not keep its connection open", async () => {
    const { client, connection } = serve();
    const headers = spdyHeaderWriter();
    client.on("data", () => {});
    client.write(encodeSpdyFrame({ kind: "open", streamId: 1, headers: headers([]), fin: false }));
    for (let at = 0; at < 10; at += 1) {
      client.write(encodeSpdyFrame({ kind: "data", streamId: 1, data: Buffer.alloc(16_384), fin: false }));
    }
    await new Promise((resolve) => setImmediate(resolve));
    connection.close();
    client.destroy();
    await connection.closed;
  });
});

describe("a stream opened by this side", () => {
  it("receives no data before the peer accepts it", async () => {
    const [near, far] = duplexPair();
    const connection = openSpdy(near as Socket, "client");
    const opening = connection.createStream([["streamType", "stdout"]]);
    const answer = (data: string) =>
      encodeSpdyFrame({ kind: "data", streamId: 1, data: Buffer.from(data), fin: false });
    far.on("data", () => {});
    far.write(answer("too early"));
    far.write(encodeSpdyFrame({ kind: "reply", streamId: 1, headers: spdyHeaderWriter()([]), fin: false }));
    const stream = await opening;
    far.write(answer("in time"));
    far.write(encodeSpdyFrame({ kind: "data", streamId: 1, data: Buffer.alloc(0), fin: true }));
    expect(await text(stream)).toBe("in time");
    far.destroy();
  });
});
