/** The daemon's traces, on the embedded runtime: to a collector, to the runtime, and without either. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { type Daemon, startDaemon } from "../support/daemon.ts";
import { type Collector, startCollector } from "../support/otlpCollector.ts";
import { tracedRuntime } from "../support/tracedRuntime.ts";
import { waitFor } from "../support/waitFor.ts";
import { startRuntime, temporaryDir } from "./embeddedRuntimeSetup.ts";
import { manifest, script, UNTIL_TERM } from "./manifests.ts";

const ALWAYS = 1_000_000;
const HOST = { image: "rxlet.dev/host" };
const pod = (name: string) => manifest(name, { containers: [script("main", UNTIL_TERM, HOST)] });
const isRunning = ({ status }: Pod): boolean => status?.phase === "Running";

/** A daemon with this tracing, between a collector and a runtime that notes what it gets. */
async function tracedDaemon(rate: number) {
  const folder = temporaryDir();
  const { socketPath } = await startRuntime(folder);
  const socket = path.join(folder, "t");
  const runtime = await tracedRuntime(socket, socketPath);
  const collector = await startCollector();
  const config = { tracing: { endpoint: collector.address, samplingRatePerMillion: rate } };
  const daemon = await startDaemon({ folder, endpoint: `unix://${socket}`, config });
  onTestFinished(async () => {
    await daemon.kill();
    collector.stop();
    runtime.close();
  });
  return { daemon, collector, runtime };
}

const syncOf = ({ spans }: Collector) =>
  spans.find(({ name, attributes }) => name === "syncPod" && attributes["k8s.pod.update_type"] === "create");

const stopped = async (daemon: Daemon): Promise<number> => {
  const startedAt = performance.now();
  await daemon.kill("SIGTERM");
  return performance.now() - startedAt;
};

describe("a daemon with tracing", () => {
  it("exports the sync of a pod with its calls to the runtime, which sees the same trace", async () => {
    const { daemon, collector, runtime } = await tracedDaemon(ALWAYS);
    await daemon.put("web.json", pod("web"));
    const { metadata } = await daemon.until("web", isRunning, "Running");
    const sync = await waitFor("the sync", () => syncOf(collector));
    expect(sync).toMatchObject({
      parentSpanId: "",
      kind: 1,
      scope: "k8s.io/kubernetes/pkg/kubelet",
      attributes: {
        "k8s.pod.uid": metadata.uid,
        "k8s.pod": "default/web-test-node",
        "k8s.pod.name": "web-test-node",
        "k8s.pod.update_type": "create",
        "k8s.namespace.name": "default",
      },
      resource: { "service.name": "kubelet", "host.name": "test-node" },
    });
    const calls = await waitFor("its calls", () => {
      const children = collector.spans.filter(({ parentSpanId }) => parentSpanId === sync.spanId);
      return children.some(({ name }) => name.endsWith("/StartContainer")) && children;
    });
    const isLook = ({ name }: { readonly name: string }): boolean => name === "runtime.v1.ImageService/ImageStatus";
    expect(calls.filter((call) => !isLook(call)).map(({ name, kind }) => [name, kind])).toEqual([
      ["runtime.v1.RuntimeService/RunPodSandbox", 3],
      ["runtime.v1.RuntimeService/PodSandboxStatus", 3],
      ["runtime.v1.ImageService/PullImage", 3],
      ["runtime.v1.RuntimeService/CreateContainer", 3],
      ["runtime.v1.RuntimeService/StartContainer", 3],
    ]);
    // Before and after the pull, and beside the creation of the sandbox if that takes long enough.
    expect([2, 3]).toContain(calls.filter(isLook).length);
    const [made] = calls.filter(({ name }) => name.endsWith("/RunPodSandbox"));
    const seen = runtime.seen.find(([rpc]) => rpc === "runPodSandbox");
    expect(seen?.[1]).toBe(`00-${sync.traceId}-${made?.spanId}-01`);
    const timeline = await fetch(`${daemon.readOnlyUrl}/debug/rxlet/pods/default/web-test-node/timeline`);
    const { traceId } = (await timeline.json()) as { readonly traceId?: string };
    const traces = await waitFor("the latest trace", () => collector.spans.some((span) => span.traceId === traceId));
    expect(traces).toBe(true);
  });

  it("exports the last spans when it stops", async () => {
    const { daemon, collector } = await tracedDaemon(ALWAYS);
    await daemon.put("web.json", pod("web"));
    await daemon.until("web", isRunning, "Running");
    await stopped(daemon);
    expect([daemon.exitCode, syncOf(collector)?.name]).toEqual([0, "syncPod"]);
  });

  it("runs pods beside a collector that hangs or is gone, says so once, and stops in time", async () => {
    const { daemon, collector } = await tracedDaemon(ALWAYS);
    collector.answer = "hang";
    await daemon.put("one.json", pod("one"));
    await daemon.until("one", isRunning, "Running");
    await waitFor("a batch that hangs", () => collector.batches > 0);
    collector.stop();
    await daemon.put("two.json", pod("two"));
    await daemon.until("two", isRunning, "Running");
    const lines = await waitFor("the line", async () => {
      const found = (await daemon.logEntries()).filter(({ msg }) => msg.startsWith("The collector takes no spans"));
      return found.length > 0 && found;
    });
    expect(lines).toHaveLength(1);
    expect(await daemon.metric('rxlet_dropped_total{queue="spans"}')).toBeGreaterThan(0);
    const tookMs = await stopped(daemon);
    expect([daemon.exitCode, tookMs < 10_000]).toEqual([0, true]);
  });

  it("exports nothing with the rate 0, yet hands its trace on", async () => {
    const { daemon, collector, runtime } = await tracedDaemon(0);
    await daemon.put("web.json", pod("web"));
    await daemon.until("web", isRunning, "Running");
    const timeline = await fetch(`${daemon.readOnlyUrl}/debug/rxlet/pods/default/web-test-node/timeline`);
    expect(await timeline.json()).not.toHaveProperty("traceId");
    await stopped(daemon);
    expect(collector.batches).toBe(0);
    const headers = runtime.seen.map(([, traceparent]) => traceparent ?? "none");
    expect(headers.filter((header) => !/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/.test(header))).toEqual([]);
  });
});

/** Modules of the SDK, in the bundle or in its own packages. */
const SDK = /createTracing|opentelemetry\/(sdk|exporter|otlp|resources)/;

describe("the SDK of OpenTelemetry", () => {
  it.each([
    ["loaded with tracing", { endpoint: "127.0.0.1:1" }, true],
    ["not loaded without", undefined, false],
  ])("is %s", async (_, tracing, isLoaded) => {
    const folder = temporaryDir();
    const { socketPath } = await startRuntime(folder);
    const loads = path.join(folder, "loads");
    const hook = pathToFileURL(path.join(import.meta.dirname, "../support/noteLoads.mjs")).href;
    const env = { NODE_OPTIONS: `--import ${hook}`, RXLET_TEST_LOADS: loads };
    const config = tracing === undefined ? {} : { tracing };
    const daemon = await startDaemon({ folder, endpoint: `unix://${socketPath}`, config, env });
    onTestFinished(() => daemon.kill());
    await daemon.put("web.json", pod("web"));
    await daemon.until("web", isRunning, "Running");
    const modules = (await readFile(loads, "utf8")).trim().split("\n");
    expect(modules.some((url) => url.endsWith("/main.js"))).toBe(true);
    expect(modules.some((url) => SDK.test(url))).toBe(isLoaded);
  });
});
