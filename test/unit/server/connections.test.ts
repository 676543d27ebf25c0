/** Connections without credentials do not displace authenticated ones. */
import { once } from "node:events";
import { Agent } from "node:https";
import { connect as connectTcp, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { connect as connectHttp2 } from "node:http2";
import { of } from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import type { KubeletAppOptions } from "../../../src/server/kubeletServer.ts";
import { KUBELET_SERVER_LIMITS } from "../../../src/server/kubeletServer.ts";
import { createAuthenticate } from "../../../src/server/auth/authenticate.ts";
import type { PoolSizes } from "../../../src/server/connections.ts";
import { createTestAuthority } from "../../support/apiServer/certificates.ts";
import { accessServer } from "../../support/kubeletAccess.ts";
import { type KubeletListener, startKubeletListener } from "../../support/kubeletListener.ts";
import { realClock } from "../../support/realClock.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";
import { waitFor } from "../../support/waitFor.ts";

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const USERS = { prometheus: [], other: [] };
const access = (anonymous = false): KubeletAppOptions["access"] => ({
  authenticate: createAuthenticate({
    anonymous,
    reviewer: { api: accessServer(USERS).api, cacheTtlMs: 60_000 },
    clock: realClock,
    metrics: recordingTelemetry().metrics,
  }),
  authorize: ({ user }) => of(user.name !== "system:anonymous" && user.name !== "other"),
  rules: { fineGrained: true, streamsNeedCreate: true },
});

async function start(pools: Partial<PoolSizes> = {}, anonymous = false): Promise<KubeletListener> {
  const limits = { ...KUBELET_SERVER_LIMITS, pools: { ...KUBELET_SERVER_LIMITS.pools, ...pools } };
  const server = await startKubeletListener({ access: access(anonymous), limits });
  ends.push(() => server.close());
  return server;
}

const ask = (socket: TLSSocket, path = "/pods", token?: string): void => {
  const line = token === undefined ? "" : `Authorization: Bearer ${token}\r\n`;
  socket.write(`GET ${path} HTTP/1.1\r\nHost: node\r\n${line}\r\n`);
};

/** The status of the next answer. */
const answered = async (socket: TLSSocket): Promise<number> => {
  const [head] = (await once(socket, "data")) as [Buffer];
  return Number(String(head).split(" ")[1]);
};

async function open(server: KubeletListener, more: object = {}): Promise<TLSSocket> {
  const socket = await server.connect(more);
  ends.push(() => socket.destroy());
  return socket.on("error", () => {});
}

const closedFor = ({ telemetry }: KubeletListener, pool: string): number =>
  telemetry.samples.get(`rxlet_connections_closed_at_limit_total{pool="${pool}"}`) ?? 0;

describe("an unauthenticated connection", () => {
  it("closes after a rejection", async () => {
    const server = await start();
    const socket = await open(server);
    ask(socket);
    expect(await answered(socket)).toBe(401);
    await once(socket.resume(), "close");
  });

  it("closes after a rejection if anonymous requests are allowed, but not after an authorized request", async () => {
    const server = await start({}, true);
    const [nobody, other] = [await open(server), await open(server)];
    ask(nobody);
    ask(other, "/pods", "other");
    expect([await answered(nobody), await answered(other)]).toEqual([403, 403]);
    await once(nobody.resume(), "close");
    ask(other, "/pods", "other");
    expect(await answered(other)).toBe(403);
  });

  it("closes after a rejection over HTTP/2", async () => {
    const server = await start();
    const session = connectHttp2(`https://127.0.0.1:${server.port}`, { ca: server.authority.certificate });
    const stream = session.request({ ":path": "/pods" });
    const [head] = (await once(stream, "response")) as [Record<string, unknown>];
    expect(head[":status"]).toBe(401);
    stream.resume();
    await once(session, "close");
  });
});

describe("a flood of unauthenticated connections", () => {
  const tcp = async (server: KubeletListener, count: number): Promise<readonly Socket[]> => {
    const sockets = Array.from({ length: count }, () => connectTcp(server.port, "127.0.0.1").on("error", () => {}));
    ends.push(() => sockets.forEach((socket) => socket.destroy()));
    await Promise.all(sockets.map((socket) => once(socket.resume(), "connect")));
    return sockets;
  };

  it("closes its oldest connection for the next one", async () => {
    const server = await start({ unauthenticated: 20 });
    const sockets = await tcp(server, 60);
    await waitFor("40 to be closed", () => closedFor(server, "unauthenticated") === 40);
    await waitFor("their ends to see it", () => sockets.filter(({ destroyed }) => destroyed).length === 40);
    expect(sockets.slice(40).map(({ destroyed }) => destroyed)).toEqual(Array.from({ length: 20 }, () => false));
  });

  it("neither blocks clients with a certificate or a token nor closes their connections", async () => {
    const server = await start({ unauthenticated: 20 });
    const identity = await server.authority.client({ commonName: "admin" });
    const admin = await open(server, { cert: identity.certificate, key: identity.key });
    const prometheus = await open(server);
    ask(prometheus, "/pods", "prometheus");
    expect(await answered(prometheus)).toBe(200);
    await tcp(server, 60);
    await waitFor("40 to be closed", () => closedFor(server, "unauthenticated") >= 40);
    ask(admin);
    ask(prometheus, "/pods", "prometheus");
    expect([await answered(admin), await answered(prometheus)]).toEqual([200, 200]);
    const late = await open(server, { cert: identity.certificate, key: identity.key });
    ask(late);
    expect(await answered(late)).toBe(200);
  });
});

describe("authenticated connections", () => {
  it("are closed for the next one when they are idle", async () => {
    const server = await start({ certificates: 2 });
    const identity = await server.authority.client({ commonName: "admin" });
    const tls = { cert: identity.certificate, key: identity.key };
    const first = await open(server, tls);
    await open(server, tls);
    ask(first);
    expect(await answered(first)).toBe(200);
    const third = await open(server, tls);
    ask(third);
    expect(await answered(third)).toBe(200);
    await once(first.resume(), "close");
    expect(closedFor(server, "certificates")).toBe(1);
  });

  it("reject another connection with an explanation when all are busy", async () => {
    const server = await start({ tokens: 0 });
    const socket = await open(server);
    ask(socket, "/pods", "prometheus");
    expect(await answered(socket)).toBe(503);
    await once(socket.resume(), "close");
  });
});

describe("a change of the client authorities", () => {
  /** Waits until a new connection with this certificate is answered with this status. */
  const untilStatus = (server: KubeletListener, tls: object, status: number) =>
    waitFor(`a ${status}`, async () => (await server.request("/pods", tls)).status === status);

  async function withAdmin() {
    const server = await start();
    const identity = await server.authority.client({ commonName: "admin" });
    const tls = { cert: identity.certificate, key: identity.key };
    const replace = async () => {
      const { certificate: clientAuthorities } = await createTestAuthority();
      server.material$.next({ ...server.material$.value, clientAuthorities });
    };
    return { server, tls, replace };
  }

  it("closes idle connections at once and busy ones after their response", async () => {
    const { server, tls, replace } = await withAdmin();
    const [idle, busy] = [await open(server, tls), await open(server, tls)];
    busy.write("GET /debug/pprof/heap?seconds=1 HTTP/1.1\r\nHost: node\r\n\r\n");
    await waitFor("it to work", async () => (await server.request("/debug/pprof/heap?seconds=1", tls)).status === 500);
    await replace();
    await once(idle.resume(), "close");
    expect(await answered(busy)).toBe(200);
    await once(busy.resume(), "close");
  });

  it("applies to a request pipelined behind a busy one", async () => {
    const { server, tls, replace } = await withAdmin();
    const busy = await open(server, tls);
    busy.write("GET /debug/pprof/heap?seconds=1 HTTP/1.1\r\nHost: node\r\n\r\n");
    await waitFor("it to work", async () => (await server.request("/debug/pprof/heap?seconds=1", tls)).status === 500);
    await replace();
    await untilStatus(server, tls, 401);
    ask(busy);
    let heard = "";
    busy.on("data", (part: Buffer) => (heard += String(part)));
    await once(busy, "close");
    expect(heard.match(/HTTP\/1.1 \d+/g)?.filter((line) => line !== "HTTP/1.1 401")).toEqual(["HTTP/1.1 200"]);
  });

  it("applies to resumed TLS sessions", async () => {
    const { server, tls, replace } = await withAdmin();
    const first = await server.connect(tls);
    const resumed = once(first, "session") as Promise<[Buffer]>;
    ask(first);
    const [session] = await resumed;
    expect(await answered(first)).toBe(200);
    first.destroy();
    await replace();
    await untilStatus(server, tls, 401);
    const again = await open(server, { ...tls, session });
    ask(again);
    expect(await answered(again)).toBe(401);
  });

  it("keeps connections without a client certificate", async () => {
    const { server, tls, replace } = await withAdmin();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    ends.push(() => agent.destroy());
    const headers = { authorization: "Bearer prometheus" };
    expect((await server.request("/pods", { agent, headers })).status).toBe(200);
    const [socket] = Object.values(agent.freeSockets).flat();
    await replace();
    await untilStatus(server, tls, 401);
    expect((await server.request("/pods", { agent, headers })).status).toBe(200);
    expect(Object.values(agent.freeSockets).flat()[0]).toBe(socket);
  });
});
