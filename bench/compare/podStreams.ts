/** Throughput and cost of kubectl's exec and port-forward through a kubelet, by SPDY as an API server opens them. */
import { once } from "node:events";
import { connect } from "node:net";
import type { Pod } from "../../src/core/api.ts";
import { BUSYBOX_IMAGE } from "../../test/support/images.ts";
import { type Kubectl, kubectlAt } from "../../test/support/kubectl.ts";
import { openKubectlGateway } from "../../test/support/kubectlGateway.ts";
import { waitFor } from "../../test/support/waitFor.ts";
import { cpuMs } from "../processUse.ts";
import type { Figures } from "./comparison.ts";
import type { MeasuredKubelet } from "./measuredKubelet.ts";

const MEGABYTES = 300;
const BYTES = MEGABYTES * 1e6;
const PIECE = Buffer.alloc(1 << 16, "abcdefghijklmnop");
const POD = "streams";
/** Command of a shell that writes BYTES to its output. */
const SENDER = `dd if=/dev/zero bs=100000 count=${BYTES / 1e5} 2>/dev/null`;
const PORT = 9000;

/** Three hundred megabytes each way by exec, and out by port-forward. */
export async function podStreams(kubelet: MeasuredKubelet, figures: Figures): Promise<void> {
  const { pods, server, folder } = kubelet;
  const command = ["/bin/sh", "-c", `exec nc -ll -p ${PORT} -e /bin/sh -c '${SENDER}'`];
  await pods.start([{ name: POD, hasToken: false, container: { image: BUSYBOX_IMAGE, command } }]);
  const pod = (await pods.pod(POD)) as unknown as Pod;
  const gateway = await openKubectlGateway(server, () => Promise.resolve([pod]));
  try {
    const kubectl = kubectlAt(
      () => gateway.url,
      () => folder,
      "SPDY",
    );
    const target = ["-n", pod.metadata.namespace, POD];
    await noteStream(kubelet, figures, "exec out", () =>
      receive(kubectl, ["exec", ...target, "--", "sh", "-c", SENDER]),
    );
    await noteStream(kubelet, figures, "exec in", () => send(kubectl, ["exec", "-i", ...target, "--", "wc", "-c"]));
    await noteStream(kubelet, figures, "port-forward", () => forward(kubectl, ["port-forward", ...target, `:${PORT}`]));
  } finally {
    await gateway.close();
  }
  await pods.remove([POD]);
}

/** Runs one stream, which returns the number of bytes that arrived. */
async function noteStream({ pid }: MeasuredKubelet, figures: Figures, label: string, run: () => Promise<number>) {
  const before = cpuMs(pid);
  const startedAt = performance.now();
  const arrived = await run();
  if (arrived !== BYTES) throw new Error(`${label}: ${arrived} of ${BYTES} bytes arrived`);
  const seconds = (performance.now() - startedAt) / 1_000;
  figures.set(`${label} (MB/s)`, MEGABYTES / seconds);
  // Milliseconds per megabyte are seconds per gigabyte.
  figures.set(`${label}, CPU per GB (s)`, (cpuMs(pid) - before) / MEGABYTES);
}

async function counted(stream: AsyncIterable<Buffer>): Promise<number> {
  let bytes = 0;
  for await (const part of stream) bytes += part.length;
  return bytes;
}

function receive(kubectl: Kubectl, args: readonly string[]): Promise<number> {
  const { stdout, stdin } = kubectl.start(...args);
  stdin.end();
  return counted(stdout);
}

/** Sends the bytes and returns how many the program in the pod counted. */
async function send(kubectl: Kubectl, args: readonly string[]): Promise<number> {
  const { stdin, stdout } = kubectl.start(...args);
  stdin.on("error", () => {});
  for (let left = BYTES; left > 0; left -= PIECE.length) {
    if (!stdin.write(PIECE.subarray(0, Math.min(left, PIECE.length)))) await once(stdin, "drain");
  }
  stdin.end();
  let answer = "";
  for await (const part of stdout) answer += String(part);
  return Number(answer);
}

async function forward(kubectl: Kubectl, args: readonly string[]): Promise<number> {
  const child = kubectl.start(...args);
  let output = "";
  child.stdout.on("data", (part: Buffer) => (output += String(part)));
  try {
    const port = await waitFor("kubectl to listen", () => /127\.0\.0\.1:(\d+)/.exec(output)?.[1]);
    return await counted(connect(Number(port), "127.0.0.1"));
  } finally {
    child.kill();
  }
}
