import { describe, expect, it } from "vitest";
import { epochMs } from "../../../../src/core/ids.ts";
import { type CpuSamples, withCpuRates } from "../../../../src/core/stats/cpuRates.ts";
import type { CpuStats, Summary } from "../../../../src/core/stats/summary.ts";

const summaryOf = (cpu: CpuStats, startTime = 0): Summary => ({
  node: { nodeName: "n", startTime: epochMs(0), cpu },
  pods: [
    {
      podRef: { name: "p", namespace: "d", uid: "u" },
      startTime: epochMs(0),
      cpu,
      containers: [{ name: "c", startTime: epochMs(startTime), cpu }],
    },
  ],
});
const at = (ms: number, usageCoreNanoSeconds: number): CpuStats => ({ time: epochMs(ms), usageCoreNanoSeconds });

/** Rates of node, pod and container after each of the measurements. */
function rates(...measurements: readonly Summary[]) {
  let samples: CpuSamples = new Map();
  return measurements.map((measurement) => {
    const { summary, samples: next } = withCpuRates(samples, measurement);
    samples = next;
    const owners = [summary.node, ...summary.pods, ...summary.pods.flatMap(({ containers }) => containers)];
    return owners.map(({ cpu }) => cpu?.usageNanoCores);
  });
}
const three = (rate: number | undefined) => [rate, rate, rate];

describe("CPU in use", () => {
  it("is the increase since the previous measurement: half a core", () => {
    expect(rates(summaryOf(at(0, 100)), summaryOf(at(2_000, 1_000_000_100)))).toEqual([
      three(undefined),
      three(500_000_000),
    ]);
  });

  it("stays when the runtime measured nothing new", () => {
    const later = summaryOf(at(1_000, 2_000));
    expect(rates(summaryOf(at(0, 0)), later, later)).toEqual([three(undefined), three(2_000), three(2_000)]);
  });

  it("is unknown after a counter decreased, and for a recreated container", () => {
    expect(rates(summaryOf(at(0, 100)), summaryOf(at(1_000, 50)))).toEqual([three(undefined), three(undefined)]);
    expect(rates(summaryOf(at(0, 100)), summaryOf(at(1_000, 150), 7))[1]).toEqual([50, 50, undefined]);
  });

  it("is reported for the node's own cgroups too", () => {
    const withPods = (cpu: CpuStats): Summary => {
      const { node, pods } = summaryOf(cpu);
      return { pods, node: { ...node, systemContainers: [{ name: "pods", startTime: epochMs(0), cpu }] } };
    };
    const first = withCpuRates(new Map(), withPods(at(0, 0)));
    const second = withCpuRates(first.samples, withPods(at(1_000, 3_000)));
    expect(second.summary.node.systemContainers?.map(({ cpu }) => cpu?.usageNanoCores)).toEqual([3_000]);
  });

  it("is the runtime's own if it reports one", () => {
    expect(rates(summaryOf({ ...at(0, 1), usageNanoCores: 7 }))).toEqual([three(7)]);
  });

  it("forgets removed containers", () => {
    const { samples } = withCpuRates(new Map(), summaryOf(at(0, 1)));
    expect(samples.size).toBe(3);
    expect(withCpuRates(samples, { ...summaryOf(at(1, 1)), pods: [] }).samples.size).toBe(1);
  });
});

it("is what the runtime reports, if it reports a rate", () => {
  const reported = summaryOf({ ...at(1_000, 5_000), usageNanoCores: 7 });
  expect(rates(summaryOf(at(0, 0)), reported)[1]).toEqual(three(7));
  expect(withCpuRates(new Map(), reported).samples.size).toBe(0);
  expect(withCpuRates(new Map(), summaryOf({ time: epochMs(0) })).samples.size).toBe(0);
});
