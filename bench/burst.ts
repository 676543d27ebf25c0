/**
 * A burst of pods with token volumes from the API server's double, beside the floor: the same CRI calls of as many pods, all at
 * once, made by a bare client in the same run. `node bench/burst.ts` [pods] [rounds] (root, containerd, CNI plugins;
 * RXLET_CONTAINERD names another containerd). `bench/compare.ts` measures the same beside another kubelet, in a real cluster.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Pod } from "../src/core/api.ts";
import { NODE_NAME } from "../test/support/daemon.ts";
import { PAUSE_IMAGE } from "../test/support/images.ts";
import { type BenchApiServer, startBenchApiServer } from "./apiServer.ts";
import { removeBarePod, startBarePod } from "./bareClient.ts";
import { bareContext } from "./bareContext.ts";
import { type BenchNode, isRunning, manifestOf, onBenchNode } from "./benchNode.ts";
import { printFigure } from "./figures.ts";
import { cpuMs, memoryMib } from "./processUse.ts";

const pods = Number(process.argv[2] ?? 60);
const rounds = Number(process.argv[3] ?? 2);
const SETTLE_MS = 10_000;
const IDLE_SETTLE_MS = 40_000;
const IDLE_MS = 20_000;

interface Floor {
  readonly startedMs: number;
  readonly goneMs: number;
}

async function measureFloor(node: BenchNode): Promise<Floor> {
  const client = node.containerd.client();
  const context = await bareContext(node);
  await node.daemon.put("sample.json", manifestOf("sample"));
  const sample = await node.daemon.until("sample", isRunning);
  const names = Array.from({ length: pods }, (_, index) => `bare-${index}`);
  const startedAt = performance.now();
  const bare = await Promise.all(names.map((name) => startBarePod(client, sample, context, name)));
  const startedMs = performance.now() - startedAt;
  const removedAt = performance.now();
  await Promise.all(bare.map((pod) => removeBarePod(client, pod)));
  return { startedMs, goneMs: performance.now() - removedAt };
}

/** The volume that an API server gives each pod, and a container that mounts it. */
function podSpec(): Partial<Pod["spec"]> {
  const name = "kube-api-access";
  const namespace = { path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } };
  const sources = [
    { serviceAccountToken: { expirationSeconds: 3_607, path: "token" } },
    { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
    { downwardAPI: { items: [namespace] } },
  ];
  const mount = { name, readOnly: true, mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" };
  return {
    nodeName: NODE_NAME,
    serviceAccountName: "default",
    terminationGracePeriodSeconds: 1,
    volumes: [{ name, projected: { defaultMode: 0o644, sources } }],
    containers: [{ name: "main", image: PAUSE_IMAGE, volumeMounts: [mount] }],
  };
}

function printMemory(label: string, pid: number): void {
  const { rss, anonymous } = memoryMib(pid);
  printFigure(`${label}: RSS`, rss, "MiB");
  printFigure("  anonymous", anonymous, "MiB");
}

async function burst(api: BenchApiServer, { daemon: { pid } }: BenchNode, round: number, floor: Floor): Promise<void> {
  const names = Array.from({ length: pods }, (_, index) => `burst-${round}-${index}`);
  console.log(`\nburst ${round + 1} of ${pods} pods`);
  const before = cpuMs(pid);
  const createdAt = performance.now();
  await Promise.all(names.map((name) => api.put(name, podSpec())));
  await api.untilReady(names);
  const readyMs = performance.now() - createdAt;
  printFigure("created -> last Ready", readyMs, "ms", `${(readyMs / floor.startedMs).toFixed(2)} of the bare calls`);
  printFigure("CPU of the daemon per pod", (cpuMs(pid) - before) / pods, "ms");
  printMemory("after it", pid);
  await pause(IDLE_SETTLE_MS);
  const idle = cpuMs(pid);
  await pause(IDLE_MS);
  printFigure(`CPU with ${pods} idle pods`, ((cpuMs(pid) - idle) / IDLE_MS) * 100, "%", "of a core");
  printMemory(`${pods} idle pods`, pid);
  const ending = cpuMs(pid);
  const deletedAt = performance.now();
  await api.remove(names);
  await api.untilGone(names);
  const goneMs = performance.now() - deletedAt;
  printFigure("deleted -> last gone", goneMs, "ms", `${(goneMs / floor.goneMs).toFixed(2)} of the bare calls`);
  printFigure("CPU of the daemon per pod", (cpuMs(pid) - ending) / pods, "ms");
}

const api = await startBenchApiServer();
try {
  await api.putServiceAccount();
  await onBenchNode(
    async (node) => {
      await pause(SETTLE_MS);
      printMemory("just started", node.daemon.pid);
      const floor = await measureFloor(node);
      printFigure(`the bare calls: ${pods} pods started`, floor.startedMs, "ms");
      printFigure("  removed", floor.goneMs, "ms");
      for (let round = 0; round < rounds; round += 1) await burst(api, node, round, floor);
    },
    async (folder) => ["--kubeconfig", await api.kubeconfig(folder)],
  );
} finally {
  api.close();
}
