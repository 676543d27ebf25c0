import { describe, expect, it } from "vitest";
import type { Pod } from "../../../src/core/api.ts";
import { podUid } from "../../../src/core/ids.ts";
import { emptyRuntimeStatus } from "../../../src/core/runtime/podRuntimeStatus.ts";
import type { HealthCheck, KubeletQueries } from "../../../src/ports/kubeletQueries.ts";
import { pathBucket, requestLabels } from "../../../src/server/countRequests.ts";
import { READ_ONLY_PATHS, readOnlyApp } from "../../../src/server/readOnlyServer.ts";
import { NO_PODS } from "../../support/kubeletApp.ts";
import { measuredStats } from "../../support/measuredStats.ts";
import { realClock } from "../../support/realClock.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";

const POD: Pod = {
  metadata: { name: "web", namespace: "demo", uid: "u" },
  spec: { containers: [{ name: "a", image: "i" }] },
  status: { phase: "Running" },
};

const HEALTHY: readonly HealthCheck[] = ["ping", "log", "syncloop"].map((name) => ({ name, problem: undefined }));
const STALLED: readonly HealthCheck[] = HEALTHY.map((check) =>
  check.name === "syncloop" ? { ...check, problem: "no relist for 3m0s" } : check,
);

function appWith(more: Partial<KubeletQueries> = {}) {
  const telemetry = recordingTelemetry();
  const queries: KubeletQueries = {
    ...NO_PODS,
    pods: () => [POD],
    runtimePods: () => [
      {
        ...emptyRuntimeStatus(podUid("u"), "web", "demo", 1),
        sandboxes: [
          {
            id: "s" as never,
            attempt: 0,
            ready: true,
            createdAt: 1 as never,
            ips: [],
            hostNetwork: false,
            labels: {},
            annotations: {},
          },
        ],
      },
    ],
    health: () => HEALTHY,
    ...more,
  };
  const metricsPage = {
    render: (page = "main") => Promise.resolve(page === "main" ? "up 1\n" : `${page} 1\n`),
  };
  return {
    telemetry,
    app: readOnlyApp({
      queries,
      stats: measuredStats(),
      metricsPage,
      telemetry,
      clock: realClock,
      names: new Set(["node-1"]),
    }),
  };
}

async function answer(path: string, init: RequestInit = {}, more: Partial<KubeletQueries> = {}) {
  const response = await appWith(more).app.request(path, init);
  return { status: response.status, type: response.headers.get("content-type"), body: await response.text() };
}

const TEXT = "text/plain; charset=utf-8";
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";

describe("readOnlyApp", () => {
  it.each(["/pods", "/pods/"])("answers %s with the pod list", async (path) => {
    const body = JSON.stringify({
      kind: "PodList",
      apiVersion: "v1",
      metadata: {},
      items: [{ metadata: POD.metadata, spec: POD.spec, status: POD.status }],
    });
    expect(await answer(path)).toEqual({ status: 200, type: "application/json", body });
  });

  it.each(["/runningpods/"])("answers %s with the pods of the runtime", async (path) => {
    const body = JSON.stringify({
      kind: "PodList",
      apiVersion: "v1",
      metadata: {},
      items: [{ metadata: { name: "web", namespace: "demo", uid: "u" }, spec: { containers: null }, status: {} }],
    });
    expect(await answer(path)).toEqual({ status: 200, type: "application/json", body });
  });

  it("serves /metrics with its content type", async () => {
    expect(await answer("/metrics")).toEqual({ status: 200, type: METRICS_TYPE, body: "up 1\n" });
  });

  it("serves the probe metrics at /metrics/probes", async () => {
    const body = "probes 1\n";
    expect(await answer("/metrics/probes")).toEqual({ status: 200, type: METRICS_TYPE, body });
  });

  it.each([
    ["/healthz", 200, "ok"],
    ["/healthz?verbose", 200, "[+]ping ok\n[+]log ok\n[+]syncloop ok\nhealthz check passed\n"],
    [
      "/healthz?verbose=true&exclude=log",
      200,
      "[+]ping ok\n[+]log excluded: ok\n[+]syncloop ok\nhealthz check passed\n",
    ],
    ["/healthz/ping", 200, "ok"],
    ["/healthz/log", 200, "ok"],
    ["/healthz/syncloop", 200, "ok"],
  ])("answers %s with %d when all is well", async (path, status, body) => {
    expect(await answer(path)).toEqual({ status, type: TEXT, body });
  });

  it.each([
    ["/healthz", 500, "[+]ping ok\n[+]log ok\n[-]syncloop failed: reason withheld\nhealthz check failed\n"],
    ["/healthz?exclude=syncloop", 200, "ok"],
    [
      "/healthz?exclude=nothing",
      500,
      '[+]ping ok\n[+]log ok\n[-]syncloop failed: reason withheld\nwarn: some health checks cannot be excluded: no matches for "nothing"\nhealthz check failed\n',
    ],
    ["/healthz/ping", 200, "ok"],
    ["/healthz/syncloop", 500, "internal server error: no relist for 3m0s\n"],
  ])("answers %s with %d when the sync loop stalls", async (path, status, body) => {
    expect(await answer(path, {}, { health: () => STALLED })).toEqual({ status, type: TEXT, body });
  });

  it("warns of invalid manifests in verbose health without their reasons and stays healthy", async () => {
    const problem = { severity: "error", line: 9, field: "spec", reason: "secret", pod: undefined } as const;
    const manifestProblems = () => [
      { ...problem, origin: "/m/a" },
      { ...problem, origin: "/m/a" },
      { ...problem, origin: "/m/b" },
    ];
    const warning = 'warn: 3 problems in 2 manifests; the log and "rxlet explain POD" have the reasons\n';
    expect(await answer("/healthz?verbose", {}, { manifestProblems })).toEqual({
      status: 200,
      type: TEXT,
      body: `[+]ping ok\n[+]log ok\n[+]syncloop ok\n${warning}healthz check passed\n`,
    });
    expect(await answer("/healthz", {}, { manifestProblems })).toEqual({ status: 200, type: TEXT, body: "ok" });
  });

  it.each(["/", "/nope", "/healthz/nope", "/healthz/", "/metrics/", "/PODS", "/%2e%2e/etc/passwd"])(
    "answers %s with a plain 404",
    async (path) => {
      expect(await answer(path)).toEqual({ status: 404, type: TEXT, body: "404 page not found\n" });
    },
  );

  it.each(["/pods/default", "/stats/", "/stats/x"])(
    "answers %s, below what there is, with a 404 of its own",
    async (path) => {
      expect(await answer(path)).toEqual({ status: 404, type: TEXT, body: "404: Page Not Found" });
    },
  );

  it.each([
    ["/runningpods?a=b", "/runningpods/"],
    ["/stats", "/stats/"],
    ["//pods", "/pods"],
  ])("redirects %s", async (path, location) => {
    const response = await appWith().app.request(path);
    expect([response.status, response.headers.get("location"), await response.text()]).toEqual([
      307,
      location,
      `<a href="${location}">Temporary Redirect</a>.\n\n`,
    ]);
  });

  it("serves JSON only to clients that accept it", async () => {
    const body = "406: Not Acceptable\n\nAvailable representations: application/json";
    expect(await answer("/pods", { headers: { accept: "text/html" } })).toEqual({ status: 406, type: TEXT, body });
    expect((await answer("/pods", { headers: { accept: "text/html, */*;q=0.1" } })).status).toBe(200);
  });

  it("sends the start time of its metrics and prevents MIME sniffing", async () => {
    const { headers } = await appWith().app.request("/metrics");
    expect([headers.get("process-start-time-unix"), headers.get("x-content-type-options")]).toEqual([
      expect.stringMatching(/^1\d{9}$/),
      "nosniff",
    ]);
  });

  it.each(["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW", "HEAD"])(
    "answers %s with 405 and what is allowed",
    async (method) => {
      const response = await appWith().app.request("/pods", { method });
      expect([response.status, response.headers.get("allow"), await response.text()]).toEqual([
        405,
        "GET",
        method === "HEAD" ? "" : "405: Method Not Allowed",
      ]);
    },
  );

  it.each([
    "/run/a/b/c",
    "/exec/a/b/c",
    "/attach/a/b/c",
    "/portForward/a/b",
    "/containerLogs/a/b/c",
    "/debug/pprof/",
    "/logs/",
  ])("answers %s with debugging disabled", async (path) => {
    expect(await answer(path)).toEqual({ status: 405, type: TEXT, body: "Debug endpoints are disabled.\n" });
  });

  it("answers HEAD with the headers of GET and no body", async () => {
    expect(await answer("/healthz", { method: "HEAD" })).toEqual({ status: 200, type: TEXT, body: "" });
  });

  it("rejects request bodies and closes the connection", async () => {
    const response = await appWith().app.request("/pods", {
      method: "POST",
      headers: { "content-length": "5" },
      body: "hello",
    });
    expect([response.status, response.headers.get("connection")]).toEqual([413, "close"]);
  });

  it("answers a failing handler with 500, without its reason, and logs it", async () => {
    const { app, telemetry } = appWith({
      pods: () => {
        throw new Error("broken");
      },
    });
    const response = await app.request("/pods");
    const [line] = telemetry.lines;
    expect([response.status, await response.text(), line?.level, line?.fields["path"]]).toEqual([
      500,
      "500: Internal Server Error",
      "error",
      "/pods",
    ]);
  });

  it("counts requests by method, path, server and kind, with none left in flight", async () => {
    const { app, telemetry } = appWith();
    await app.request("/pods");
    await app.request("/pods");
    await app.request("/nope", { method: "BREW" });
    const pods = '{method="GET",path="pods",server_type="readonly",long_running="false"}';
    const other = '{method="other",path="other",server_type="readonly",long_running="false"}';
    expect(Object.fromEntries(telemetry.samples)).toEqual({
      [`kubelet_http_requests_total${pods}`]: 2,
      [`kubelet_http_inflight_requests${pods}`]: 0,
      [`kubelet_http_requests_duration_seconds${pods} observed`]: 2,
      [`kubelet_http_requests_total${other}`]: 1,
      [`kubelet_http_inflight_requests${other}`]: 0,
      [`kubelet_http_requests_duration_seconds${other} observed`]: 1,
    });
  });
});

describe("labels of requests", () => {
  it.each([
    ["/pods", "pods"],
    ["/pods/", "pods"],
    ["/healthz/ping", "healthz"],
    ["/metrics", "metrics"],
    ["/metrics/cadvisor", "metrics/cadvisor"],
    ["/metrics/x", "other"],
    ["/exec/ns/pod/c", "exec"],
    ["", "other"],
    ["/", "other"],
    ["//pods", "other"],
  ])("maps %j to %s", (path, bucket) => {
    expect(pathBucket(path, READ_ONLY_PATHS)).toBe(bucket);
  });

  it("classifies long-running requests like upstream", () => {
    const long = ["/exec/a", "/attach/a", "/portForward/a", "/pods"].map(
      (path) => requestLabels("GET", path, READ_ONLY_PATHS, "readwrite").long_running,
    );
    expect(long).toEqual(["true", "true", "false", "false"]);
  });
});

describe("a request of a web page", () => {
  const BROWSER = { "accept-language": "en" };
  const statusFor = async (host: string, headers: Readonly<Record<string, string>>): Promise<number> =>
    (await answer("/pods", { headers: { host, ...headers } })).status;

  it.each(["127.0.0.1:10255", "[::1]:10255", "10.0.0.7", "localhost:10255", "a.localhost", "node-1:10255", "NODE-1."])(
    "is answered at %s",
    async (host) => {
      expect(await statusFor(host, BROWSER)).toBe(200);
    },
  );

  it.each(["evil.example:10255", "node-1.evil.example", "10.0.0.7.evil.example", "localhost.evil.example", ""])(
    "is refused at %s",
    async (host) => {
      expect(await statusFor(host, BROWSER)).toBe(403);
    },
  );

  it.each(["accept-language", "origin", "sec-fetch-site", "sec-fetch-mode"])(
    "is detected by the header %s",
    async (header) => {
      expect(await statusFor("evil.example", { [header]: "x" })).toBe(403);
    },
  );

  it("is rejected with the reason on every path", async () => {
    const headers = { host: "evil.example:80", ...BROWSER };
    const body = '403: Forbidden\n\nthe host "evil.example" is not this node: a browser needs its name or address\n';
    for (const path of ["/pods", "/metrics", "/healthz", "/nothing"]) {
      expect(await answer(path, { headers })).toEqual({ status: 403, type: TEXT, body });
    }
  });

  it("is the only request with a host check: a scraper may use any name", async () => {
    const headers = { host: "metrics.cluster.example:10255", "user-agent": "Prometheus/3.5.0", accept: "text/plain" };
    expect((await answer("/metrics", { headers })).status).toBe(200);
  });
});
