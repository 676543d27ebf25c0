/** Clients of HTTP/2 that flood: the server sends each GOAWAY or closes its connection, and answers others. */
import { once } from "node:events";
import { afterEach, expect, it } from "vitest";
import { type KubeletListener, startKubeletListener } from "../../support/kubeletListener.ts";
import { HTTP2_FLOODS, http2Preface } from "../../support/http2Frames.ts";

let server: KubeletListener | undefined;
afterEach(() => server?.close());

/** Rounds of a thousand frames that nobody may send. */
const ROUNDS = 100;

it.each(Object.entries(HTTP2_FLOODS))("a flood of %s closes its own connection only", async (_what, flood) => {
  server = await startKubeletListener();
  const socket = await server.connect({ ALPNProtocols: ["h2"] });
  let isClosed = false;
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  void closed.then(() => (isClosed = true));
  socket.write(http2Preface());
  await once(socket, "data");
  socket.pause();
  let rounds = 0;
  for (; rounds < ROUNDS && !isClosed; rounds += 1) {
    if (!socket.write(flood(rounds)))
      await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), closed]);
  }
  expect(rounds).toBeLessThan(ROUNDS);
  expect((await server.request("/healthz")).status).toBe(200);
});
