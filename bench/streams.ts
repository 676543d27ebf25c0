/**
 * Streams through the kubelet: `node bench/streams.ts` [MB of each stream, default 500]. Exec by WebSocket v5 and
 * port-forward by WebSocket, each in both directions, between a client and a runtime in a process of their own.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { defer, of } from "rxjs";
import { IDLE_RUNTIME, NO_PODS } from "../test/support/kubeletApp.ts";
import { startKubeletListener } from "../test/support/kubeletListener.ts";
import { RUNNING_WEB, WEB } from "../test/support/runningWeb.ts";
import { printFigure } from "./figures.ts";
import { memoryMib } from "./processUse.ts";

/** A stream and the direction of its bytes. */
export interface StreamJob {
  readonly kind: "exec" | "portForward";
  readonly direction: "in" | "out";
  readonly bytes: number;
  readonly port: number;
  readonly certificate: string;
}

const megabytes = Number(process.argv[2] ?? 500);
const peers = fork(path.join(import.meta.dirname, "streamPeers.ts"));
const [runtimeUrl] = (await once(peers, "message")) as [string];
const answer = () => defer(() => of({ url: runtimeUrl }));
const server = await startKubeletListener({
  queries: { ...NO_PODS, pods: () => [WEB], runtimePods: () => [RUNNING_WEB] },
  runtime: { ...IDLE_RUNTIME, exec: answer, attach: answer, portForward: answer },
});
try {
  for (const kind of ["exec", "portForward"] as const)
    for (const direction of ["out", "in"] as const) await measure(kind, direction);
} finally {
  server.close();
  peers.kill();
}

async function measure(kind: StreamJob["kind"], direction: StreamJob["direction"]): Promise<void> {
  const certificate = server.authority.certificate;
  const job: StreamJob = { kind, direction, bytes: megabytes * 1e6, port: server.port, certificate };
  const startedAt = performance.now();
  const before = process.cpuUsage();
  peers.send(job);
  await once(peers, "message");
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(before);
  const cpuSeconds = (user + system) / 1e6;
  const note = `${(cpuSeconds / (megabytes / 1000)).toFixed(2)} s of CPU per GB; RSS ${memoryMib(process.pid).rss.toFixed(0)} MiB`;
  printFigure(`${kind}, ${direction}`, megabytes / seconds, "MB/s", note);
}
