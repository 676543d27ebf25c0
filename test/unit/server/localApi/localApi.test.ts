/** An API server's face of a node: the routes kubectl uses, over a node that a test makes up. */
import { Subject, concat, defer, NEVER, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Pod } from "../../../../src/core/api.ts";
import { epochMs } from "../../../../src/core/ids.ts";
import type { LogReading } from "../../../../src/ports/containerLogs.ts";
import { kubeletError } from "../../../../src/core/errors.ts";
import type { ObjectReader } from "../../../../src/ports/objectReader.ts";
import { createEventObjects } from "../../../../src/sources/localObjects/eventObjects.ts";
import { createLocalObjects, LOCAL_RESOURCES } from "../../../../src/sources/localObjects/localObjects.ts";
import { NO_PODS, testKubeletApp } from "../../../support/kubeletApp.ts";
import { realClock } from "../../../support/realClock.ts";
import { podOf } from "../../../support/pods.ts";
import { RUNNING_WEB } from "../../../support/runningWeb.ts";

const container = (name: string) => ({ name, image: "i" });
const status: Pod["status"] = {
  phase: "Running",
  containerStatuses: [
    {
      ...{ name: "main", image: "i", imageID: "i", ready: true, restartCount: 0 },
      containerID: "x://c1",
      state: { running: {} },
    },
  ],
};
const WEB: Pod = { ...podOf({ name: "web", uid: "u", spec: { containers: [container("main")] } }), status };
const TWO = podOf({
  name: "two",
  spec: { containers: [container("a"), container("b")], initContainers: [container("i")] },
});
const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
const HINT = "edit the manifests";
/** A client without a certificate. */
const CONNECTION = { incoming: { socket: {} } };

/** The app of a node with two pods. */
function node(more: { readonly watch?: ObjectReader["watch"]; readonly log?: string } = {}) {
  const node = { pods: [WEB, TWO] as readonly Pod[] };
  const changed$ = new Subject<void>();
  const readings: LogReading[] = [];
  const runtimePods = () => [
    { ...RUNNING_WEB, containers: [{ ...RUNNING_WEB.containers[0], logPath: "/log" } as never] },
  ];
  const queries = { ...NO_PODS, pods: () => node.pods, shownPods: () => node.pods, runtimePods };
  const objects = createLocalObjects({
    queries,
    podsChanged$: changed$,
    events: createEventObjects("n", realClock),
    clock: { ...realClock, wallTime: () => epochMs(0) },
  });
  const { app } = testKubeletApp({
    queries,
    localApi: { objects: { ...objects, ...more }, resources: LOCAL_RESOURCES, writeHint: HINT },
    containerLogs: {
      logs: {
        open: (reading) => {
          readings.push(reading);
          if (more.log !== undefined) return throwError(() => kubeletError("NotFound", more.log ?? ""));
          return of(new Response("hello\n").body ?? new ReadableStream());
        },
      },
      podsChanged$: NEVER,
      splitStreams: false,
    },
  });
  const request = (path: string, init: RequestInit = {}) => app.request(path, init, CONNECTION);
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await request(path, { headers });
    return { code: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  return { request, node, changed$, readings, get };
}

const POD_PATH = "/api/v1/namespaces/demo/pods";
const failure = (code: number, reason: string, message: string) => ({
  code,
  body: expect.objectContaining({ kind: "Status", status: "Failure", code, reason, message }),
});
const namesIn = (list: Record<string, unknown>) =>
  (list["items"] as readonly Pod[]).map(({ metadata }) => metadata.name);

describe("discovery", () => {
  it.each([
    ["/api", "APIVersions"],
    ["/apis", "APIGroupList"],
    ["/api/v1", "APIResourceList"],
    ["/apis/metrics.k8s.io", "APIGroup"],
    ["/apis/metrics.k8s.io/v1beta1", "APIResourceList"],
  ])("%s", async (path, kind) => {
    expect(await node().get(path)).toMatchObject({ code: 200, body: { kind } });
  });

  it("lists its resources with their subresources", async () => {
    const { body } = await node().get("/api/v1");
    const resources = body["resources"] as readonly { readonly name: string; readonly verbs: readonly string[] }[];
    expect(Object.fromEntries(resources.map(({ name, verbs }) => [name, verbs.join(" ")]))).toEqual({
      pods: "get list watch",
      nodes: "get list watch",
      namespaces: "get list watch",
      events: "get list watch",
      "pods/attach": "create get",
      "pods/exec": "create get",
      "pods/log": "get",
      "pods/portforward": "create get",
    });
  });

  it("reports its version", async () => {
    const { body } = await node().get("/version");
    expect(body).toEqual({ major: "1", minor: "36", gitVersion: "v1.36.0", platform: "node v24" });
  });
});

describe("reading", () => {
  it("lists objects of a kind, and those of a namespace", async () => {
    const { get } = node();
    const all = await get("/api/v1/pods");
    expect([all.code, all.body["kind"], all.body["apiVersion"], namesIn(all.body)]).toEqual([
      200,
      "PodList",
      "v1",
      ["two", "web"],
    ]);
    expect(namesIn((await get(`${POD_PATH}?fieldSelector=status.phase%3DRunning`)).body)).toEqual(["web"]);
    expect(namesIn((await get("/api/v1/namespaces/other/pods")).body)).toEqual([]);
  });

  it("lists page by page", async () => {
    const { get } = node();
    const first = await get("/api/v1/pods?limit=1");
    const { continue: token } = first.body["metadata"] as { readonly continue: string };
    const second = await get(`/api/v1/pods?limit=1&continue=${encodeURIComponent(token)}`);
    expect([namesIn(first.body), namesIn(second.body)]).toEqual([["two"], ["web"]]);
  });

  it("returns tables on request, for a list and for a single object", async () => {
    const { get } = node();
    const list = await get("/api/v1/pods", { accept: TABLE });
    const one = await get(`${POD_PATH}/web`, { accept: TABLE });
    const cells = ({ body }: typeof list) =>
      (body["rows"] as readonly { readonly cells: readonly unknown[] }[]).map(({ cells: [name, ready] }) => [
        name,
        ready,
      ]);
    expect([list.body["kind"], cells(list), cells(one)]).toEqual([
      "Table",
      [
        ["two", "0/2"],
        ["web", "1/1"],
      ],
      [["web", "1/1"]],
    ]);
  });

  it.each([
    [`${POD_PATH}/nope`, 404, "NotFound", 'pods "nope" not found'],
    [`${POD_PATH}/web/nothing`, 404, "NotFound", "the server could not find the requested resource"],
    ["/apis/metrics.k8s.io/v1beta1/nodes/nope", 404, "NotFound", 'nodes "nope" not found'],
    ["/apis/metrics.k8s.io/v1beta1/namespaces/demo/pods/nope", 404, "NotFound", 'pods "nope" not found'],
    // A pod that is not running has no usage.
    [
      "/apis/metrics.k8s.io/v1beta1/namespaces/demo/pods/two",
      ...([404, "NotFound", 'pods.metrics.k8s.io "demo/two" not found'] as const),
    ],
    ["/apis/metrics.k8s.io/v1beta1/pods?labelSelector=%28", 400, "BadRequest", expect.any(String)],
    ["/api/v1/secrets", 404, "NotFound", "the server could not find the requested resource"],
    ["/api/v1/pods?limit=many", 400, "BadRequest", 'limit: must be a number, got "many"'],
    ["/api/v1/pods?fieldSelector=x%3Dy", 400, "BadRequest", "field label not supported: x"],
    ["/api/v1/pods?resourceVersion=x", 400, "BadRequest", 'invalid resource version "x"'],
  ])("refuses %s as an API server does", async (path, code, reason, message) => {
    expect(await node().get(path)).toEqual(failure(code, reason, message));
  });
});

describe("watching", () => {
  it("subscribes to nothing for a request that asks for headers alone", async () => {
    let watches = 0;
    const watch = () =>
      defer(() => {
        watches += 1;
        return NEVER;
      });
    const { request } = node({ watch });
    const answer = await request("/api/v1/pods?watch=true", { method: "HEAD" });
    expect([answer.status, answer.headers.get("content-type"), watches]).toEqual([200, "application/json", 0]);
    const opened = await request("/api/v1/pods?watch=true");
    expect(watches).toBe(1);
    await opened.body?.cancel();
  });

  const read = async (reader: ReadableStreamDefaultReader<Uint8Array>) =>
    JSON.parse(new TextDecoder().decode((await reader.read()).value)) as {
      readonly type: string;
      readonly object: Record<string, unknown>;
    };

  it("sends a line per change until the client disconnects", async () => {
    const { request, node: has, changed$ } = node();
    const answer = await request(`${POD_PATH}?watch=true`, { headers: { accept: TABLE } });
    const reader = (answer.body ?? new ReadableStream<Uint8Array>()).getReader();
    const rows = ({ object }: Awaited<ReturnType<typeof read>>) =>
      (object["rows"] as readonly { readonly cells: readonly unknown[] }[]).map(({ cells }) => cells[0]);
    const first = [await read(reader), await read(reader)];
    has.pods = [WEB];
    changed$.next();
    const removed = await read(reader);
    expect([...first, removed].map((line) => [line.type, rows(line)])).toEqual([
      ["ADDED", ["two"]],
      ["ADDED", ["web"]],
      ["DELETED", ["two"]],
    ]);
    expect(changed$.observed).toBe(true);
    await reader.cancel();
    expect(changed$.observed).toBe(false);
  });

  it("disconnects a client that is a thousand lines behind the initial ones", async () => {
    const line = { type: "ADDED", object: WEB } as never;
    const later$ = new Subject<never>();
    const { request } = node({ watch: () => concat(of(...Array<never>(1_500).fill(line)), later$) });
    const answer = await request("/api/v1/pods?watch=1");
    for (let count = 0; count < 1_000; count += 1) later$.next(line);
    expect(later$.observed).toBe(true);
    later$.next(line);
    expect(later$.observed).toBe(false);
    await expect(answer.text()).rejects.toThrow("has not taken");
  });
});

describe("subresources of pods", () => {
  it("reads the log of the only container with the requested options", async () => {
    const { request, readings } = node();
    const answer = await request(`${POD_PATH}/web/log?tailLines=3&timestamps=true`);
    expect([answer.status, await answer.text()]).toEqual([200, "hello\n"]);
    expect(readings[0]).toMatchObject({ path: "/log", tailLines: 3, timestamps: true });
  });

  it.each([
    [`${POD_PATH}/two/log`, 400, "BadRequest", "a container name must be specified for pod two, choose one of: [a b]"],
    [`${POD_PATH}/web/log?container=x`, 400, "BadRequest", "container x is not valid for pod web"],
    [`${POD_PATH}/nope/log`, 404, "NotFound", 'pods "nope" not found'],
    [`${POD_PATH}/two/log?container=i`, 400, "BadRequest", 'container "i" in pod "two" is not available'],
    [`${POD_PATH}/two/exec?command=ls`, 400, "BadRequest", expect.stringContaining("choose one of")],
  ])("refuses %s", async (path, code, reason, message) => {
    expect(await node().get(path)).toEqual(failure(code, reason, message));
  });

  it("returns a log error as a Status", async () => {
    expect(await node({ log: "gone" }).get(`${POD_PATH}/web/log`)).toEqual(failure(400, "BadRequest", "gone"));
  });

  it.each([
    ["exec", "command=ls&container=main&stdin=true&stdout=true"],
    ["attach", "stdout=true"],
    ["portforward", "ports=80"],
  ])("forwards %s to the kubelet's route, which requires an upgrade", async (verb, query) => {
    const answer = await node().request(`${POD_PATH}/web/${verb}?${query}`, { method: "POST" });
    expect([answer.status, await answer.text()]).toEqual([500, "Upgrade request required\n"]);
  });
});

describe("writing", () => {
  const large = "x".repeat(100_000);

  it.each([
    ["POST", POD_PATH, large],
    ["PUT", `${POD_PATH}/web`, large],
    ["PATCH", `${POD_PATH}/web`, "{}"],
    ["DELETE", `${POD_PATH}/web`, "{}"],
    ["POST", "/apis/apps/v1/namespaces/demo/deployments", large],
  ])("is rejected with a hint: %s %s", async (method, path, body) => {
    const answer = await node().request(path, {
      method,
      body,
      headers: { "content-length": String(body.length) },
    });
    expect([answer.status, await answer.json(), answer.headers.get("connection")]).toEqual([
      405,
      expect.objectContaining({ kind: "Status", reason: "MethodNotAllowed", message: HINT }),
      "close",
    ]);
  });
});

it("the local API is absent on a kubelet that joined a cluster", async () => {
  const { app } = testKubeletApp();
  for (const path of ["/api", "/apis", "/api/v1/pods", "/version"])
    expect((await app.request(path, {}, CONNECTION)).status).toBe(404);
});
