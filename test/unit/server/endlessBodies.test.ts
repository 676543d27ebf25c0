/** Clients that send bodies where none is expected, without end: they are answered and cut off, and nothing is collected. */
import { connect as connectHttp2 } from "node:http2";
import type { TLSSocket } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import { createAuthenticate } from "../../../src/server/auth/authenticate.ts";
import { testAppOptions } from "../../support/kubeletApp.ts";
import { type KubeletListener, startKubeletListener } from "../../support/kubeletListener.ts";
import { realClock } from "../../support/realClock.ts";
import { waitFor } from "../../support/waitFor.ts";

let server: KubeletListener | undefined;
afterEach(() => server?.close());

const PIECE = Buffer.alloc(65_536, "x");
const CHUNK = Buffer.concat([Buffer.from("10000\r\n"), PIECE, Buffer.from("\r\n")]);
/** The server may read on for half a second, so that its answer is not lost with the connection. */
const MAX_TAKEN_BYTES = 128 * 1_024 * 1_024;

/** A listener that lets in everybody, or nobody without a token. */
async function start(anonymous: boolean): Promise<KubeletListener> {
  const { access } = testAppOptions().options;
  const { metrics } = testAppOptions().telemetry;
  const authenticate = createAuthenticate({ anonymous, reviewer: undefined, clock: realClock, metrics });
  server = await startKubeletListener({ access: { ...access, authenticate } });
  return server;
}

/** Sends until the connection is closed; the bytes that were taken. */
async function flood(socket: TLSSocket): Promise<number> {
  let taken = 0;
  const more = (): void => {
    while (!socket.destroyed) {
      taken += CHUNK.length;
      if (!socket.write(CHUNK)) return;
    }
  };
  socket.on("drain", more);
  more();
  await waitFor("the end of the connection", () => socket.destroyed);
  return taken;
}

describe("an endless request body", () => {
  it.each([
    ["POST /stats/summary", true, "413"],
    ["POST /run/demo/web/main?cmd=ls", true, "413"],
    ["PUT /debug/flags/v", true, "413"],
    ["POST /stats/summary", false, "401"],
  ])("closes the HTTP/1.1 connection of %s (anonymous: %s)", async (line, anonymous, status) => {
    const { connect } = await start(anonymous);
    const socket = await connect();
    let heard = "";
    socket.on("error", () => {});
    socket.on("data", (part: Buffer) => (heard += part.toString()));
    socket.write(`${line} HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n`);
    const taken = await flood(socket);
    expect([heard.split(" ")[1], taken < MAX_TAKEN_BYTES]).toEqual([status, true]);
  });

  it("closes its HTTP/2 stream", async () => {
    const { port, authority } = await start(true);
    const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: authority.certificate });
    const stream = session.request({ ":method": "POST", ":path": "/stats/summary" });
    let status = 0;
    let taken = 0;
    stream.on("error", () => {});
    stream.on("response", (headers) => (status = Number(headers[":status"])));
    stream.resume();
    const more = (): void => {
      while (!stream.destroyed && !stream.closed) {
        taken += PIECE.length;
        if (!stream.write(PIECE)) return;
      }
    };
    stream.on("drain", more);
    more();
    await waitFor("the end of the stream", () => stream.closed);
    session.destroy();
    expect([status, taken < MAX_TAKEN_BYTES]).toEqual([413, true]);
  });
});
