/** Effects of pod fields on containerd, several per pod: probes, hooks, restart rules, sidecars, namespaces, DNS. */
import { readlinkSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { type Server as GrpcServer, Server, ServerCredentials } from "@grpc/grpc-js";
import { afterEach, expect, it } from "vitest";
import type { ApiContainerStatus, Pod } from "../../src/core/api.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { loopbackServers } from "../support/loopbackServer.ts";
import { waitFor } from "../support/waitFor.ts";
import { containerdNode } from "./containerdNode.ts";
import { manifest, script, server } from "./manifests.ts";

const LOOPBACK = "127.0.0.1";

const statusOf = (pod: Pod, name: string): ApiContainerStatus | undefined =>
  [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].find(
    (status) => status.name === name,
  );

/** The health service on every address: what it was asked about, and an answer that can be changed. */
async function healthService() {
  const asked: string[] = [];
  const state = { serving: false };
  const bytes = (value: Buffer): Buffer => value;
  const method = { requestStream: false, responseStream: false, requestSerialize: bytes, requestDeserialize: bytes };
  const check = {
    ...method,
    path: "/grpc.health.v1.Health/Check",
    responseSerialize: bytes,
    responseDeserialize: bytes,
  };
  const grpc = new Server();
  grpc.addService(
    { check },
    {
      check(call: { readonly request: Buffer }, answer: (error: null, value: Buffer) => void) {
        asked.push(call.request.subarray(2).toString());
        answer(null, Buffer.from([8, state.serving ? 1 : 2]));
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    grpc.bindAsync("0.0.0.0:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return { grpc, port, asked, state };
}

describeOnContainerd("fields of pods on containerd", (installation) => {
  const node = containerdNode(installation, { config: { clusterDNS: ["192.0.2.10"], clusterDomain: "cluster.local" } });
  const servers = loopbackServers();
  const open: GrpcServer[] = [];
  afterEach(() => {
    for (const grpc of open.splice(0)) grpc.forceShutdown();
  });

  it("probes containers over HTTP, gRPC, TCP and by commands, and calls hooks around their lives", async () => {
    const { daemon } = node;
    const requests: IncomingMessage[] = [];
    const http = await servers.http((request, response) => {
      requests.push(request);
      if (request.url === "/moved") response.writeHead(302, { location: "/here" });
      response.end();
    });
    const tcp = await servers.tcp((socket) => socket.end());
    const health = await healthService();
    open.push(health.grpc);
    const often = { periodSeconds: 1, failureThreshold: 1 };
    const get = (path: string) => ({ httpGet: { host: LOOPBACK, port: http, path } });
    const headers = [
      { name: "Host", value: "shop.example" },
      { name: "X-Probe", value: "yes" },
    ];
    await daemon.put(
      "probed.json",
      manifest("probed", {
        hostNetwork: true,
        terminationGracePeriodSeconds: 10,
        containers: [
          server("web", ":", {
            readinessProbe: { ...often, httpGet: { ...get("/moved").httpGet, httpHeaders: headers } },
            lifecycle: { postStart: get("/started"), preStop: get("/stopping") },
          }),
          server("rpc", ":", {
            readinessProbe: { ...often, grpc: { port: health.port, service: "shop" } },
            lifecycle: { preStop: { sleep: { seconds: 1 } } },
          }),
          server("line", "sleep 1; touch /up", {
            startupProbe: { periodSeconds: 1, failureThreshold: 30, exec: { command: ["test", "-e", "/up"] } },
            readinessProbe: { ...often, tcpSocket: { host: LOOPBACK, port: tcp } },
            livenessProbe: { periodSeconds: 1, exec: { command: ["true"] } },
          }),
        ],
      }),
    );
    const ready = (pod: Pod, ...names: readonly string[]): boolean =>
      names.every((name) => statusOf(pod, name)?.ready === true);
    const before = await daemon.until("probed", (pod) => ready(pod, "web", "line"), "ready but for rpc");
    expect([statusOf(before, "rpc")?.ready, statusOf(before, "line")?.started]).toEqual([false, true]);
    await waitFor("a probe to be refused", () => health.asked.length > 0);
    health.state.serving = true;
    const pod = await daemon.until("probed", (each) => ready(each, "web", "rpc", "line"), "ready");
    expect(pod.status?.containerStatuses?.map(({ restartCount }) => restartCount)).toEqual([0, 0, 0]);
    const [probe] = requests.filter(({ url }) => url === "/moved");
    const { host, accept } = probe?.headers ?? {};
    expect([host, probe?.headers["x-probe"], accept, probe?.headers["user-agent"]]).toEqual([
      "shop.example",
      "yes",
      "*/*",
      expect.stringMatching(/^kube-probe\/1\.36$/),
    ]);
    expect([requests[0]?.url, requests.some(({ url }) => url === "/here"), new Set(health.asked)]).toEqual([
      "/started",
      true,
      new Set(["shop"]),
    ]);
    const reported = (await daemon.events("probed")).map(({ message }) => message);
    expect(reported).toContain(`Readiness probe failed: service unhealthy (responded with "NOT_SERVING")`);
    await daemon.drop("probed.json");
    await daemon.untilGone("probed");
    expect(requests.filter(({ url }) => url === "/stopping")).toHaveLength(1);
  });

  it("restarts by rules, gates on a sidecar's startup probe, and tells of resources and DNS", async () => {
    const { daemon } = node;
    const work = [{ name: "work", mountPath: "/work" }];
    const rule = { action: "Restart", exitCodes: { operator: "In" as const, values: [42] } };
    const resource = (name: string, divisor: string) => ({
      valueFrom: { resourceFieldRef: { resource: name, divisor } },
    });
    const tell = [
      "[ -e /work/up ] && echo after the sidecar",
      "echo '$(CPU) $(MEMORY) $$(CPU)'",
      "cat /proc/self/oom_score_adj /etc/resolv.conf",
    ].join("; ");
    await daemon.put(
      "ruled.json",
      manifest("ruled", {
        restartPolicy: "Never",
        dnsPolicy: "ClusterFirst",
        dnsConfig: { nameservers: ["192.0.2.11", "192.0.2.12", "192.0.2.13"] },
        volumes: [{ name: "work", emptyDir: {} }],
        initContainers: [
          server("sidecar", "sleep 0.5; touch /work/up", {
            restartPolicy: "Always",
            volumeMounts: work,
            startupProbe: { periodSeconds: 1, failureThreshold: 30, exec: { command: ["test", "-e", "/work/up"] } },
          }),
        ],
        containers: [
          script("main", `[ -e /work/again ] || { touch /work/again; exit 42; }; ${tell}`, {
            volumeMounts: work,
            restartPolicy: "Never",
            restartPolicyRules: [rule],
            resources: { limits: { cpu: "500m", memory: "64Mi" } },
            env: [
              { name: "CPU", ...resource("limits.cpu", "1m") },
              { name: "MEMORY", ...resource("limits.memory", "1Mi") },
            ],
          }),
        ],
      }),
    );
    const pod = await daemon.until("ruled", ({ status }) => status?.phase === "Succeeded", "Succeeded");
    const main = statusOf(pod, "main");
    expect([main?.restartCount, main?.lastState?.terminated?.exitCode, main?.state?.terminated?.exitCode]).toEqual([
      1, 42, 0,
    ]);
    const lines = await node.output(pod, "main", 1);
    expect(lines.slice(0, 2)).toEqual(["after the sidecar", "500 64 $(CPU)"]);
    expect(lines.slice(3, 5)).toEqual([
      expect.stringMatching(/^search default\.svc\.cluster\.local svc\.cluster\.local cluster\.local/),
      "nameserver 192.0.2.10",
    ]);
    expect(lines.at(-1)).toMatch(/^options .*ndots:5/);
    expect((await daemon.events("ruled")).find(({ reason }) => reason === "DNSConfigForming")?.message).toBe(
      "Nameserver limits were exceeded, some nameservers have been omitted, " +
        "the applied nameserver line is: 192.0.2.10 192.0.2.11 192.0.2.12",
    );
  });

  it("holds a crashing container back for as long as its pod asks, explains that, and retries when asked to", async () => {
    const { daemon } = node;
    const crasher = (annotations: Readonly<Record<string, string>>) =>
      manifest(
        "crasher",
        { containers: [script("main", "exit 3")] },
        { annotations: { "rxlet.dev/crash-loop-initial-delay": "1m", ...annotations } },
      );
    await daemon.put("crasher.json", crasher({}));
    const waiting = (pod: Pod) => statusOf(pod, "main")?.state?.waiting;
    const heldBack = (restarts: number) =>
      daemon.until(
        "crasher",
        (pod) => waiting(pod)?.reason === "CrashLoopBackOff" && statusOf(pod, "main")?.restartCount === restarts,
        `held back after ${restarts} restarts`,
      );
    const first = await heldBack(1);
    expect(waiting(first)?.message).toMatch(/^back-off 1m0s restarting failed container=main .* next-try=/);
    const page = `${daemon.readOnlyUrl}/debug/rxlet/pods/default/${first.metadata.name}/timeline?format=text`;
    expect(await (await fetch(page)).text()).toMatch(
      /\n {2}main: CrashLoopBackOff for .*; next try at [\s\S]*\n {2}To retry at once: rxlet retry \S+, or change the pod's annotation rxlet.dev\/retry-at\n/,
    );
    await daemon.put("crasher.json", crasher({ "rxlet.dev/retry-at": "now" }));
    const second = await daemon.until("crasher", (pod) => (statusOf(pod, "main")?.restartCount ?? 0) > 1, "retried");
    expect(second.metadata.uid).toBe(first.metadata.uid);
    expect((await daemon.events("crasher")).map(({ reason }) => reason)).toContain("RetryNow");
  });

  it("shares the host's processes and IPC when it may, and is scored by its class for the OOM killer", async () => {
    const { daemon } = node;
    const spaces = ["pid", "ipc"];
    const tell = "readlink /proc/self/ns/pid; readlink /proc/self/ns/ipc";
    const hosted = { hostPID: true, hostIPC: true, containers: [server("main", `${tell}; echo end`)] };
    await daemon.put("hosted.json", manifest("hosted", hosted));
    const scored = server("main", `${tell}; cat /proc/self/oom_score_adj; echo end`);
    await daemon.put("apart.json", manifest("apart", { containers: [scored] }));
    const running = (name: string): Promise<Pod> =>
      daemon.until(name, ({ status }) => status?.phase === "Running", "Running");
    const own = spaces.map((space) => readlinkSync(`/proc/self/ns/${space}`));
    expect(await node.untilOutput(await running("hosted"), "main", "end")).toEqual([...own, "end"]);
    const apart = await node.untilOutput(await running("apart"), "main", "end");
    expect([apart.slice(0, 2).filter((space) => own.includes(space)), apart.slice(2)]).toEqual([[], ["1000", "end"]]);
  });
});
