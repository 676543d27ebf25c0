import { of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../src/core/errors.ts";
import type { KubeletAppOptions } from "../../../src/server/kubeletServer.ts";
import { IDLE_RUNTIME, NO_PODS, testAppOptions, testKubeletApp } from "../../support/kubeletApp.ts";
import { RUNNING_WEB, WEB } from "../../support/runningWeb.ts";

const { options } = testAppOptions();

async function ask(method: string, path: string, more: Partial<KubeletAppOptions> = {}, init: RequestInit = {}) {
  const { app } = testKubeletApp(more);
  const response = await app.request(path, { method, ...init }, { incoming: { socket: {} } });
  return { status: response.status, type: response.headers.get("content-type"), body: await response.text() };
}

describe("switches", () => {
  const off = (switches: Partial<KubeletAppOptions["handlers"]>) => ({
    handlers: { ...options.handlers, ...switches },
  });
  const debugging = off({ enableDebuggingHandlers: false });

  it.each([
    "/run/a/b/c",
    "/exec/a/b/c",
    "/attach/a/b/c",
    "/portForward/a/b",
    "/containerLogs/a/b/c",
    "/runningpods/",
    "/debug/pprof/",
    "/debug/pprof/heap",
    "/logs/",
    "/logs/syslog",
  ])("enableDebuggingHandlers: %s", async (path) => {
    const { status, body } = await ask("GET", path, debugging);
    expect([status, body]).toEqual([405, "Debug endpoints are disabled.\n"]);
  });

  it.each(["/configz", "/flagz", "/statusz", "/debug/flags/v", "/checkpoint/a/b/c"])(
    "enableDebuggingHandlers: %s is not there at all",
    async (path) => {
      expect((await ask("POST", path, debugging)).status).toBe(404);
    },
  );

  it.each([
    ["enableProfilingHandler", "/debug/pprof/heap", "profiling endpoint is disabled.\n"],
    ["enableDebugFlagsHandler", "/debug/flags/v", "flags endpoint is disabled.\n"],
    ["enableSystemLogHandler", "/logs/", "logs endpoint is disabled.\n"],
  ] as const)("%s: %s", async (name, path, text) => {
    const { status, body } = await ask("GET", path, off({ [name]: false }));
    expect([status, body]).toEqual([405, text]);
  });

  it("removes the pages of disabled feature gates", async () => {
    const gates = { flagz: false, statusz: false, checkpoint: false, nodeLogQuery: false, extendWebSockets: true };
    const answers = ["/flagz", "/statusz", "/checkpoint/a/b/c"].map((path) => ask("POST", path, { gates }));
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([404, 404, 404]);
  });
});

describe("methods", () => {
  it.each([
    ["GET", "/run/a/b/c", "POST"],
    ["PUT", "/exec/a/b/c", "GET, POST"],
    ["DELETE", "/attach/a/b/u/c", "GET, POST"],
    ["PATCH", "/portForward/a/b", "GET, POST"],
    ["GET", "/checkpoint/a/b/c", "POST"],
    ["POST", "/configz", "GET, HEAD"],
    ["POST", "/logs/syslog", "GET"],
    ["HEAD", "/logs/syslog", "GET"],
    ["POST", "/debug/pprof/heap", "GET"],
  ])("%s %s: 405, allowed is %s", async (method, path, allow) => {
    const response = await testKubeletApp().app.request(path, { method }, { incoming: { socket: {} } });
    expect([response.status, response.headers.get("allow"), await response.text()]).toEqual([
      405,
      allow,
      method === "HEAD" ? "" : "405: Method Not Allowed",
    ]);
  });
});

describe("/debug/flags/v", () => {
  const put = async (body: string) => {
    const set: number[] = [];
    const headers = { "content-length": String(body.length) };
    const answer = await ask("PUT", "/debug/flags/v", { setVerbosity: (value) => set.push(value) }, { body, headers });
    return [answer.status, answer.body, set];
  };

  it("sets the verbosity", async () => {
    expect(await put("4")).toEqual([200, "successfully set klog.logging.verbosity to 4\n", [4]]);
  });

  it.each([
    ["abc", 'strconv.ParseUint: parsing "abc": invalid syntax'],
    ["", 'strconv.ParseUint: parsing "": invalid syntax'],
    ["-1", 'strconv.ParseUint: parsing "-1": invalid syntax'],
    ["4.5", 'strconv.ParseUint: parsing "4.5": invalid syntax'],
    ["99999999999", 'strconv.ParseUint: parsing "99999999999": value out of range'],
  ])("refuses %j", async (body, why) => {
    expect(await put(body)).toEqual([400, `${why}\n`, []]);
  });

  it("rejects other methods", async () => {
    const { status, body } = await ask("GET", "/debug/flags/v");
    expect([status, body]).toEqual([406, "unsupported http method\n"]);
  });

  it("rejects large bodies", async () => {
    expect((await put("4".repeat(5_000)))[0]).toBe(413);
  });
});

describe("profiles", () => {
  it("record the process for the requested time", async () => {
    const profile = await ask("GET", "/debug/pprof/profile?seconds=1");
    expect([profile.status, Object.keys(JSON.parse(profile.body) as object)]).toEqual([
      200,
      expect.arrayContaining(["nodes", "samples", "timeDeltas"]),
    ]);
    const heap = await ask("GET", "/debug/pprof/heap?seconds=1");
    expect(Object.keys(JSON.parse(heap.body) as object)).toEqual(expect.arrayContaining(["head", "samples"]));
  });

  it("contain all allocations, also of memory that is free again", async () => {
    const allocs = ask("GET", "/debug/pprof/allocs?seconds=1");
    let kept: readonly string[] = [];
    for (let at = 0; at < 200; at += 1) kept = Array.from({ length: 1_000 }, (_, index) => `${at} ${index}`);
    expect(kept.length).toBe(1_000);
    expect(Object.keys(JSON.parse((await allocs).body) as object)).toEqual(expect.arrayContaining(["head", "samples"]));
  });

  it("trace the events of the process", async () => {
    const trace = await ask("GET", "/debug/pprof/trace?seconds=1");
    expect(JSON.parse(trace.body)).toEqual({ traceEvents: expect.any(Array) });
  });

  it("are recorded one at a time", async () => {
    const { app } = testKubeletApp();
    const take = () => app.request("/debug/pprof/profile?seconds=1", {}, { incoming: { socket: {} } });
    const answers = await Promise.all([take(), take()]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 500]);
    expect((await take()).status).toBe(200);
  });

  it.each(["0", "61", "-1", "x", "Infinity"])("reject a duration of %s seconds", async (seconds) => {
    expect((await ask("GET", `/debug/pprof/heap?seconds=${seconds}`)).status).toBe(400);
  });

  it.each([
    ["/debug/pprof/", 200, /^\/debug\/pprof\/\nprofile/],
    ["/debug/pprof/cmdline", 200, /node/],
    ["/debug/pprof/goroutine", 200, /^(\w+ \d+\n)+$/],
    ["/debug/pprof/mutex", 404, /^Unknown profile: an event loop has no mutexes\n$/],
    ["/debug/pprof/other", 404, /^Unknown profile\n$/],
  ])("%s", async (path, status, wanted) => {
    const answer = await ask("GET", path);
    expect([answer.status, answer.body]).toEqual([status, expect.stringMatching(wanted)]);
  });
});

describe("/checkpoint", () => {
  const withPod = (checkpointContainer: KubeletAppOptions["runtime"]["checkpointContainer"]) => ({
    queries: { ...NO_PODS, pods: () => [WEB], runtimePods: () => [RUNNING_WEB] },
    runtime: { ...IDLE_RUNTIME, checkpointContainer },
  });

  it("returns the archive path that the runtime received", async () => {
    const asked: unknown[] = [];
    const runtime = withPod((request) => {
      asked.push(request);
      return of({});
    });
    const { status, body } = await ask("POST", "/checkpoint/demo/web/main?timeout=5", runtime);
    const { items } = JSON.parse(body) as { readonly items: readonly string[] };
    expect([status, items]).toEqual([
      200,
      [expect.stringMatching(/^\/checkpoints\/checkpoint-web_demo-main-\d{4}-\d\d-\d\dT[\d:]+Z\.tar$/)],
    ]);
    expect(asked).toEqual([{ containerId: "c1", location: items[0], timeout: 5n }]);
  });

  it.each([
    ["/checkpoint/demo/none/main", 404, "pod does not exist"],
    ["/checkpoint/demo/web/none", 404, "container none does not exist"],
    ["/checkpoint/demo/web/main?timeout=x", 404, "cannot parse value of timeout parameter"],
    [
      "/checkpoint/demo/web/main?timeout=-1",
      500,
      "checkpointing of demo/web/main failed (CheckpointContainer requires the timeout value to be > 0)",
    ],
    ["/checkpoint/demo/web/main", 500, "checkpointing of demo/web/main failed (unknown method)"],
  ])("refuses %s", async (path, status, body) => {
    const runtime = withPod(() => throwError(() => kubeletError("Unimplemented", "unknown method")));
    const answer = await ask("POST", path, runtime);
    expect([answer.status, answer.body]).toEqual([status, body]);
  });
});

describe("/debug/rxlet/pods/{namespace}/{name}/retry", () => {
  it("resets the backoffs of an existing pod on POST", async () => {
    const asked: string[] = [];
    const commands = {
      retry: (namespace: string, name: string) => {
        asked.push(`${namespace}/${name}`);
        return name === "web";
      },
    };
    const path = (name: string) => `/debug/rxlet/pods/demo/${name}/retry`;
    const answers = [
      await ask("POST", path("web"), { commands }),
      await ask("POST", path("no"), { commands, queries: { ...NO_PODS, timelineNames: () => ["demo/web"] } }),
      await ask("GET", path("web"), { commands }),
    ];
    expect(answers.map(({ status, body }) => [status, body])).toEqual([
      [200, "demo/web: backoffs are reset\n"],
      [404, 'no pod "demo/no" on this node; its pods are demo/web\n'],
      [405, "405: Method Not Allowed"],
    ]);
    expect(asked).toEqual(["demo/web", "demo/no"]);
  });
});
