/** Requests to the API server as spans. */
import { firstValueFrom, NEVER, of } from "rxjs";
import { describe, expect, it, onTestFinished } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { createApiLanes } from "../../../../src/sinks/apiServer/apiLanes.ts";
import { tracedTransport } from "../../../../src/sinks/apiServer/tracedTransport.ts";
import type { ExchangeListener, Transport } from "../../../../src/sinks/apiServer/transport.ts";
import { startHttpsApiServer } from "../../../support/apiServer/httpsApiServer.ts";
import { realClock } from "../../../support/realClock.ts";
import { recordingTracing } from "../../../support/recordingTracing.ts";

const REQUEST = { method: "GET", path: "/api/v1/nodes/n1?resourceVersion=0" } as const;

/** A transport whose exchanges the test answers. */
function fakeTransport() {
  const heard: string[] = [];
  const sent: { readonly headers: Readonly<Record<string, string>>; readonly to: ExchangeListener }[] = [];
  const transport: Transport = {
    host: "api:6443",
    exchange: (_request, headers, _headMs, to) => {
      sent.push({ headers, to });
      return { pause: () => {}, resume: () => {}, abort: () => heard.push("aborted") };
    },
    replaced$: NEVER,
    useIdentity: () => {},
    useAuthority: () => {},
    reconnect: () => {},
    close: () => {},
  };
  const listener: ExchangeListener = {
    head: (status) => heard.push(`head ${status}`),
    data: () => heard.push("data"),
    end: () => heard.push("end"),
    failed: () => heard.push("failed"),
  };
  const tracing = recordingTracing();
  const traced = tracedTransport(transport, "https://api:6443/", tracing);
  const exchange = traced.exchange(REQUEST, { accept: "json" }, 0, listener);
  return { heard, to: sent[0]?.to as ExchangeListener, headers: sent[0]?.headers, exchange, spans: tracing.spans };
}

describe("tracedTransport", () => {
  it("spans an exchange, and names the span to the server", () => {
    const { heard, to, headers, spans } = fakeTransport();
    const context = spans[0]?.context;
    expect(headers).toEqual({ accept: "json", traceparent: `00-${context?.traceId}-${context?.spanId}-01` });
    to.head(200, {});
    to.data(Buffer.from("x"));
    expect(spans[0]?.ends).toBe(0);
    to.end();
    expect(heard).toEqual(["head 200", "data", "end"]);
    expect(spans).toMatchObject([
      {
        name: "HTTP GET",
        kind: "client",
        attributes: {
          "http.request.method": "GET",
          "url.full": "https://api:6443/api/v1/nodes/n1?resourceVersion=0",
          "server.address": "api",
          "server.port": 6443,
          "http.response.status_code": 200,
        },
        failure: undefined,
        ends: 1,
      },
    ]);
  });

  it.each([
    [399, undefined],
    [400, ""],
    [503, ""],
  ])("fails its span with the status %i: %j", (status, failure) => {
    const { to, spans } = fakeTransport();
    to.head(status, {});
    to.end();
    expect(spans[0]?.failure).toBe(failure);
    expect(spans[0]?.attributes["error.type"]).toBe(failure === undefined ? undefined : String(status));
  });

  it("ends the span of an exchange that breaks, and of one that is aborted", () => {
    const broken = fakeTransport();
    broken.to.failed(kubeletError("Unavailable", "gone"));
    expect([broken.heard, broken.spans[0]?.failure, broken.spans[0]?.ends]).toEqual([["failed"], "gone", 1]);
    const left = fakeTransport();
    left.exchange.abort();
    expect([left.heard, left.spans[0]?.failure, left.spans[0]?.ends]).toEqual([["aborted"], undefined, 1]);
  });

  it("is the transport itself without tracing", () => {
    const transport = {} as Transport;
    expect(tracedTransport(transport, "https://api", undefined)).toBe(transport);
  });
});

it("the lanes trace their requests", async () => {
  const server = await startHttpsApiServer();
  onTestFinished(() => server.close());
  server.tokens.set("node", { kind: "node", nodeName: "n1" });
  server.sim.put("nodes", { metadata: { name: "n1" } });
  const tracing = recordingTracing();
  const { lanes, close } = createApiLanes({
    endpoint: {
      server: server.url,
      certificateAuthority: server.authority.certificate,
      tlsServerName: undefined,
      insecureSkipTlsVerify: false,
      proxyUrl: undefined,
    },
    identity: undefined,
    authorization: { headers: () => of({ authorization: "Bearer node" }), rejected: () => {} },
    rate: { qps: 50, burst: 50 },
    eventRate: { qps: 50, burst: 50 },
    heartbeatDeadlineMs: 10_000,
    userAgent: "rxlet/test",
    clock: realClock,
    observer: { onRequest: () => {}, onTurn: () => {} },
    tracing,
  });
  onTestFinished(close);
  await firstValueFrom(lanes.objects.get("nodes", { name: "n1" }));
  expect(tracing.spans).toMatchObject([
    { name: "HTTP GET", attributes: { "http.response.status_code": 200 }, failure: undefined },
  ]);
});
