/**
 * Compares kubelets whose pods have claims: `npm run bench:claims -- --kubeconfig=FILE --csi=DIRECTORY
 * [--upstream=PROGRAM] [--pods=50] [--runs=3]` (root, containerd, CNI plugins). The cluster has an API server and a
 * controller manager; `--csi` has the programs of csi-driver-host-path, node-driver-registrar, external-provisioner and
 * external-attacher. Each kubelet gets a fresh node in each run; figures are medians of the runs.
 */
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type ClusterClaims, followClusterClaims } from "./compare/clusterClaims.ts";
import type { NewPod } from "./compare/clusterPods.ts";
import { compareKubelets, type Figures, namesOf, note, SETTLE_MS } from "./compare/comparison.ts";
import { HOST_PATH_DRIVER, type HostPathDriver, startHostPathDriver } from "./compare/hostPathDriver.ts";
import { type Candidate, type MeasuredKubelet, onMeasuredKubelet } from "./compare/measuredKubelet.ts";
import { wallMs } from "./figures.ts";

const SINGLE_RUNS = 10;

const { values: flags } = parseArgs({
  options: {
    kubeconfig: { type: "string" },
    csi: { type: "string" },
    upstream: { type: "string" },
    pods: { type: "string", default: "50" },
    runs: { type: "string", default: "3" },
  },
});

interface Storage {
  readonly claims: ClusterClaims;
  readonly driver: HostPathDriver;
}

const podWith = (claim: string): NewPod => ({
  name: claim,
  hasToken: false,
  container: { volumeMounts: [{ name: "data", mountPath: "/data" }] },
  volumes: [{ name: "data", persistentVolumeClaim: { claimName: claim } }],
});

/** Milliseconds that all calls of the driver have taken so far, as the kubelet reports. */
async function driverMs({ metrics }: MeasuredKubelet): Promise<number> {
  const samples = (await metrics()).matchAll(/^csi_operations_seconds_sum\{.*\} (\S+)$/gm);
  return [...samples].reduce((sum, [, seconds]) => sum + Number(seconds) * 1_000, 0);
}

/** Pods one after the other, each with a bound claim. */
async function singlePods(kubelet: MeasuredKubelet, { claims, driver }: Storage, figures: Figures): Promise<void> {
  const names = namesOf("claim", SINGLE_RUNS);
  await claims.bind(names);
  const starts: number[] = [];
  const stages: number[] = [];
  const afterAttach: number[] = [];
  const ends: number[] = [];
  const detachments: number[] = [];
  const before = await driverMs(kubelet);
  for (const name of names) {
    const [start = Number.NaN] = await kubelet.pods.start([podWith(name)]);
    const attached = await claims.attached(name);
    starts.push(start);
    stages.push(((await driver.stagedAt()).at(-1) ?? Number.NaN) - attached);
    afterAttach.push((await kubelet.pods.ready(name)) - attached);
    await pause(SETTLE_MS);
    const at = wallMs();
    ends.push(...(await kubelet.pods.remove([name])));
    detachments.push((await claims.detached(name)) - at);
  }
  note(figures, "create -> Ready, a claim", starts);
  note(figures, "attached -> NodeStageVolume", stages);
  note(figures, "attached -> Ready", afterAttach);
  note(figures, "delete -> gone, grace 1 s", ends);
  note(figures, "delete -> detached", detachments);
  figures.set("the driver's calls per pod (ms)", ((await driverMs(kubelet)) - before) / SINGLE_RUNS);
  await claims.remove(names);
}

/** The same pods without claims: the floor. */
async function plainPods({ pods }: MeasuredKubelet, figures: Figures): Promise<void> {
  const [starts, ends]: [number[], number[]] = [[], []];
  for (const name of namesOf("plain", SINGLE_RUNS)) {
    starts.push(...(await pods.start([{ name, hasToken: false }])));
    await pause(SETTLE_MS);
    ends.push(...(await pods.remove([name])));
  }
  note(figures, "create -> Ready, no claim", starts);
  note(figures, "delete -> gone, no claim", ends);
}

/** Many pods at once: first without claims as the floor, then with claims. */
async function burst({ pods }: MeasuredKubelet, claims: ClusterClaims, count: number, figures: Figures): Promise<void> {
  const bare = namesOf("bare", count);
  const bareStarts = await pods.start(bare.map((name) => ({ name, hasToken: false })));
  figures.set(`${count} pods without claims, last Ready (ms)`, Math.max(...bareStarts));
  figures.set(`${count} pods without claims, last gone (ms)`, Math.max(...(await pods.remove(bare))));
  await pause(SETTLE_MS);
  const names = namesOf("burst", count);
  await claims.bind(names);
  figures.set(`${count} pods with claims, last Ready (ms)`, Math.max(...(await pods.start(names.map(podWith)))));
  const delays = await Promise.all(names.map(async (name) => (await pods.ready(name)) - (await claims.attached(name))));
  note(figures, `${count} pods with claims, attached -> Ready`, delays);
  const at = wallMs();
  figures.set(`${count} pods with claims, last gone (ms)`, Math.max(...(await pods.remove(names))));
  const detached = await Promise.all(names.map((name) => claims.detached(name)));
  figures.set(`${count} pods with claims, last detached (ms)`, Math.max(...detached) - at);
  await claims.remove(names);
}

async function measured(candidate: Candidate, kubeconfig: string, programs: string, count: number): Promise<Figures> {
  const figures: Figures = new Map();
  await onMeasuredKubelet(candidate, kubeconfig, async (kubelet) => {
    const { folder, nodeName, rootDir } = kubelet;
    const claims = await followClusterClaims(kubeconfig, HOST_PATH_DRIVER, nodeName);
    let driver: HostPathDriver | undefined;
    try {
      driver = await startHostPathDriver({ programs, kubeconfig, nodeName, folder, rootDir });
      await plainPods(kubelet, figures);
      await singlePods(kubelet, { claims, driver }, figures);
      await burst(kubelet, claims, count, figures);
    } finally {
      claims.close();
      await driver?.end();
    }
  });
  return figures;
}

const { kubeconfig, csi, upstream, pods, runs } = flags;
if (kubeconfig === undefined) throw new Error("--kubeconfig is missing: an administrator's of a cluster");
if (csi === undefined) throw new Error("--csi is missing: the directory of the driver's programs");
await compareKubelets({ upstream, runs: Number(runs) }, (candidate) =>
  measured(candidate, kubeconfig, csi, Number(pods)),
);
