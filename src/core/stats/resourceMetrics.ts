/**
 * The page `/metrics/resource` in the Prometheus text format, each figure with the time of its measurement. Upstream:
 * pkg/kubelet/metrics/collectors/resource_metrics.go.
 */
import { type Family, familyText, labelText, type Sample, secondsOf } from "./exposition.ts";
import type { ContainerStats, CpuStats, MemoryStats, NodeStats, PodStats, Summary, SwapStats } from "./summary.ts";

const MS_PER_SECOND = 1_000;
const NOT_ON_WINDOWS = "in bytes. Reported only on non-windows systems";

/** Returns a figure of the node, a pod or a container, and the time of its measurement. */
type Figure<Owner> = (owner: Owner) => Pick<Sample, "value" | "time">;

interface FamilyOf<Owner> extends Omit<Family, "samples"> {
  readonly figure: Figure<Owner>;
}

interface Measured {
  readonly cpu?: CpuStats;
  readonly memory?: MemoryStats;
  readonly swap?: SwapStats;
}

const cpuTime: Figure<Measured> = ({ cpu }) => ({ value: secondsOf(cpu?.usageCoreNanoSeconds), time: cpu?.time });
const workingSet: Figure<Measured> = ({ memory }) => ({ value: memory?.workingSetBytes, time: memory?.time });
const swapUsage: Figure<Measured> = ({ swap }) => ({ value: swap?.swapUsageBytes, time: swap?.time });

/** Families that node, pods and containers have in common. */
const common = (owner: "node" | "pod" | "container"): readonly FamilyOf<Measured>[] => [
  {
    name: `${owner}_cpu_usage_seconds_total`,
    help: `[STABLE] Cumulative cpu time consumed by the ${owner} in core-seconds`,
    type: "counter",
    figure: cpuTime,
  },
  {
    name: `${owner}_memory_working_set_bytes`,
    help: `[STABLE] Current working set of the ${owner} in bytes`,
    type: "gauge",
    figure: workingSet,
  },
  {
    name: `${owner}_swap_usage_bytes`,
    help:
      owner === "node"
        ? `[ALPHA] Current swap usage of the node ${NOT_ON_WINDOWS}`
        : `[ALPHA] Current amount of the ${owner} swap usage ${NOT_ON_WINDOWS}`,
    type: "gauge",
    figure: swapUsage,
  },
];

const NODE_FAMILIES: readonly FamilyOf<NodeStats>[] = common("node");
const POD_FAMILIES: readonly FamilyOf<PodStats>[] = common("pod");
const CONTAINER_FAMILIES: readonly FamilyOf<ContainerStats>[] = [
  ...common("container"),
  {
    name: "container_start_time_seconds",
    help: "[STABLE] Start time of the container since unix epoch in seconds",
    type: "gauge",
    figure: ({ startTime }) => ({ value: startTime > 0 ? startTime / MS_PER_SECOND : undefined }),
  },
  {
    name: "container_swap_limit_bytes",
    help: `[ALPHA] Current amount of the container swap limit ${NOT_ON_WINDOWS}`,
    type: "gauge",
    figure: ({ swap }) => ({ value: swapLimit(swap), time: swap?.time }),
  },
];

/** Names of all families on the page, but hidden ones. */
export const RESOURCE_METRIC_NAMES: readonly string[] = [
  ...[...NODE_FAMILIES, ...POD_FAMILIES, ...CONTAINER_FAMILIES].map(({ name }) => name),
  "resource_scrape_error",
];

/** Options of the page. */
export interface PageOptions {
  /** Adds metrics that upstream has deprecated and hides: `scrape_error`, since 1.29. */
  readonly showsHidden?: boolean;
}

/** Returns the page. Without a summary it only reports an error. */
export function resourceMetrics(summary: Summary | undefined, { showsHidden = false }: PageOptions = {}): string {
  const samples = [{ value: summary === undefined ? 1 : 0 }];
  const help = "1 if there was an error while getting container metrics, 0 otherwise";
  const scrapeErrors: readonly Family[] = [
    { name: "resource_scrape_error", help: `[STABLE] ${help}`, type: "gauge", samples },
    ...(showsHidden
      ? [{ name: "scrape_error", help: `[ALPHA] (Deprecated since 1.29.0) ${help}`, type: "gauge", samples } as const]
      : []),
  ];
  return [...(summary === undefined ? [] : familiesOf(summary)), ...scrapeErrors]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(familyText)
    .join("");
}

interface Labelled<Owner> {
  readonly owner: Owner;
  readonly labels?: string;
}

function familiesOf({ node, pods }: Summary): readonly Family[] {
  const labelledPods = pods.map((pod) => ({ owner: pod, labels: labelText(podLabels(pod)) }));
  const containers = pods.flatMap((pod) =>
    pod.containers.map((each) => ({ owner: each, labels: labelText({ container: each.name, ...podLabels(pod) }) })),
  );
  return [
    ...NODE_FAMILIES.map((family) => measured(family, [{ owner: node }])),
    ...POD_FAMILIES.map((family) => measured(family, labelledPods)),
    ...CONTAINER_FAMILIES.map((family) => measured(family, containers)),
  ];
}

const measured = <Owner>({ figure, ...family }: FamilyOf<Owner>, owners: readonly Labelled<Owner>[]): Family => ({
  ...family,
  samples: owners.map(({ owner, ...labels }) => ({ ...labels, ...figure(owner) })),
});

const podLabels = ({ podRef: { namespace, name } }: PodStats) => ({ namespace, pod: name });

const swapLimit = (swap: SwapStats | undefined): number | undefined =>
  swap?.swapAvailableBytes === undefined ? undefined : swap.swapAvailableBytes + (swap.swapUsageBytes ?? 0);
