/** Streams of port-forward whose client leaves: nothing stays connected for them. */
import { once } from "node:events";
import net from "node:net";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { forwardTo } from "../../../src/criServer/forwardTo.ts";
import { waitFor } from "../../support/waitFor.ts";

async function server() {
  const sockets = new Set<net.Socket>();
  const listening = net.createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => sockets.delete(socket));
  });
  listening.listen(0, "127.0.0.1");
  await once(listening, "listening");
  const { port } = listening.address() as net.AddressInfo;
  return { listening, sockets, port };
}

it("connects to nothing for a client that has left", async () => {
  const stream = new PassThrough();
  stream.destroy();
  expect(await forwardTo(["127.0.0.1"], 1, stream)).toBe(undefined);
});

it("closes the connection of a client that leaves while the server lets it wait", async () => {
  const { listening, sockets, port } = await server();
  const stream = new PassThrough();
  const forwarded = forwardTo(["127.0.0.1"], port, stream);
  stream.destroy();
  expect(await forwarded).toBe(undefined);
  await waitFor("the end of the connection", () => sockets.size === 0);
  listening.close();
});

it("returns the errors of all addresses when none accepts", async () => {
  const { listening, port } = await server();
  listening.close();
  await once(listening, "close");
  expect(await forwardTo(["127.0.0.1", "::1"], port, new PassThrough())).toMatch(/127\.0\.0\.1.*; .*::1/);
});
