import { concat, NEVER, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../../src/core/errors.ts";
import { LIVE_HEADER, LIVE_PATHS } from "../../../../src/core/live/liveMessages.ts";
import type { ContainerLogs } from "../../../../src/ports/containerLogs.ts";
import type { LiveSource } from "../../../../src/ports/liveSource.ts";
import { baseApp } from "../../../../src/server/baseApp.ts";
import { addLiveRoutes, type LiveRoutesOptions, MAX_WATCHERS } from "../../../../src/server/live/liveRoutes.ts";
import { createLiveView } from "../../../../src/server/live/liveView.ts";
import { podOf } from "../../../support/pods.ts";
import { realClock } from "../../../support/realClock.ts";
import { recordingTelemetry } from "../../../support/recordingTelemetry.ts";

const SOURCE: LiveSource = {
  ...{ parts: [], places: [{ name: "registry", kind: "cell" }], drafts$: NEVER, pods$: concat(of([]), NEVER) },
  queues: () => [],
};
const WEB = {
  ...podOf({ name: "web", namespace: "demo", uid: "u" }),
  status: { containerStatuses: [{ name: "main", state: { running: {} }, containerID: "rxlet://c1" }] },
};
const text = (body: string): ReadableStream<Uint8Array> => new Response(body).body ?? new ReadableStream();

/** An app with a live view of one pod. */
function liveApp({ source = {}, logs }: { readonly source?: Partial<LiveSource>; readonly logs?: ContainerLogs } = {}) {
  const retried: string[] = [];
  const view = createLiveView({
    ...{ source: { ...SOURCE, ...source }, clock: realClock, node: "one", version: "1", node$: NEVER },
  });
  const app = baseApp(recordingTelemetry().log);
  const readings: Parameters<ContainerLogs["open"]>[0][] = [];
  const options = {
    ...{ view, clock: realClock },
    queries: {
      pods: () => [WEB],
      runtimePods: () => [{ containers: [{ id: "c1", logPath: "/logs/c1" }] }],
      timelineNames: () => ["demo/web"],
      manifestProblems: () => [],
    },
    commands: {
      retry: (namespace: string, name: string) => {
        retried.push(`${namespace}/${name}`);
        return name === "web";
      },
    },
    logs: logs ?? {
      open: (reading) => {
        readings.push(reading);
        return of(text("<b>hello</b>\n"));
      },
    },
    pageFiles: () =>
      Promise.resolve(
        new Map([["index.html", { type: "text/html; charset=utf-8", body: new TextEncoder().encode("hi") }]]),
      ),
  } as unknown as LiveRoutesOptions;
  addLiveRoutes(app, options);
  return { app, retried, readings };
}

const decode = async (reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> =>
  new TextDecoder().decode((await reader.read()).value);

describe("the page of the live view", () => {
  it("may run its own files alone", async () => {
    const page = await liveApp().app.request(LIVE_PATHS.page);
    expect([page.status, await page.text(), page.headers.get("content-type")]).toEqual([
      200,
      "hi",
      "text/html; charset=utf-8",
    ]);
    expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none'; script-src 'self'; /);
    expect(page.headers.get("x-content-type-options")).toBe("nosniff");
  });

  it.each(["/live/other.js", "/live/..%2fpackage.json", "/live/x/y"])("has no other file: %s", async (path) => {
    expect((await liveApp().app.request(path)).status).toBe(404);
  });
});

describe("the stream of the live view", () => {
  it("has an event for each message", async () => {
    const answer = await liveApp().app.request(LIVE_PATHS.stream);
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    const reader = answer.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    expect(await decode(reader)).toMatch(
      /^event: graph\ndata: \{"kind":"graph",[^\n]*\}\n\nevent: pods\ndata: \{"kind":"pods",[^\n]*\}\n\n$/,
    );
    await reader.cancel();
  });

  it("goes on after the last marble that its reader has", async () => {
    const drafts = [1, 2, 3].map((at) => ({ place: "registry", at, text: "line\nbreak" }));
    const { app } = liveApp({ source: { drafts$: concat(drafts, NEVER) } });
    const answer = await app.request(LIVE_PATHS.stream, { headers: { "last-event-id": "2" } });
    const reader = answer.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    expect(await decode(reader)).toContain(
      '\n\nevent: marbles\nid: 3\ndata: {"kind":"marbles","marbles":[{"place":"registry","at":3,"id":3,"text":"line\\nbreak"}],"dropped":0}\n\n',
    );
    await reader.cancel();
  });

  it("has a bound on its readers, and takes another when one has gone", async () => {
    const { app } = liveApp();
    const readers = await Promise.all(
      Array.from({ length: MAX_WATCHERS }, async () => (await app.request(LIVE_PATHS.stream)).body?.getReader()),
    );
    expect((await app.request(LIVE_PATHS.stream)).status).toBe(503);
    await readers[0]?.cancel();
    const next = await app.request(LIVE_PATHS.stream);
    expect(next.status).toBe(200);
    await Promise.all([next.body?.cancel(), ...readers.map((reader) => reader?.cancel())]);
  });
});

describe("the logs of the live view", () => {
  it("are the last lines, as text", async () => {
    const { app, readings } = liveApp();
    const answer = await app.request(LIVE_PATHS.logs("demo", "web", "main"));
    expect([answer.headers.get("content-type"), await answer.text()]).toEqual([
      "text/plain; charset=utf-8",
      "<b>hello</b>\n",
    ]);
    expect(readings).toMatchObject([{ path: "/logs/c1", tailLines: 100, limitBytes: 65_536, untilEnded: undefined }]);
  });

  it.each([
    ["another pod", LIVE_PATHS.logs("demo", "other", "main"), 404],
    ["another container", LIVE_PATHS.logs("demo", "web", "other"), 400],
  ])("say that they are not there: %s", async (_title, path, status) => {
    expect((await liveApp().app.request(path)).status).toBe(status);
  });

  it("say why they cannot be read", async () => {
    const open = () => throwError(() => kubeletError("NotFound", "no log /logs/c1"));
    const answer = await liveApp({ logs: { open } }).app.request(LIVE_PATHS.logs("demo", "web", "main"));
    expect([answer.status, await answer.text()]).toEqual([404, "no log /logs/c1\n"]);
  });
});

describe("the retry of the live view", () => {
  const post = (name: string, headers: Readonly<Record<string, string>>) => {
    const { app, retried } = liveApp();
    return [app.request(LIVE_PATHS.retry("demo", name), { method: "POST", headers }), retried] as const;
  };

  it("resets the backoffs of a pod", async () => {
    const [answer, retried] = post("web", { [LIVE_HEADER]: "1" });
    expect([(await answer).status, retried]).toEqual([200, ["demo/web"]]);
  });

  it("is refused to a page of another site, which cannot send the header", async () => {
    const [answer, retried] = post("web", {});
    expect([(await answer).status, retried]).toEqual([403, []]);
  });

  it("names a similar pod", async () => {
    const [answer] = post("wep", { [LIVE_HEADER]: "1" });
    expect([(await answer).status, await (await answer).text()]).toEqual([404, expect.stringContaining("demo/web")]);
  });
});
