/** Every route by every verb for everybody: who gets an answer of the route, and which refusal the others get. */
import { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { createAuthenticate } from "../../../../src/server/auth/authenticate.ts";
import { createWebhookAuthorize } from "../../../../src/server/auth/authorize.ts";
import { realClock } from "../../../support/realClock.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";
import { accessServer, type Users } from "../../../support/kubeletAccess.ts";
import { testKubeletApp } from "../../../support/kubeletApp.ts";

const USERS: Users = {
  admin: ["* *"],
  prometheus: ["get metrics", "get healthz"],
  reader: ["get pods", "get configz", "get statusz", "get stats", "get log"],
  viewer: ["get proxy"],
  operator: ["create proxy"],
  stranger: [],
  "system:node:node-2": [],
};

function setUp({ anonymous = false, streamsNeedCreate = true, clock = realClock } = {}) {
  const server = accessServer(USERS);
  const { metrics, samples } = recordingTelemetry();
  const { app, telemetry } = testKubeletApp({
    access: {
      authenticate: createAuthenticate({
        anonymous,
        reviewer: { api: server.api, cacheTtlMs: 120_000 },
        clock,
        metrics,
      }),
      authorize: createWebhookAuthorize({
        api: server.api,
        nodeName: "node-1",
        allowedTtlMs: 300_000,
        deniedTtlMs: 30_000,
        clock,
        metrics,
      }),
      rules: { fineGrained: true, streamsNeedCreate },
    },
  });
  const ask = async (method: string, path: string, token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await app.request(path, { method, headers }, { incoming: { socket: new Socket() } });
    return { status: response.status, body: await response.text() };
  };
  return { ask, server, telemetry, samples };
}

const ROUTES = [
  ["/healthz", "healthz proxy"],
  ["/healthz/ping", "healthz proxy"],
  ["/healthz/log", "healthz proxy"],
  ["/healthz/syncloop", "healthz proxy"],
  ["/pods", "pods proxy"],
  ["/runningpods/", "pods proxy"],
  ["/metrics", "metrics"],
  ["/metrics/cadvisor", "metrics"],
  ["/metrics/resource", "metrics"],
  ["/metrics/probes", "metrics"],
  ["/metrics/slis", "metrics"],
  ["/stats/summary", "stats"],
  ["/configz", "configz proxy"],
  ["/flagz", "configz"],
  ["/statusz", "statusz"],
  ["/logs/", "log"],
  ["/logs/syslog", "log"],
  ["/checkpoint/ns/pod/c", "checkpoint"],
  ["/containerLogs/ns/pod/c", "proxy"],
  ["/exec/ns/pod/c", "proxy"],
  ["/exec/ns/pod/uid/c", "proxy"],
  ["/attach/ns/pod/c", "proxy"],
  ["/attach/ns/pod/uid/c", "proxy"],
  ["/portForward/ns/pod", "proxy"],
  ["/portForward/ns/pod/uid", "proxy"],
  ["/run/ns/pod/c", "proxy"],
  ["/run/ns/pod/uid/c", "proxy"],
  ["/debug/pprof/", "proxy"],
  ["/debug/flags/v", "proxy"],
  ["/debug/rxlet/pods/ns/pod/timeline", "proxy"],
  ["/debug/rxlet/pods/ns/pod/retry", "proxy"],
  ["/debug/rxlet/volumes", "proxy"],
  ["/debug/rxlet/pressure", "proxy"],
  ["/debug/rxlet/resources", "proxy"],
  ["/nothing", "proxy"],
] as const;
const VERBS = { GET: "get", POST: "create", PUT: "update", PATCH: "patch", DELETE: "delete", HEAD: "" } as const;
/** The codes that a route itself answers with here: the page, a bad question, an unknown pod, another verb. */
const ROUTE_ANSWERS = [200, 400, 404, 405, 406];
const INTO_CONTAINERS = /^\/(exec|attach|portForward|run)\//;

describe("access to routes", () => {
  it.each(ROUTES)("%s: allows users with permission for %s, by any verb", async (path, wanted) => {
    const { ask } = setUp();
    const subresources = wanted.split(" ");
    for (const [method, plainVerb] of Object.entries(VERBS)) {
      const verb = INTO_CONTAINERS.test(path) ? "create" : plainVerb;
      for (const [user, permissions] of Object.entries(USERS)) {
        const isAllowed = permissions.some(
          (permission) =>
            permission === "* *" || subresources.some((subresource) => permission === `${verb} ${subresource}`),
        );
        const { status, body } = await ask(method, path, user);
        const refusal = `Forbidden (user=${user}, verb=${verb}, resource=nodes, subresource(s)=[${wanted}])\n`;
        const what = `${method} ${path} by ${user}`;
        if (isAllowed) expect(ROUTE_ANSWERS, `${what}: ${status} ${body}`).toContain(status);
        else expect([what, status, method === "HEAD" ? refusal : body]).toEqual([what, 403, refusal]);
      }
    }
  });

  it.each(ROUTES)("%s: rejects a missing or bad token, by any verb", async (path) => {
    const { ask } = setUp();
    for (const method of Object.keys(VERBS)) {
      for (const token of [undefined, "forged", ""]) {
        const { status, body } = await ask(method, path, token);
        expect([method, token, status, body]).toEqual([method, token, 401, method === "HEAD" ? "" : "Unauthorized"]);
      }
    }
  });

  it.each(ROUTES)("%s: requires permission for anonymous users and rejects a bad token", async (path, wanted) => {
    const { ask } = setUp({ anonymous: true });
    for (const [method, plainVerb] of Object.entries(VERBS)) {
      const verb = INTO_CONTAINERS.test(path) ? "create" : plainVerb;
      const refusal = `Forbidden (user=system:anonymous, verb=${verb}, resource=nodes, subresource(s)=[${wanted}])\n`;
      const anonymous = await ask(method, path);
      expect([method, anonymous.status, anonymous.body]).toEqual([method, 403, method === "HEAD" ? "" : refusal]);
      expect([method, (await ask(method, path, "forged")).status]).toEqual([method, 401]);
    }
  });

  it("opens container streams with the verb get only if create is not required", async () => {
    const path = "/exec/ns/pod/c?output=1";
    expect((await setUp().ask("GET", path, "viewer")).status).toBe(403);
    const { status, body } = await setUp({ streamsNeedCreate: false }).ask("GET", path, "viewer");
    expect([status, body]).toEqual([404, "pod does not exist"]);
  });
});

describe("reviews by the API server", () => {
  it("are requested once while their answer is cached", async () => {
    const { ask, server } = setUp();
    for (let round = 0; round < 3; round += 1) await ask("GET", "/metrics", "prometheus");
    await Promise.all(["/pods", "/pods", "/pods"].map((path) => ask("GET", path, "stranger")));
    expect(server.reviews).toEqual({ tokens: 2, accesses: 3 });
  });

  it("reject the request with upstream's text when they fail, and are retried", async () => {
    const { ask, server } = setUp();
    server.setAway(true);
    expect(await ask("GET", "/metrics", "prometheus")).toEqual({ status: 401, body: "Unauthorized" });
    server.setAway(false);
    expect((await ask("GET", "/pods", "reader")).status).toBe(200);
    server.setAway(true);
    expect(await ask("GET", "/configz", "reader")).toEqual({
      status: 500,
      body: "Authorization error (user=reader, verb=get, resource=nodes, subresource=configz)",
    });
    server.setAway(false);
    expect((await ask("GET", "/configz", "reader")).status).toBe(200);
  });

  it("are counted: token lookups by cache result, and requests to the API server", async () => {
    const { ask, server, samples } = setUp();
    for (let round = 0; round < 3; round += 1) await ask("GET", "/metrics", "prometheus");
    server.setAway(true);
    await ask("GET", "/metrics", "somebody");
    expect(Object.fromEntries([...samples].filter(([series]) => !series.includes("duration")))).toEqual({
      'apiserver_delegated_authn_request_total{code="201"}': 1,
      'apiserver_delegated_authn_request_total{code="<error>"}': 1,
      'apiserver_delegated_authz_request_total{code="201"}': 1,
      'authentication_token_cache_active_fetch_count{status="blocked"}': 0,
      'authentication_token_cache_active_fetch_count{status="in_flight"}': 0,
      'authentication_token_cache_fetch_total{status="ok"}': 1,
      'authentication_token_cache_fetch_total{status="error"}': 1,
      'authentication_token_cache_request_total{status="miss"}': 2,
      'authentication_token_cache_request_total{status="hit"}': 2,
    });
  });

  it("are repeated when they expire: a denial sooner than a grant", async () => {
    let now = 0;
    const clock = { ...realClock, monotonicMs: () => now as never };
    const { ask, server } = setUp({ clock });
    const counts: number[] = [];
    for (const at of [0, 29_999, 30_000, 299_999, 300_000]) {
      now = at;
      await ask("GET", "/metrics", "prometheus");
      await ask("GET", "/metrics", "stranger");
      counts.push(server.reviews.accesses);
    }
    expect(counts).toEqual([2, 2, 3, 4, 5]);
  });
});
