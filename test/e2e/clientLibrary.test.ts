/** `@kubernetes/client-node`, the client that users of the API have, against `rxlet dev`. */
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import {
  ApiException,
  Attach,
  CoreV1Api,
  Exec,
  KubeConfig,
  Log,
  makeInformer,
  Metrics,
  PortForward,
  topNodes,
  topPods,
  type V1Pod,
  type V1Status,
  Watch,
} from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { waitFor } from "../support/waitFor.ts";
import { createDevUser, type DevNode, type DevUser } from "./devNode.ts";
import { manifest, script, UNTIL_TERM } from "./manifests.ts";

const HOST = { image: "rxlet.dev/host" };
const TICKS = "n=0; while :; do echo tick $n; n=$((n+1)); sleep 0.2; done";
const NAMESPACE = "default";
const nameOf = ({ metadata }: V1Pod): string => metadata?.name ?? "";

/** A stream and the text that it has received so far. */
function sink(): { readonly stream: PassThrough; readonly said: () => string } {
  const stream = new PassThrough();
  let said = "";
  stream.on("data", (part: Buffer) => (said += String(part)));
  return { stream, said: () => said };
}

describe("the JavaScript client against rxlet dev", () => {
  let user: DevUser;
  let dev: DevNode;
  const config = new KubeConfig();
  let core: CoreV1Api;

  beforeAll(async () => {
    user = await createDevUser();
    dev = await user.start("pods", {
      "web.json": manifest("web", { containers: [script("main", UNTIL_TERM, HOST)] }),
      "ticker.json": manifest("ticker", { containers: [script("main", TICKS, HOST)] }),
    });
    for (const name of ["web", "ticker"]) await dev.until(name, "Running", ({ status }) => status?.phase === "Running");
    config.loadFromFile(dev.kubeconfig);
    core = config.makeApiClient(CoreV1Api);
  });
  afterAll(() => user.close());

  it("reads pods and the node", async () => {
    const { items } = await core.listNamespacedPod({ namespace: NAMESPACE });
    expect(items.map(nameOf).sort()).toEqual(["ticker-laptop", "web-laptop"]);
    const pod = await core.readNamespacedPod({ namespace: NAMESPACE, name: "web-laptop" });
    expect([pod.status?.phase, pod.status?.startTime]).toEqual(["Running", expect.any(Date)]);
    expect((await core.listNode()).items.map(({ metadata }) => metadata?.name)).toEqual(["laptop"]);
  });

  it("receives the Status of a missing pod and of a write", async () => {
    const missing = core.readNamespacedPod({ namespace: NAMESPACE, name: "none" });
    await expect(missing).rejects.toBeInstanceOf(ApiException);
    await expect(missing).rejects.toMatchObject({ code: 404 });
    const write = core.deleteNamespacedPod({ namespace: NAMESPACE, name: "web-laptop" });
    await expect(write).rejects.toMatchObject({ code: 405 });
    await expect(write).rejects.toThrow(`this node runs the manifests of ${dev.manifests}`);
  });

  it("reads the usage of the node and of pods", async () => {
    const metrics = new Metrics(config);
    const quantities = { cpu: expect.stringMatching(/^\d+[num]?$/), memory: expect.stringMatching(/^\d+[KMG]i$/) };
    const nodes = await metrics.getNodeMetrics();
    expect(nodes.items).toMatchObject([{ metadata: { name: "laptop" }, usage: quantities }]);
    const containers = [{ name: "main", usage: quantities }];
    for (const namespace of [NAMESPACE, undefined]) {
      const { items } = await metrics.getPodMetrics(namespace);
      expect(items).toMatchObject(["ticker-laptop", "web-laptop"].map((name) => ({ metadata: { name }, containers })));
    }
    expect((await metrics.getPodMetrics("none")).items).toEqual([]);
    expect((await topNodes(core)).map(({ Node }) => Node.metadata?.name)).toEqual(["laptop"]);
    const usage = await topPods(core, metrics, NAMESPACE);
    expect(usage.map(({ Memory }) => Number(Memory.CurrentUsage) > 0)).toEqual([true, true]);
  });

  it("watches a pod that is added and removed", async () => {
    const seen: string[] = [];
    const ended = Promise.withResolvers<unknown>();
    const watch = new Watch(config);
    const path = `/api/v1/namespaces/${NAMESPACE}/pods`;
    const { metadata } = await core.listNamespacedPod({ namespace: NAMESPACE });
    const aborted = await watch.watch(
      path,
      { resourceVersion: metadata?.resourceVersion },
      (type, pod: V1Pod) => seen.push(`${type} ${nameOf(pod)} ${pod.status?.phase}`),
      ended.resolve,
    );
    await dev.put("late.json", manifest("late", { containers: [script("main", UNTIL_TERM, HOST)] }));
    await waitFor("MODIFIED to Running", () => seen.includes("MODIFIED late-laptop Running"));
    expect(seen[0]).toBe("ADDED late-laptop Pending");
    await rm(join(dev.manifests, "late.json"));
    await waitFor("DELETED", () => seen.some((line) => line.startsWith("DELETED late-laptop")));
    aborted.abort();
    await ended.promise;
  });

  it("keeps an informer up to date", async () => {
    const list = () => core.listNamespacedPod({ namespace: NAMESPACE });
    const informer = makeInformer(config, `/api/v1/namespaces/${NAMESPACE}/pods`, list);
    const added: string[] = [];
    informer.on("add", (pod) => added.push(nameOf(pod)));
    await informer.start();
    await waitFor("the list", () => added.length === 2);
    await dev.put("later.json", manifest("later", { containers: [script("main", UNTIL_TERM, HOST)] }));
    await waitFor(
      "the cache to hold the running pod",
      () => informer.get("later-laptop", NAMESPACE)?.status?.phase === "Running",
    );
    await rm(join(dev.manifests, "later.json"));
    await waitFor("the cache to drop it", () => informer.get("later-laptop", NAMESPACE) === undefined);
    await informer.stop();
  });

  it("follows a log to its end, and reads it", async () => {
    const lines = script("main", "for n in 1 2 3; do echo line $n; sleep 0.2; done", HOST);
    await dev.put("short.json", manifest("short", { restartPolicy: "Never", containers: [lines] }));
    await dev.until("short", "started", ({ status }) => ["Running", "Succeeded"].includes(status?.phase ?? ""));
    const output = new PassThrough();
    await new Log(config).log(NAMESPACE, "short-laptop", "main", output, { follow: true });
    expect(await text(output)).toBe("line 1\nline 2\nline 3\n");
    const place = { namespace: NAMESPACE, name: "short-laptop", container: "main" };
    expect(await core.readNamespacedPodLog({ ...place, tailLines: 1 })).toBe("line 3\n");
  });

  it("execs with standard input, both outputs and an exit code", async () => {
    const [out, err] = [new PassThrough(), new PassThrough()];
    const status = Promise.withResolvers<V1Status>();
    const command = ["sh", "-c", "read x; echo hello $x; echo err >&2; exit 3"];
    await new Exec(config).exec(
      NAMESPACE,
      "web-laptop",
      "main",
      command,
      out,
      err,
      Readable.from(["you\n"]),
      false,
      status.resolve,
    );
    expect(await status.promise).toMatchObject({
      status: "Failure",
      reason: "NonZeroExitCode",
      details: { causes: [{ reason: "ExitCode", message: "3" }] },
    });
    out.end();
    err.end();
    expect([await text(out), await text(err)]).toEqual(["hello you\n", "err\n"]);
  });

  it("attaches", async () => {
    const { stream, said } = sink();
    const socket = await new Attach(config).attach(NAMESPACE, "ticker-laptop", "main", stream, null, null, false);
    await waitFor("output", () => /tick \d+\n/.test(said()));
    socket.close();
  });

  it("forwards a port", async () => {
    const http = createServer((_, answer) => answer.end("hello"));
    http.listen(0, "127.0.0.1");
    await once(http, "listening");
    const { port } = http.address() as AddressInfo;
    const { stream, said } = sink();
    // The client closes the connection when its input ends.
    const request = new PassThrough();
    request.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    await new PortForward(config).portForward(NAMESPACE, "web-laptop", [port], stream, null, request);
    await waitFor("the response", () => said().endsWith("hello"));
    expect(said()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    request.end();
    http.close();
    http.closeAllConnections();
  });
});
