/** The authenticated server on a real containerd: who is let in, and streams into containers by WebSocket. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { BUILT_MAIN } from "../support/builtProgram.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { parseExposition } from "../support/exposition.ts";
import { CHANNEL, openChannels } from "../support/kubeletWebSocket.ts";
import { waitFor } from "../support/waitFor.ts";
import { httpsNode } from "./httpsNode.ts";
import { manifest, script, server } from "./manifests.ts";

const isRunning = ({ status }: { readonly status?: { readonly phase?: string } }) => status?.phase === "Running";

/** Runs the program to its end. */
async function run(...args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  const child = spawn(process.execPath, [BUILT_MAIN, ...args], { stdio: ["ignore", "pipe", "ignore"] });
  const ended = once(child, "exit");
  const output = await text(child.stdout);
  const [code] = (await ended) as [number];
  return { code, text: output };
}

describeOnContainerd("the HTTPS server on containerd", (installation) => {
  const kubelet = httpsNode(installation);
  const { node, request } = kubelet;
  const open = (path: string, query: string) =>
    openChannels(`wss://127.0.0.1:${kubelet.port}${path}?${query}`, kubelet.tls);
  const command = (...words: string[]) => words.map((word) => `command=${encodeURIComponent(word)}`).join("&");

  it("answers who has a certificate of its authority, and nobody else", async () => {
    await node.daemon.put("web.json", manifest("web", { containers: [server()] }));
    await node.daemon.until("web", isRunning, "Running");
    const stranger = { cert: "", key: "" };
    expect(await request("/pods", stranger)).toEqual({ status: 401, body: "Unauthorized" });
    expect(await request("/pods", { ...stranger, headers: { authorization: "Bearer x" } })).toEqual({
      status: 401,
      body: "Unauthorized",
    });
    const { items } = JSON.parse((await request("/pods")).body) as { readonly items: readonly unknown[] };
    expect(items).toHaveLength(1);
    expect((await request("/healthz")).body).toBe("ok");
    const { kubeletconfig } = JSON.parse((await request("/configz")).body) as { readonly kubeletconfig: unknown };
    expect(Object.keys(kubeletconfig as object).slice(0, 2)).toEqual(["kind", "apiVersion"]);
    expect(kubeletconfig).toMatchObject({
      ...{ port: kubelet.port, enableServer: true, enableSystemLogQuery: false, syncFrequency: "1m0s" },
      kind: "KubeletConfiguration",
    });
    expect((await request("/metrics")).body).toContain('kubelet_http_requests_total{method="GET",path="pods"');
  });

  it("serves metrics that the strictest reader takes", async () => {
    await node.daemon.put("web.json", manifest("web", { containers: [server()] }));
    await node.daemon.until("web", isRunning, "Running");
    for (const [page, family] of [
      ["/metrics", "kubelet_http_requests_total"],
      ["/metrics/cadvisor", "container_memory_usage_bytes"],
      ["/metrics/resource", "resource_scrape_error"],
      ["/metrics/probes", "process_start_time_seconds"],
      ["/metrics/slis", "kubernetes_healthchecks_total"],
    ] as const) {
      const names = parseExposition((await request(page)).body).map(({ name }) => name);
      expect([page, names]).toEqual([page, expect.arrayContaining([family])]);
    }
  });

  it("runs commands and gives their output or exit code", async () => {
    await node.daemon.put("web.json", manifest("web", { containers: [server()] }));
    const { metadata } = await node.daemon.until("web", isRunning, "Running");
    const path = `/run/${metadata.namespace}/${metadata.name}/main`;
    expect(await request(`${path}?cmd=echo%20hello`, { method: "POST" })).toEqual({ status: 200, body: "hello\n" });
    expect(await request(`${path}?cmd=ls%20/nothing`, { method: "POST" })).toEqual({
      status: 500,
      body: "command 'ls /nothing' exited with 1: ls: /nothing: No such file or directory\n",
    });
  });

  it("execs: both outputs, input, exit code", async () => {
    await node.daemon.put("web.json", manifest("web", { containers: [server()] }));
    const { metadata } = await node.daemon.until("web", isRunning, "Running");
    const path = `/exec/${metadata.namespace}/${metadata.name}/main`;
    const script = "read line; echo got $line; echo oops >&2; exit 7";
    const socket = await open(path, `input=1&output=1&error=1&${command("sh", "-c", script)}`);
    socket.send(CHANNEL.stdin, "a line\n");
    await socket.closed;
    expect([String(socket.heard(CHANNEL.stdout)), String(socket.heard(CHANNEL.stderr))]).toEqual([
      "got a line\n",
      "oops\n",
    ]);
    expect(JSON.parse(String(socket.heard(CHANNEL.error)))).toMatchObject({
      status: "Failure",
      reason: "NonZeroExitCode",
      details: { causes: [{ reason: "ExitCode", message: "7" }] },
    });
  });

  it("execs in a terminal that changes its size", async () => {
    await node.daemon.put("web.json", manifest("web", { containers: [server()] }));
    const { metadata } = await node.daemon.until("web", isRunning, "Running");
    const path = `/exec/${metadata.namespace}/${metadata.name}/${metadata.uid}/main`;
    const socket = await open(path, `input=1&output=1&tty=1&${command("sh")}`);
    socket.send(CHANNEL.resize, JSON.stringify({ Width: 133, Height: 44 }));
    await waitFor("the terminal to have its size", () => {
      socket.send(CHANNEL.stdin, "stty size\n");
      return String(socket.heard(CHANNEL.stdout)).includes("44 133");
    });
    socket.send(CHANNEL.stdin, "exit\n");
    await socket.closed;
    expect(JSON.parse(String(socket.heard(CHANNEL.error)))).toMatchObject({ status: "Success" });
  });

  it("retries a pod that waits in its crash loop, asked by command", async () => {
    const main = script("main", "exit 1");
    await node.daemon.put("crash.json", manifest("crash", { containers: [main] }));
    const restarts = ({ status }: Pod) => status?.containerStatuses?.[0]?.restartCount ?? 0;
    const waits = (pod: Pod) =>
      restarts(pod) >= 2 && pod.status?.containerStatuses?.[0]?.state?.waiting?.reason === "CrashLoopBackOff";
    const { metadata, ...before } = await node.daemon.until("crash", waits, "in its crash loop");
    const pem = join(node.folder, "admin.pem");
    const ca = join(node.folder, "trusted.crt");
    await writeFile(pem, `${kubelet.tls.cert}\n${kubelet.tls.key}`);
    await writeFile(ca, kubelet.tls.ca);
    const retry = (...args: readonly string[]) =>
      run("retry", `${metadata.namespace}/${metadata.name}`, `--server=https://127.0.0.1:${kubelet.port}`, ...args);
    expect(await retry(`--certificate-authority=${ca}`)).toMatchObject({ code: 1 });
    expect(await retry(`--certificate-authority=${ca}`, `--client-certificate=${pem}`)).toEqual({
      code: 0,
      text: `${metadata.namespace}/${metadata.name}: backoffs are reset\n`,
    });
    const explain = (...args: readonly string[]) =>
      run("explain", `${metadata.namespace}/${metadata.name}`, `--server=https://127.0.0.1:${kubelet.port}`, ...args);
    expect(await explain(`--certificate-authority=${ca}`)).toEqual({ code: 1, text: "" });
    expect(await explain(`--certificate-authority=${ca}`, `--client-certificate=${pem}`)).toEqual({
      code: 0,
      text: expect.stringContaining("CrashLoopBackOff") as string,
    });
    const server = `--server=https://127.0.0.1:${kubelet.port}`;
    expect(await run("pressure", server, `--certificate-authority=${ca}`, `--client-certificate=${pem}`)).toEqual({
      code: 0,
      text: expect.stringMatching(/^memory\.available +[\d.]+Gi +hard 100Mi +[\d.]+Gi /m) as string,
    });
    await node.daemon.until("crash", (pod) => restarts(pod) > restarts({ metadata, ...before }), "started again");
    expect((await node.daemon.events("crash")).filter(({ reason }) => reason === "RetryNow")).toHaveLength(1);
  });

  it("says why a container cannot be checkpointed by a runtime that does not know how", async () => {
    await node.daemon.put("web.json", manifest("web", { containers: [server()] }));
    const pod = (await node.daemon.until("web", isRunning, "Running")).metadata.name;
    const { status, body } = await request(`/checkpoint/default/${pod}/main`, { method: "POST" });
    expect([status, body]).toEqual([
      500,
      expect.stringMatching(new RegExp(`^checkpointing of default/${pod}/main failed \\(.+CheckpointContainer.+\\)$`)),
    ]);
    expect((await request(`/checkpoint/default/${pod}/other`, { method: "POST" })).body).toBe(
      "container other does not exist",
    );
  });

  it("attaches to a container's own process", async () => {
    const main = script("main", "while read line; do echo heard $line; done", { stdin: true });
    await node.daemon.put("echo.json", manifest("echo", { containers: [main] }));
    const { metadata } = await node.daemon.until("echo", isRunning, "Running");
    const socket = await open(`/attach/${metadata.namespace}/${metadata.name}/main`, "input=1&output=1");
    await waitFor("an answer", () => {
      socket.send(CHANNEL.stdin, "you\n");
      return String(socket.heard(CHANNEL.stdout)).includes("heard you\n");
    });
    socket.close();
    await socket.closed;
  });

  it("forwards a hundred connections to ports of a pod at once", async () => {
    // The pod shares the network of this machine, where a server of the test listens.
    const sockets = new Set<Socket>();
    const http = createServer((_request, answer) => answer.end("hello from the pod"));
    http.on("connection", (socket) => sockets.add(socket));
    const port = await new Promise<number>((resolve) =>
      http.listen(0, "127.0.0.1", () => resolve((http.address() as AddressInfo).port)),
    );
    await node.daemon.put("net.json", manifest("net", { hostNetwork: true, containers: [server()] }));
    const { metadata } = await node.daemon.until("net", isRunning, "Running");
    const path = `/portForward/${metadata.namespace}/${metadata.name}`;
    const one = async () => {
      const socket = await open(path, `port=${port}`);
      socket.send(0, "GET / HTTP/1.0\r\n\r\n");
      await waitFor("the answer", () => String(socket.heard(0)).includes("hello from the pod"));
      socket.close();
      await socket.closed;
      return socket.heard(0).readUInt16LE(0);
    };
    expect(await Promise.all(Array.from({ length: 100 }, one))).toEqual(Array.from({ length: 100 }, () => port));
    http.close();
    for (const socket of sockets) socket.destroy();
  });
});
