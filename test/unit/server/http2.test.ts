/** The authenticated server to clients that agree on HTTP/2 in the handshake. */
import { once } from "node:events";
import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from "node:http2";
import { of, Subject } from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import type { ExecSyncResponse } from "../../../src/gen/cri.ts";
import { createAuthenticate } from "../../../src/server/auth/authenticate.ts";
import { KUBELET_SERVER_LIMITS } from "../../../src/server/kubeletServer.ts";
import { createTestAuthority } from "../../support/apiServer/certificates.ts";
import { IDLE_RUNTIME, NO_PODS } from "../../support/kubeletApp.ts";
import { type KubeletListener, startKubeletListener } from "../../support/kubeletListener.ts";
import { realClock } from "../../support/realClock.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";
import { waitFor } from "../../support/waitFor.ts";
import { RUNNING_WEB, WEB } from "../../support/runningWeb.ts";

const SHORT = { ...KUBELET_SERVER_LIMITS, headersTimeoutMs: 500, idleTimeoutMs: 500 };

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function start(...args: Parameters<typeof startKubeletListener>): Promise<KubeletListener> {
  const server = await startKubeletListener(...args);
  ends.push(() => server.close());
  return server;
}

/** A session; `more` may have a certificate. */
async function sessionTo({ port, authority }: KubeletListener, more: object = {}): Promise<ClientHttp2Session> {
  const session = connect(`https://127.0.0.1:${port}`, { ca: authority.certificate, ...more });
  session.on("error", () => {});
  ends.push(() => session.destroy());
  await once(session, "connect");
  return session;
}

/** Asks; with a body, headers go first and the body behind them. */
async function ask(session: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: string) {
  const stream = session.request(headers, { endStream: body === undefined });
  stream.on("error", () => {});
  const answered = once(stream, "response") as Promise<[Record<string, unknown>]>;
  if (body !== undefined) stream.end(body);
  const [head] = await answered;
  let text = "";
  for await (const part of stream) text += String(part);
  return [head[":status"], text];
}

/** A command in a container that ends when the test says so. */
function slowCommand() {
  const answer$ = new Subject<ExecSyncResponse>();
  const queries = { ...NO_PODS, pods: () => [WEB], runtimePods: () => [RUNNING_WEB] };
  const done = () => answer$.next({ stdout: Buffer.from("done\n"), stderr: Buffer.alloc(0), exitCode: 0 });
  return { answer$, done, options: { queries, runtime: { ...IDLE_RUNTIME, execSync: () => answer$ } } };
}
const RUN = { ":path": "/run/demo/web/main?cmd=ls", ":method": "POST" };

describe("an HTTP/2 client", () => {
  it("receives responses to concurrent requests on one connection", async () => {
    const session = await sessionTo(await start());
    expect(session.alpnProtocol).toBe("h2");
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(session, { ":path": "/healthz" })));
    expect(answers).toEqual(answers.map(() => [200, "ok"]));
    expect((await ask(session, { ":path": "/metrics/cadvisor" }))[0]).toBe(200);
  });

  it("is identified by its certificate", async () => {
    const { metrics } = recordingTelemetry();
    const authenticate = createAuthenticate({ anonymous: false, reviewer: undefined, clock: realClock, metrics });
    const asked: string[] = [];
    const server = await start({
      access: {
        authenticate,
        authorize: ({ user, verb, subresource }) => {
          asked.push(`${user.name} ${verb} ${subresource}`);
          return of(true);
        },
        rules: { fineGrained: true, streamsNeedCreate: true },
      },
    });
    const { certificate: cert, key } = await server.authority.client({ commonName: "prometheus" });
    expect((await ask(await sessionTo(server, { cert, key }), { ":path": "/metrics" }))[0]).toBe(200);
    expect(await ask(await sessionTo(server), { ":path": "/metrics" })).toEqual([401, "Unauthorized"]);
    expect(asked).toEqual(["prometheus get metrics"]);
  });

  it("can open container streams over HTTP/1.1 only", async () => {
    const { options } = slowCommand();
    const session = await sessionTo(await start(options));
    expect(await ask(session, { ":path": "/exec/demo/web/main?output=1&command=ls", ":method": "POST" })).toEqual([
      500,
      "Upgrade request required\n",
    ]);
  });

  it("can send a body only where a route accepts one, and only a short one", async () => {
    const set: number[] = [];
    const session = await sessionTo(await start({ setVerbosity: (value) => set.push(value) }));
    const put = { ":path": "/debug/flags/v", ":method": "PUT" };
    const tooLarge = [413, "413: Request Entity Too Large"];
    expect((await ask(session, { ...put, "content-length": "1" }, "4"))[0]).toBe(200);
    expect(await ask(session, put, "4".repeat(5_000))).toEqual(tooLarge);
    expect(await ask(session, { ":path": "/pods" }, "x")).toEqual(tooLarge);
    expect(set).toEqual([4]);
  });

  it("may wait long for a command but is disconnected when idle", async () => {
    const { answer$, done, options } = slowCommand();
    const server = await start({ ...options, limits: SHORT });
    const busy = await sessionTo(server);
    const answer = ask(busy, RUN);
    await waitFor("the command to run", () => answer$.observed);
    await once(await sessionTo(server), "close");
    done();
    expect(await answer).toEqual([200, "done\n"]);
    await once(busy, "close");
  });

  it("cancels its command by disconnecting", async () => {
    const { answer$, options } = slowCommand();
    const session = await sessionTo(await start(options));
    session.request(RUN, { endStream: true }).on("error", () => {});
    await waitFor("the command to run", () => answer$.observed);
    session.destroy();
    await waitFor("the call to be cancelled", () => !answer$.observed);
  });

  it("receives GOAWAY when the client authorities change, after its requests in progress", async () => {
    const { answer$, done, options } = slowCommand();
    const server = await start(options);
    const [busy, idle] = [await sessionTo(server), await sessionTo(server)];
    const answer = ask(busy, RUN);
    await waitFor("the command to run", () => answer$.observed);
    const { certificate: clientAuthorities } = await createTestAuthority();
    server.material$.next({ ...server.material$.value, clientAuthorities });
    await once(idle, "close");
    done();
    expect(await answer).toEqual([200, "done\n"]);
    await once(busy, "close");
  });

  it("receives no response with too many headers, while others do", async () => {
    const server = await start();
    const session = await sessionTo(server);
    await ask(session, { ":path": "/healthz" });
    const headers = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`x-${index}`, "y".repeat(300)]));
    const stream = session.request({ ":path": "/healthz", ...headers });
    const refused = new Promise((resolve) => {
      stream.once("error", () => resolve("refused"));
      stream.once("response", ({ ":status": status }) => resolve(status));
    });
    expect(["refused", 431]).toContain(await refused);
    expect(await ask(await sessionTo(server), { ":path": "/healthz" })).toEqual([200, "ok"]);
  });

  it("is disconnected when the server stops", async () => {
    const server = await start();
    const session = await sessionTo(server);
    server.close();
    await once(session, "close");
  });
});
