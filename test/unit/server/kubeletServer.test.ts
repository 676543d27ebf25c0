/** The authenticated server on the wire: certificates of both sides, and what hostile clients get. */
import { once } from "node:events";
import { connect as connectTcp } from "node:net";
import type { TLSSocket } from "node:tls";
import { Subject } from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import type { ExecSyncResponse } from "../../../src/gen/cri.ts";
import type { KubeletServerOptions } from "../../../src/server/kubeletServer.ts";
import { createAuthenticate } from "../../../src/server/auth/authenticate.ts";
import { createWebhookAuthorize } from "../../../src/server/auth/authorize.ts";
import { KUBELET_SERVER_LIMITS } from "../../../src/server/kubeletServer.ts";
import { createTestAuthority } from "../../support/apiServer/certificates.ts";
import { accessServer } from "../../support/kubeletAccess.ts";
import { IDLE_RUNTIME, NO_PODS } from "../../support/kubeletApp.ts";
import { type KubeletListener, startKubeletListener } from "../../support/kubeletListener.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";
import { realClock } from "../../support/realClock.ts";
import { waitFor } from "../../support/waitFor.ts";
import { RUNNING_WEB, WEB } from "../../support/runningWeb.ts";

const running: KubeletListener[] = [];
afterEach(() => {
  for (const server of running.splice(0)) server.close();
});

async function start(...args: Parameters<typeof startKubeletListener>): Promise<KubeletListener> {
  const server = await startKubeletListener(...args);
  running.push(server);
  return server;
}

/** Only `kubelet-admin` of `ops` may do anything; nobody is anonymous. */
function guarded(): Pick<KubeletServerOptions, "access"> {
  const { api } = accessServer({ "kubelet-admin": ["* *"] });
  const { metrics } = recordingTelemetry();
  return {
    access: {
      authenticate: createAuthenticate({
        anonymous: false,
        reviewer: { api, cacheTtlMs: 1_000 },
        clock: realClock,
        metrics,
      }),
      authorize: createWebhookAuthorize({
        api,
        nodeName: "n",
        allowedTtlMs: 1_000,
        deniedTtlMs: 1_000,
        clock: realClock,
        metrics,
      }),
      rules: { fineGrained: true, streamsNeedCreate: true },
    },
  };
}

const ADMIN = { commonName: "kubelet-admin", organization: "ops" };
const pair = ({ certificate, key }: { readonly certificate: string; readonly key: string }) => ({
  cert: certificate,
  key,
});

describe("client certificates", () => {
  it("identify the client", async () => {
    const { request, authority, telemetry } = await start(guarded());
    const admin = pair(await authority.client(ADMIN));
    const stranger = pair(await authority.client({ commonName: "stranger" }));
    expect((await request("/pods", admin)).status).toBe(200);
    expect(await request("/pods", stranger)).toEqual({
      status: 403,
      body: "Forbidden (user=stranger, verb=get, resource=nodes, subresource(s)=[pods proxy])\n",
    });
    expect(await request("/pods")).toEqual({ status: 401, body: "Unauthorized" });
    expect(telemetry.samples.get("apiserver_client_certificate_expiration_seconds observed")).toBe(2);
  });

  it("are ignored until their authority is trusted", async () => {
    const { request, authority, material$ } = await start(guarded());
    const other = await createTestAuthority();
    const [mine, theirs] = [pair(await authority.client(ADMIN)), pair(await other.client(ADMIN))];
    expect((await request("/pods", theirs)).status).toBe(401);
    material$.next({ ...material$.value, clientAuthorities: other.certificate });
    expect([(await request("/pods", theirs)).status, (await request("/pods", mine)).status]).toEqual([200, 401]);
  });

  it("are ignored after they expire", async () => {
    const { request, authority } = await start(guarded());
    const over = pair(await authority.client(ADMIN, -1_000));
    expect((await request("/pods", over)).status).toBe(401);
  });

  it("do not prevent authentication by token", async () => {
    const { request } = await start(guarded());
    const other = pair(await (await createTestAuthority()).client(ADMIN));
    const headers = { authorization: "Bearer kubelet-admin" };
    expect((await request("/pods", { ...other, headers })).status).toBe(200);
  });
});

describe("the server certificate", () => {
  it("rotates for new connections, while requests in progress finish on the old ones", async () => {
    const { connect, authority, material$ } = await start();
    const fingerprint = async () => {
      const socket = await connect();
      const found = socket.getPeerCertificate().fingerprint256;
      socket.destroy();
      return found;
    };
    const before = await fingerprint();
    const open = await connect();
    open.write("GET /pods HTTP/1.1\r\nhost: a\r\n");
    material$.next({ ...material$.value, identity: await authority.server() });
    open.write("\r\n");
    expect(String((await once(open, "data"))[0])).toMatch(/^HTTP\/1.1 200 /);
    open.destroy();
    expect(await fingerprint()).not.toBe(before);
  });

  it("stays in use if the new one is invalid", async () => {
    const { request, material$, authority, telemetry } = await start();
    material$.next({ ...material$.value, identity: { ...(await authority.server()), key: "no key" } });
    expect([(await request("/healthz")).status, telemetry.lines.map(({ message }) => message)]).toEqual([
      200,
      [expect.stringMatching(/^the server cannot use its certificate: /)],
    ]);
  });

  it("is served with the configured TLS version and cipher suites", async () => {
    const { connect } = await start({}, { tlsMinVersion: "VersionTLS13" });
    await expect(connect({ maxVersion: "TLSv1.2" })).rejects.toThrow(/protocol version/);
    (await connect()).destroy();
    const suites = { tlsCipherSuites: ["TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"] };
    const chosen = await start({}, suites);
    const socket = await chosen.connect({ maxVersion: "TLSv1.2" });
    expect(socket.getCipher().name).toBe("ECDHE-ECDSA-AES256-GCM-SHA384");
    socket.destroy();
    await expect(chosen.connect({ maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256" })).rejects.toThrow();
  });
});

describe("a long-running command", () => {
  const limits = { ...KUBELET_SERVER_LIMITS, headersTimeoutMs: 1_000, requestTimeoutMs: 1_000, idleTimeoutMs: 1_000 };
  const setUp = async () => {
    const answer$ = new Subject<ExecSyncResponse>();
    const queries = { ...NO_PODS, pods: () => [WEB], runtimePods: () => [RUNNING_WEB] };
    const server = await start({ limits, queries, runtime: { ...IDLE_RUNTIME, execSync: () => answer$ } });
    return { server, answer$ };
  };

  it("may be silent for longer than an idle connection", async () => {
    const { server, answer$ } = await setUp();
    const asked = server.request("/run/demo/web/main?cmd=ls", { method: "POST" });
    await waitFor("the command to run", () => answer$.observed);
    for (let round = 0; round < 2; round += 1) {
      const idle = await server.connect();
      await new Promise((resolve) =>
        idle
          .on("error", () => {})
          .resume()
          .once("close", resolve),
      );
    }
    answer$.next({ stdout: Buffer.from("done\n"), stderr: Buffer.alloc(0), exitCode: 0 });
    expect(await asked).toEqual({ status: 200, body: "done\n" });
  });

  it("is cancelled when the client disconnects", async () => {
    const { server, answer$ } = await setUp();
    const socket = await server.connect();
    socket.write("POST /run/demo/web/main?cmd=ls HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n");
    await waitFor("the command to run", () => answer$.observed);
    socket.destroy();
    await waitFor("the call to be cancelled", () => !answer$.observed);
  });
});

describe("hostile clients", () => {
  const limits = {
    ...KUBELET_SERVER_LIMITS,
    // A busy machine may stop this process, client and server at once, for some hundred milliseconds.
    headersTimeoutMs: 2_000,
    requestTimeoutMs: 2_000,
    idleTimeoutMs: 3_000,
    keepAliveTimeoutMs: 200,
  };
  /** Bytes that the client received until the connection was closed or reset. */
  const closed = (socket: TLSSocket) =>
    new Promise<string>((resolve) => {
      let heard = "";
      socket.on("data", (part: Buffer) => (heard += part.toString()));
      socket.on("error", () => {});
      if (socket.closed) resolve(heard);
      else socket.once("close", () => resolve(heard));
    });

  it.each([
    ["never asks", "", /^HTTP\/1.1 408 |^$/],
    ["dribbles its headers", "GET /pods HTTP/1.1\r\nx: ", /^HTTP\/1.1 408 |^$/],
    [
      "promises a body that never comes",
      "PUT /debug/flags/v HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n",
      /^HTTP/,
    ],
    [
      "sends a body to exec",
      "POST /exec/a/b/c HTTP/1.1\r\nhost: a\r\ncontent-length: 99999999\r\n\r\n",
      /^HTTP\/1.1 413 /,
    ],
    ["floods headers", `GET /pods HTTP/1.1\r\n${"x: y\r\n".repeat(20_000)}`, /^HTTP\/1.1 431 |^$/],
    [
      "asks for a path without slash",
      "GET pods HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
      /^HTTP\/1.1 40[04] /,
    ],
    [
      "upgrades what is no stream",
      "GET /pods HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n",
      /^HTTP\/1.1 200 /,
    ],
    [
      "upgrades and says nothing more",
      "GET /exec/a/b/c?output=1 HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
      /^HTTP\/1.1 404 .*pod does not exist$/s,
    ],
    [
      "upgrades a path that is none",
      "GET //exec HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
      /^HTTP\/1.1 307 .*location: \/exec\r\n/is,
    ],
    [
      "upgrades another host",
      "GET http://b/exec HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
      /^HTTP\/1.1 404 /,
    ],
    [
      "upgrades with a method of no request",
      "TRACE /exec/a/b/c HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
      /^HTTP\/1.1 405 /,
    ],
    [
      "smuggles a second request behind an upgrade",
      "POST /exec/a/b/c?output=1 HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: SPDY/3.1\r\n\r\nGET /pods HTTP/1.1\r\nhost: a\r\n\r\n",
      /^(?!.*HTTP.*HTTP).*HTTP\/1.1 404 /s,
    ],
  ])("a client that %s is answered or disconnected", async (_what, sent, wanted) => {
    const { connect, request } = await start({ limits });
    const socket = await connect();
    socket.write(sent);
    expect(await closed(socket)).toMatch(wanted);
    expect((await request("/healthz")).status).toBe(200);
  });

  it("are disconnected when a thousand stay silent, without blocking others", async () => {
    const { port, request } = await start({ limits: { ...KUBELET_SERVER_LIMITS, headersTimeoutMs: 2_000 } });
    const idle = Array.from({ length: 1_000 }, () => connectTcp(port, "127.0.0.1").on("error", () => {}));
    const ended = idle.map((socket) => once(socket.resume(), "close"));
    await Promise.all(idle.map((socket) => once(socket, "connect")));
    expect((await request("/healthz")).status).toBe(200);
    await Promise.all(ended);
  });
});
