/** Requests of the servers as spans. */
import { of } from "rxjs";
import { describe, expect, it } from "vitest";
import type { CallOptions } from "../../../src/ports/call.ts";
import { readOnlyApp } from "../../../src/server/readOnlyServer.ts";
import { createAuthenticate } from "../../../src/server/auth/authenticate.ts";
import { ExecSyncResponse } from "../../../src/gen/cri.ts";
import { IDLE_RUNTIME, NO_PODS, testAppOptions, testKubeletApp } from "../../support/kubeletApp.ts";
import { realClock } from "../../support/realClock.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";
import { recordingTracing } from "../../support/recordingTracing.ts";
import { RUNNING_WEB, WEB } from "../../support/runningWeb.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const SAMPLED = { traceparent: `00-${TRACE}-${SPAN}-01` };
const PARENT = { traceId: TRACE, spanId: SPAN, isSampled: true };

/** Connection of requests that no listener received. */
const bindings = { incoming: { socket: { remoteAddress: "10.0.0.7", remotePort: 1234, encrypted: true } } };

function tracedApp(more: Parameters<typeof testKubeletApp>[0] = {}) {
  const tracing = recordingTracing(false);
  const { app } = testKubeletApp({ tracing, ...more });
  const ask = (path: string, init: RequestInit = {}) => app.request(`https://kubelet${path}`, init, bindings);
  return { ask, spans: tracing.spans };
}

describe("the span of a request", () => {
  it("has upstream's name, kind and attributes", async () => {
    const { ask, spans } = tracedApp();
    await ask("/pods", { headers: { "user-agent": "curl/8" } });
    expect(spans).toMatchObject([
      {
        name: "/pods",
        kind: "server",
        parent: undefined,
        attributes: {
          "http.method": "GET",
          "http.scheme": "https",
          "net.host.name": "kubelet",
          "http.route": "/pods",
          "net.sock.peer.addr": "10.0.0.7",
          "net.sock.peer.port": 1234,
          "user_agent.original": "curl/8",
          "http.status_code": 200,
        },
        failure: undefined,
        ends: 1,
      },
    ]);
  });

  it("is named by the route, not by the path", async () => {
    const { ask, spans } = tracedApp();
    await ask("/containerLogs/demo/web/main");
    expect(spans.map(({ name }) => name)).toEqual(["/containerLogs/{podNamespace}/{podID}/{containerName}"]);
  });

  it("is named by its method without a route", async () => {
    const { ask, spans } = tracedApp();
    await ask("/nothing/here");
    expect(spans).toMatchObject([{ name: "GET", attributes: { "http.status_code": 404 }, failure: undefined }]);
    expect(spans[0]?.attributes).not.toHaveProperty("http.route");
  });

  it("follows a sampled parent of the client, whatever the rate", async () => {
    const { ask, spans } = tracedApp();
    await ask("/pods", { headers: SAMPLED });
    expect(spans).toMatchObject([{ parent: PARENT, context: { traceId: TRACE, isSampled: true } }]);
  });

  it("fails with the server's own failures", async () => {
    const broken = () => {
      throw new Error("broken");
    };
    const { ask, spans } = tracedApp({ queries: { ...NO_PODS, pods: broken } });
    await ask("/pods");
    expect(spans).toMatchObject([{ attributes: { "http.status_code": 500 }, failure: "", ends: 1 }]);
  });

  it("does not exist for a request that the guard rejects", async () => {
    const { options, telemetry } = testAppOptions();
    const refusing = createAuthenticate({
      ...{ anonymous: false, reviewer: undefined, clock: realClock, metrics: telemetry.metrics },
    });
    const { ask, spans } = tracedApp({ access: { ...options.access, authenticate: refusing } });
    const { status } = await ask("/pods", { headers: SAMPLED });
    expect([status, spans]).toEqual([401, []]);
  });

  it("bounds what the client chooses", async () => {
    const { ask, spans } = tracedApp();
    await ask("/pods", { headers: { "user-agent": "u".repeat(201) } });
    expect(spans[0]?.attributes["user_agent.original"]).toBe("u".repeat(200));
  });

  it("is the parent of its calls to the runtime", async () => {
    const given: (CallOptions | undefined)[] = [];
    const { ask, spans } = tracedApp({
      queries: { ...NO_PODS, pods: () => [WEB], runtimePods: () => [RUNNING_WEB] },
      runtime: {
        ...IDLE_RUNTIME,
        execSync: (_request, options) => {
          given.push(options);
          return of(ExecSyncResponse.create({}));
        },
      },
    });
    await ask("/run/demo/web/main?cmd=true", { method: "POST", headers: SAMPLED });
    expect(given).toEqual([{ parent: spans[0]?.context }]);
  });
});

it("the read-only server begins traces of its own, which link to the client's", async () => {
  const tracing = recordingTracing(false);
  const app = readOnlyApp({
    queries: NO_PODS,
    stats: testAppOptions().options.stats,
    metricsPage: { render: () => Promise.resolve("") },
    telemetry: recordingTelemetry(),
    tracing,
    clock: realClock,
    names: new Set(["kubelet"]),
  });
  await app.request("http://localhost/pods", { headers: SAMPLED });
  await app.request("http://localhost/pods");
  expect(tracing.spans).toMatchObject([
    { links: [PARENT], context: { isSampled: false } },
    { links: [], context: { isSampled: false } },
  ]);
  expect(tracing.spans.map(({ parent }) => parent)).toEqual([undefined, undefined]);
});
