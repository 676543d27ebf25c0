import { Hono } from "hono";
import { of, Subject, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import type { ApiContainerStatus, Pod } from "../../../src/core/api.ts";
import { kubeletError } from "../../../src/core/errors.ts";
import { containerId, epochMs, podUid } from "../../../src/core/ids.ts";
import type { PodRuntimeStatus, RuntimeContainer } from "../../../src/core/runtime/podRuntimeStatus.ts";
import type { ContainerLogs, LogReading } from "../../../src/ports/containerLogs.ts";
import { addContainerLogsRoute } from "../../../src/server/containerLogsRoute.ts";
import { serve } from "../../../src/server/serve.ts";
import { realClock } from "../../support/realClock.ts";
import { recordingTelemetry } from "../../support/recordingTelemetry.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const status: ApiContainerStatus = {
  ...{ name: "main", image: "i", imageID: "i", ready: true, restartCount: 1 },
  containerID: "containerd://c2",
  state: { running: {} },
  lastState: { terminated: { exitCode: 1, containerID: "containerd://c1" } },
};
const POD: Pod = {
  metadata: { name: "web", namespace: "default", uid: "1" },
  spec: { containers: [{ name: "main" }, { name: "new" }, { name: "lost" }] },
  status: { containerStatuses: [status, { ...status, name: "lost", containerID: "containerd://c9" }] },
};
const inRuntime = (id: string, state: RuntimeContainer["state"]): RuntimeContainer =>
  ({ id: containerId(id), name: "main", state, logPath: `/logs/${id}.log` }) as RuntimeContainer;

/** A node with that pod. `log` is what the reader gives; it stays open when followed. */
function node(log: ContainerLogs["open"], more: { readonly splitStreams?: boolean } = {}) {
  let containers = [inRuntime("c2", "running"), inRuntime("c1", "exited")];
  const podsChanged$ = new Subject<void>();
  const app = new Hono();
  const runtimePods = (): readonly PodRuntimeStatus[] => [
    { podUid: podUid("1"), name: "web", namespace: "default", sandboxes: [], containers, sequence: 1 },
  ];
  addContainerLogsRoute(app, {
    queries: { pods: () => [POD], runtimePods },
    podsChanged$,
    logs: { open: log },
    splitStreams: more.splitStreams ?? false,
    clock: { ...realClock, wallTime: () => epochMs(10_000) },
  });
  return {
    app,
    podsChanged$,
    end(): void {
      containers = [inRuntime("c2", "exited"), inRuntime("c1", "exited")];
      podsChanged$.next();
    },
  };
}

const streamOf = (text: string): ReadableStream<Uint8Array> => new Response(text).body ?? new ReadableStream();

async function answer(path: string, init: RequestInit = {}, more: { readonly splitStreams?: boolean } = {}) {
  const readings: LogReading[] = [];
  const { app } = node((reading) => {
    readings.push(reading);
    return of(streamOf("log\n"));
  }, more);
  const response = await app.request(`/containerLogs/${path}`, init);
  return { status: response.status, body: await response.text(), reading: readings[0] };
}

const READING: LogReading = {
  path: "/logs/c2.log",
  stream: undefined,
  timestamps: false,
  since: undefined,
  tailLines: undefined,
  limitBytes: undefined,
  untilEnded: undefined,
};

describe("/containerLogs", () => {
  it.each<[string, Partial<LogReading>]>([
    ["default/web/main", {}],
    ["default/web/main?previous=true", { path: "/logs/c1.log" }],
    ["default/web/main?tailLines=5&timestamps=true&limitBytes=9", { tailLines: 5, timestamps: true, limitBytes: 9 }],
    ["default/web/main?sinceSeconds=4", { since: { seconds: 6, nanos: 0 } }],
  ])("reads %s", async (path, expected) => {
    expect(await answer(path)).toEqual({ status: 200, body: "log\n", reading: { ...READING, ...expected } });
  });

  it("reads a single stream if the feature gate is enabled", async () => {
    const { reading } = await answer("default/web/main?stream=Stderr", {}, { splitStreams: true });
    expect(reading?.stream).toBe("stderr");
  });

  it.each([
    ["default/web/main?tailLines=x", 400, '{"message": "Unable to decode query."}'],
    ["default/web/main?tailLines=-1", 422, '{"message": "Invalid request."}'],
    ["default/other/main", 404, 'pod "other" does not exist'],
    ["other/web/main", 404, 'pod "web" does not exist'],
    ["default/web/other", 404, 'container "other" not found in pod "web"'],
    ["default/web/new", 400, 'container "new" in pod "web" is not available'],
    ["default/web/lost", 400, 'failed to get container status "containerd://c9": the runtime has no such container'],
    [
      "default/web/main?stream=Stdout",
      400,
      'unable to return the given log stream: "Stdout". Please enable PodLogsQuerySplitStreams feature gate in kubelet',
    ],
    ["default/web", 404, "404 Not Found"],
  ])("refuses %s", async (path, status, body) => {
    expect(await answer(path)).toEqual({ status, body, reading: undefined });
  });

  it.each(["POST", "HEAD", "DELETE"])("refuses %s", async (method) => {
    expect((await answer("default/web/main", { method })).status).toBe(405);
  });

  it("reports why a log cannot be opened", async () => {
    const { app } = node(() => throwError(() => kubeletError("NotFound", "no such file")));
    const response = await app.request("/containerLogs/default/web/main?follow=true");
    expect([response.status, await response.text()]).toEqual([400, "no such file"]);
  });

  it("reports a read error at the end of the log", async () => {
    const { app } = node(() => {
      const log = streamOf("log\n").pipeThrough(
        new TransformStream({ flush: (controller) => controller.error(kubeletError("Io", "cannot read")) }),
      );
      return of(log);
    });
    const response = await app.request("/containerLogs/default/web/main");
    expect([response.status, await response.text()]).toEqual([200, "log\ncannot read"]);
  });

  it("follows a log until its container exits, then stops watching", async () => {
    let ended: AbortSignal | undefined;
    const { app, podsChanged$, end } = node(({ untilEnded }) => {
      ended = untilEnded;
      const until = (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> =>
        new Promise((resolve) => {
          untilEnded?.addEventListener("abort", () => resolve(controller.close()));
        });
      return of(new ReadableStream({ start: (c) => c.enqueue(bytes("log\n")), pull: until }));
    });
    const response = await app.request("/containerLogs/default/web/main?follow=true");
    podsChanged$.next();
    expect(ended?.aborted).toBe(false);
    const text = response.text();
    end();
    expect(await text).toBe("log\n");
    expect(podsChanged$.observed).toBe(false);
  });

  it("sends headers before the first line and stops reading when the client disconnects", async () => {
    let cancelled = (): void => {};
    const left = new Promise<void>((resolve) => {
      cancelled = resolve;
    });
    const { app, podsChanged$ } = node(() =>
      of(new ReadableStream({ pull: () => new Promise(() => {}), cancel: cancelled })),
    );
    const listening = Promise.withResolvers<string>();
    const server = serve({
      app,
      telemetry: recordingTelemetry(),
      clock: realClock,
      address: "127.0.0.1",
      port: 0,
    }).subscribe({
      next: ({ address, port }) => listening.resolve(`http://${address}:${port}`),
      error: listening.reject,
    });
    const leave = new AbortController();
    const url = `${await listening.promise}/containerLogs/default/web/main?follow=true`;
    const response = await fetch(url, { signal: leave.signal });
    expect(response.status).toBe(200);
    leave.abort();
    await left;
    expect(podsChanged$.observed).toBe(false);
    server.unsubscribe();
  });
});
