/** Look-ups of the server's name, which open each new connection. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createDispatcher } from "../../../../src/sinks/apiServer/dispatcher.ts";
import { realClock } from "../../../support/realClock.ts";

const server = createServer((_, response) => response.end("ok"));
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(() => server.close());

it.each([
  ["localhost", ["localhost"]],
  ["127.0.0.1", []],
])("of %s: %j", async (host, wanted) => {
  const found: [string, number][] = [];
  const { port } = server.address() as AddressInfo;
  const origin = `http://${host}:${port}`;
  const dispatcher = createDispatcher({
    endpoint: {
      server: origin,
      certificateAuthority: undefined,
      tlsServerName: undefined,
      insecureSkipTlsVerify: false,
      proxyUrl: undefined,
    },
    identity: undefined,
    clock: realClock,
    onLookup: (name, durationMs) => found.push([name, durationMs]),
  });
  const answers = [1, 2].map(() => dispatcher.request({ origin, path: "/", method: "GET" }));
  for (const answer of await Promise.all(answers)) await answer.body.text();
  await dispatcher.destroy();
  expect([...new Set(found.map(([name]) => name))]).toEqual(wanted);
  expect(found.every(([, durationMs]) => durationMs >= 0)).toBe(true);
});
