import { createServer } from "node:net";
import { once } from "node:events";
import { expect, it, onTestFinished } from "vitest";
import { freePort } from "../../support/ports.ts";

it("gives no port of a test file twice", async () => {
  const ports = new Set<number>();
  for (let count = 0; count < 600; count += 1) ports.add(await freePort());
  expect(ports.size).toBe(600);
});

it("passes over a port with a listener", async () => {
  const next = (await freePort()) + 1;
  const server = createServer().listen(next, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  expect(await freePort()).not.toBe(next);
});
