/**
 * How fast pods start, restart and go on a real containerd, beside the floor: the same CRI calls made by a bare client
 * in the same run. `node bench/startup.ts` (root, containerd, CNI plugins; RXLET_CONTAINERD names another containerd).
 *
 * For scale, kubelet 1.36.2 on the same kind of machine (2 cores, containerd, runc, pause image on the node), p50:
 * manifest renamed -> Ready 228 ms; manifest unlinked -> gone 3467 ms (grace 1 s); burst of 30 -> Ready 3892 ms;
 * container exits -> first restart 522 ms; CPU per pod in a burst of 30: 24 ms.
 */
import { rename, rm, writeFile } from "node:fs/promises";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { firstValueFrom } from "rxjs";
import type { Pod } from "../src/core/api.ts";
import { podCgroupName } from "../src/core/resources/podCgroup.ts";
import type { NodeContext } from "../src/core/container/nodeContext.ts";
import { podDir, podLogDir } from "../src/core/paths.ts";
import type { CriClient } from "../src/sinks/cri.ts";
import { BUSYBOX_IMAGE } from "../test/support/images.ts";
import { cgroupFolders } from "../test/support/kernelState.ts";
import { waitFor } from "../test/support/waitFor.ts";
import { type BarePod, removeBarePod, startBarePod } from "./bareClient.ts";
import { bareContext } from "./bareContext.ts";
import { type BenchNode, manifestOf, onBenchNode } from "./benchNode.ts";
import { median, printFigure, printRow, printTitle, wallMs } from "./figures.ts";
import { cpuMs } from "./processUse.ts";
import { RuntimeLog, spentIn } from "./runtimeLog.ts";

const ONE_POD_RUNS = 20;
const RESTARTS = 10;
const BURST = 50;
/** Pauses of the loops that wait; half of it is in every figure they end. */
const LOOK_EVERY_MS = 1;
/** A pod stays this long before it is removed, so that nothing of its start is under way any more. */
const SETTLE_MS = 400;

interface Bench extends BenchNode {
  readonly client: CriClient;
  readonly log: RuntimeLog;
  readonly context: NodeContext;
  /** A pod as the daemon sees it: defaults applied. */
  readonly sample: Pod;
}

const runtimeName = ({ daemon }: BenchNode, name: string): string => `${name}-${daemon.nodeName}`;

async function onePod(bench: Bench): Promise<void> {
  const floors: BarePod[] = [];
  const floorRemovals: number[] = [];
  const started: Started[] = [];
  const removed: Removed[] = [];
  for (let run = 0; run < ONE_POD_RUNS; run += 1) {
    const bare = await startBarePod(bench.client, bench.sample, bench.context, `bare-${run}`);
    floors.push(bare);
    await pause(SETTLE_MS);
    floorRemovals.push(await removeBarePod(bench.client, bare));
    await pause(SETTLE_MS);
    started.push(await startPod(bench, `one-${run}`));
    await pause(SETTLE_MS);
    removed.push(await removePod(bench, `one-${run}`));
    await pause(SETTLE_MS);
  }
  const floorMs = median(floors.map(({ totalMs }) => totalMs));
  const floorReads = median(floors.map(({ took }) => (took["PodSandboxStatus"] ?? 0) + (took["ImageStatus"] ?? 0)));
  printTitle(`one pod, ${ONE_POD_RUNS} times (ms)`);
  const totals = started.map(({ startedMs }) => startedMs);
  printRow("manifest renamed -> StartContainer has returned", totals);
  const floorTotals = floors.map(({ totalMs }) => totalMs);
  printRow("  floor: the five CRI calls of a bare client", floorTotals);
  printRow(
    "  over the floor's p50",
    totals.map((ms) => ms - floorMs),
    "aim: p50 30, p99 100",
  );
  printRow(
    "  outside the runtime's own calls",
    started.map(({ startedMs, runtimeMs }) => startedMs - runtimeMs - floorReads),
    "the same, free of the runtime's jitter",
  );
  printRow(
    "  of that, before RunPodSandbox",
    started.map(({ untilFirstCallMs }) => untilFirstCallMs),
  );
  printRow(
    "StartContainer has returned -> Running visible on /pods",
    started.map(({ visibleMs }) => visibleMs),
    "aim: 50",
  );
  printFigure("manifest renamed -> Running visible, ratio to the floor", ratio(started, floorMs), "x");
  printTitle(`its removal, ${ONE_POD_RUNS} times (ms)`);
  printRow(
    "manifest unlinked -> gone from runtime and disk",
    removed.map(({ goneMs }) => goneMs),
  );
  printRow("  floor: the four CRI calls of a bare client", floorRemovals);
  printRow(
    "  outside the runtime's own calls",
    removed.map(({ goneMs, runtimeMs }) => goneMs - runtimeMs),
    "aim: 150",
  );
}

const ratio = (started: readonly Started[], floorMs: number): number =>
  median(started.map(({ startedMs, visibleMs }) => startedMs + visibleMs)) / floorMs;

interface Started {
  readonly startedMs: number;
  readonly untilFirstCallMs: number;
  /** Time that the runtime spent in RunPodSandbox, CreateContainer and StartContainer. */
  readonly runtimeMs: number;
  readonly visibleMs: number;
}

async function startPod(bench: Bench, name: string): Promise<Started> {
  const { daemon, log } = bench;
  const known = runtimeName(bench, name);
  const renamedAt = await renameInto(bench, name);
  const end = await until(`${name} to start`, () => log.ended(known, "StartContainer")?.endedAt);
  await until(`${name} to show as Running`, async () => {
    const pod = await daemon.pod(name);
    return pod?.status?.phase === "Running" ? true : undefined;
  });
  const visibleAt = wallMs();
  const pod = log.pod(known);
  return {
    startedMs: end - renamedAt,
    untilFirstCallMs: (pod?.calls[0]?.beganAt ?? Number.NaN) - renamedAt,
    runtimeMs: spentIn(pod, ["RunPodSandbox", "CreateContainer", "StartContainer"]),
    visibleMs: visibleAt - end,
  };
}

/** The manifest appears under its name; the result is when. */
async function renameInto({ daemon, folder }: Bench, name: string, container = {}): Promise<number> {
  const aside = join(folder, `${name}.json.new`);
  await writeFile(aside, JSON.stringify(manifestOf(name, container)));
  const at = wallMs();
  await rename(aside, join(daemon.manifests, `${name}.json`));
  return at;
}

interface Removed {
  readonly goneMs: number;
  readonly runtimeMs: number;
}

async function removePod(bench: Bench, name: string): Promise<Removed> {
  const { log, daemon } = bench;
  const known = runtimeName(bench, name);
  const isGone = goneOf(bench, name);
  const unlinkedAt = wallMs();
  await rm(join(daemon.manifests, `${name}.json`));
  await until(`${name} to go`, () => (isGone() ? true : undefined));
  const goneAt = wallMs();
  const spent = spentIn(log.pod(known), ["StopContainer", "StopPodSandbox", "RemoveContainer", "RemovePodSandbox"]);
  return { goneMs: goneAt - unlinkedAt, runtimeMs: spent };
}

/** Whether the runtime, the pod's directories, its logs with their links, and its cgroup are gone. */
function goneOf(bench: Bench, name: string): () => boolean {
  const { context, log, sample } = bench;
  const known = runtimeName(bench, name);
  const metadata = { ...sample.metadata, name: known, uid: log.pod(known)?.uid ?? "" };
  const { directories } = context;
  const paths = [
    podDir(directories, metadata.uid),
    podLogDir(directories, metadata),
    ...cgroupFolders(podCgroupName({ ...sample, metadata }, context)),
  ];
  const hasLink = (): boolean => readdirSync(directories.containerLogsDir).some((link) => link.startsWith(`${known}_`));
  return () => log.ended(known, "RemovePodSandbox") !== undefined && !paths.some(existsSync) && !hasLink();
}

async function restarts(bench: Bench): Promise<void> {
  const decisions: number[] = [];
  const restarted: number[] = [];
  const floors: number[] = [];
  for (let run = 0; run < RESTARTS; run += 1) {
    const name = `restart-${run}`;
    const known = runtimeName(bench, name);
    const command = ["/bin/sh", "-c", "sleep 0.7; exit 1"];
    await renameInto(bench, name, { image: BUSYBOX_IMAGE, command });
    const startedAt = await until(`${name} to restart`, () => bench.log.ended(known, "StartContainer", 1)?.endedAt);
    const calls = bench.log.pod(known)?.calls ?? [];
    const created = calls.filter(({ method }) => method === "CreateContainer");
    const starts = calls.filter(({ method }) => method === "StartContainer");
    const { status } = await firstValueFrom(
      bench.client.runtime.containerStatus({ containerId: starts[0]?.id ?? "", verbose: false }),
    );
    const finishedAt = Number(status?.finishedAt ?? 0n) / 1e6;
    const [create, start] = [created[1], starts[1]];
    if (create === undefined || start === undefined) throw new Error(`${name} was not restarted`);
    decisions.push(create.beganAt - finishedAt);
    restarted.push(startedAt - finishedAt);
    floors.push((create.endedAt ?? Number.NaN) - create.beganAt + startedAt - start.beganAt);
    await removePod(bench, name);
  }
  printTitle(`container exits, ${RESTARTS} times (ms)`);
  printRow("exit -> CreateContainer of the next attempt", decisions, "aim: 50");
  printRow("exit -> the next attempt runs", restarted);
  printRow("  floor: CreateContainer and StartContainer", floors);
}

async function burst(bench: Bench): Promise<void> {
  const { client, sample, context, daemon, folder, log } = bench;
  const names = Array.from({ length: BURST }, (_, index) => `burst-${index}`);
  const floorStart = performance.now();
  const floors = await Promise.all(
    names.map(async (_, index) => {
      const bare = await startBarePod(client, sample, context, `bare-burst-${index}`);
      return { bare, ms: performance.now() - floorStart };
    }),
  );
  const floorRemoval = performance.now();
  await Promise.all(floors.map(({ bare }) => removeBarePod(client, bare)));
  const floorGoneMs = performance.now() - floorRemoval;
  await pause(2_000);

  const cpuBefore = cpuMs(daemon.pid);
  for (const name of names) {
    await writeFile(join(folder, `${name}.json.new`), JSON.stringify(manifestOf(name)));
  }
  const renamedAt = wallMs();
  for (const name of names) {
    await rename(join(folder, `${name}.json.new`), join(daemon.manifests, `${name}.json`));
  }
  const ends = await Promise.all(
    names.map((name) => until(name, () => log.ended(runtimeName(bench, name), "StartContainer")?.endedAt, 20)),
  );
  const startedMs = ends.map((at) => at - renamedAt);
  await until("all to show as Running", async () => {
    const pods = await daemon.pods();
    return pods.filter(({ status }) => status?.phase === "Running").length >= BURST ? true : undefined;
  });
  const visibleMs = wallMs() - Math.max(...ends);
  const cpuPerPod = (cpuMs(daemon.pid) - cpuBefore) / BURST;
  await pause(2_000);
  const gone = names.map((name) => goneOf(bench, name));
  const unlinkedAt = wallMs();
  for (const name of names) await rm(join(daemon.manifests, `${name}.json`));
  const goneMs = await Promise.all(
    gone.map(async (isGone, index) => {
      await until(`${names[index]} to go`, () => (isGone() ? true : undefined), 20);
      return wallMs() - unlinkedAt;
    }),
  );
  printTitle(`burst of ${BURST} (ms)`);
  printRow("manifests renamed -> StartContainer has returned", startedMs);
  printRow(
    "  floor: a bare client, all pods at once",
    floors.map(({ ms }) => ms),
  );
  const floorMs = floors.map(({ ms }) => ms);
  printFigure("  ratio of the last ones", Math.max(...startedMs) / Math.max(...floorMs), "x");
  printFigure("last StartContainer has returned -> all Running on /pods", visibleMs, "ms");
  printFigure("CPU of the daemon per pod", cpuPerPod, "ms");
  printRow("manifests unlinked -> gone from runtime and disk", goneMs);
  printFigure("  floor: a bare client, all pods at once, the last", floorGoneMs, "ms");
}

/** Looks every LOOK_EVERY_MS until there is a value. */
async function until<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  everyMs = LOOK_EVERY_MS,
): Promise<T> {
  const end = performance.now() + 60_000;
  for (;;) {
    const value = await look();
    if (value !== undefined) return value;
    if (performance.now() > end) return waitFor(what, look, 1);
    await pause(everyMs);
  }
}

await onBenchNode(async (node) => {
  const client = node.containerd.client();
  const log = new RuntimeLog(node.containerd.folder);
  const context = await bareContext(node);
  await node.daemon.put("warm-up.json", manifestOf("warm-up"));
  const sample = await node.daemon.until("warm-up", ({ status }) => status?.phase === "Running");
  const bench = { ...node, client, log, context, sample };
  await onePod(bench);
  await restarts(bench);
  await burst(bench);
  log.close();
});
