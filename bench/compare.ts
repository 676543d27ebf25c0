/**
 * Compares kubelets side by side: `npm run bench:compare -- --kubeconfig=FILE [--upstream=PROGRAM] [--pods=100]
 * [--many=230] [--runs=3] [--parts=starts,burst,probes,streams,reactions,kills,many]` (root, containerd, CNI plugins,
 * kubectl; RXLET_CONTAINERD names another containerd). The kubeconfig is an administrator's of a cluster whose API server
 * is all that is needed: pods are bound to the node when they are made. Each kubelet gets a fresh node in each run, the
 * parts one after the other; a figure is the median of the runs, beside its ratio to the other kubelet's.
 */
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { compareKubelets, type Figures, noteMemory, SETTLE_MS } from "./compare/comparison.ts";
import { killUnderLoad } from "./compare/kills.ts";
import { burstOf, restartWith } from "./compare/manyPods.ts";
import { type Candidate, type MeasuredKubelet, onMeasuredKubelet } from "./compare/measuredKubelet.ts";
import { singlePods, staticPods } from "./compare/podStarts.ts";
import { podStreams } from "./compare/podStreams.ts";
import { probedPods } from "./compare/probedPods.ts";
import { configMapFiles, restarts } from "./compare/reactions.ts";

const { values: flags } = parseArgs({
  options: {
    kubeconfig: { type: "string" },
    upstream: { type: "string" },
    pods: { type: "string", default: "100" },
    many: { type: "string", default: "230" },
    runs: { type: "string", default: "3" },
    parts: { type: "string" },
  },
});

type Measure = (kubelet: MeasuredKubelet, figures: Figures) => Promise<void>;

const PARTS: Readonly<Record<string, readonly Measure[]>> = {
  starts: [singlePods, staticPods],
  burst: [burstOf(Number(flags.pods))],
  probes: [probedPods],
  streams: [podStreams],
  reactions: [restarts, configMapFiles],
  kills: [killUnderLoad],
  many: [restartWith(Number(flags.many))],
};

/** Measures a candidate once. */
async function measured(candidate: Candidate, kubeconfig: string, measures: readonly Measure[]): Promise<Figures> {
  const figures: Figures = new Map();
  await onMeasuredKubelet(candidate, kubeconfig, async (kubelet) => {
    await pause(SETTLE_MS);
    noteMemory(figures, "just started", kubelet.pid);
    for (const measure of measures) await measure(kubelet, figures);
  });
  return figures;
}

const { kubeconfig, upstream, runs, parts } = flags;
if (kubeconfig === undefined) throw new Error("--kubeconfig is missing: an administrator's of a cluster");
const measures = (parts?.split(",") ?? Object.keys(PARTS)).flatMap((part) => {
  const found = PARTS[part];
  if (found === undefined) throw new Error(`--parts: ${part} is not one of ${Object.keys(PARTS).join(", ")}`);
  return found;
});
await compareKubelets({ upstream, runs: Number(runs) }, (candidate) => measured(candidate, kubeconfig, measures));
