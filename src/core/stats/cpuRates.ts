/**
 * Computes the CPU rate (`usageNanoCores`) from the CPU times of two measurements where only these are known. A counter
 * that decreased was reset. Upstream: getAndUpdateContainerUsageNanoCores. Differs from upstream: measures from one
 * request to the next instead of every 10 s, so that an idle endpoint causes no measurements.
 */
import type { EpochMs } from "../ids.ts";
import type { CpuStats, Summary } from "./summary.ts";

interface CpuSample {
  readonly time: EpochMs;
  readonly nanoSeconds: number;
  readonly nanoCores: number | undefined;
}

/** Previous samples of the node, its system containers, pods and containers, by key. */
export type CpuSamples = ReadonlyMap<string, CpuSample>;

const MS_PER_SECOND = 1_000;

/** Returns the summary with rates, and the samples for the next call, which cover only this summary. */
export function withCpuRates(
  before: CpuSamples,
  { node, pods }: Summary,
): { readonly summary: Summary; readonly samples: CpuSamples } {
  const samples = new Map<string, CpuSample>();
  const rated = <T extends { readonly cpu?: CpuStats }>(key: string, owner: T): T => {
    const { cpu } = owner;
    if (cpu?.usageCoreNanoSeconds === undefined || cpu.usageNanoCores !== undefined) return owner;
    const sample = nextSample(before.get(key), cpu.time, cpu.usageCoreNanoSeconds);
    samples.set(key, sample);
    return sample.nanoCores === undefined ? owner : { ...owner, cpu: { ...cpu, usageNanoCores: sample.nanoCores } };
  };
  const summary: Summary = {
    node: {
      ...rated("", node),
      ...(node.systemContainers && {
        systemContainers: node.systemContainers.map((each) => rated(`/${each.name}/${each.startTime}`, each)),
      }),
    },
    pods: pods.map((pod) => {
      const { uid } = pod.podRef;
      const containers = pod.containers.map((each) => rated(`${uid}/${each.name}/${each.startTime}`, each));
      return { ...rated(uid, pod), containers };
    }),
  };
  return { summary, samples };
}

function nextSample(before: CpuSample | undefined, time: EpochMs, nanoSeconds: number): CpuSample {
  if (before === undefined || nanoSeconds < before.nanoSeconds) return { time, nanoSeconds, nanoCores: undefined };
  if (time <= before.time) return before;
  const nanoCores = Math.round(((nanoSeconds - before.nanoSeconds) * MS_PER_SECOND) / (time - before.time));
  return { time, nanoSeconds, nanoCores };
}
