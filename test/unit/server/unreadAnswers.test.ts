/** Clients that ask for a large page and do not read it, all at once. */
import { connect as connectHttp2 } from "node:http2";
import { afterEach, expect, it } from "vitest";
import { type KubeletListener, startKubeletListener } from "../../support/kubeletListener.ts";
import { waitFor } from "../../support/waitFor.ts";

const PAGE_BYTES = 8 * 1_024 * 1_024;
/** The clients need one and a half times the budget. */
const CLIENTS = 24;
const BUDGET = 16;

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function start(): Promise<KubeletListener> {
  const page = "x".repeat(PAGE_BYTES);
  const server = await startKubeletListener({ metricsPage: { render: () => Promise.resolve(page) } });
  ends.push(() => server.close());
  return server;
}

const CLIENTS_OF: Readonly<Record<string, (server: KubeletListener) => Promise<void>>> = {
  "connections of HTTP/1.1": async (server) => {
    for (let count = 0; count < CLIENTS; count += 1) {
      const socket = await server.connect();
      ends.push(() => socket.destroy());
      socket.on("error", () => {}).write("GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n");
    }
  },
  "streams of one HTTP/2 connection": async (server) => {
    const session = connectHttp2(`https://127.0.0.1:${server.port}`, { ca: server.authority.certificate });
    ends.push(() => session.destroy());
    for (let count = 0; count < CLIENTS; count += 1) session.request({ ":path": "/metrics" }).on("error", () => {});
  },
};

it.each(Object.entries(CLIENTS_OF))("%s that read nothing hold no more memory than the bound", async (_what, ask) => {
  const server = await start();
  const cutOff = (): number => server.telemetry.samples.get('rxlet_answers_cut_off_total{reason="limit"}') ?? 0;
  await ask(server);
  await waitFor("the others to be cut off", () => cutOff() >= CLIENTS - BUDGET);
  const { status, body } = await server.request("/metrics");
  expect([status, body.length]).toEqual([200, PAGE_BYTES]);
});
