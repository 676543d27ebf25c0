/**
 * The page `/metrics/resource` in the Prometheus text format, each figure with the time it was measured at.
 * Counterpart: pkg/kubelet/metrics/collectors/resource_metrics.go.
 */
import type { EpochMs } from "../ids.ts";
import type { PodStats, Summary } from "./summary.ts";

interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number | undefined;
  /** Absent: as of the scrape. */
  readonly time?: EpochMs | undefined;
}

interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly samples: readonly Sample[];
}

const NANO = 1e-9;
const NANO_DIGITS = 9;
const MS_PER_SECOND = 1_000;

const ALPHA = "[ALPHA] ";
const STABLE = "[STABLE] ";

/** The page; without a summary it says that there was an error, and nothing else. */
export function resourceMetrics(summary: Summary | undefined): string {
  const families = summary === undefined ? [] : familiesOf(summary);
  const failed = "1 if there was an error while getting container metrics, 0 otherwise";
  const scrapeError: Family = {
    name: "resource_scrape_error",
    help: STABLE + failed,
    type: "gauge",
    samples: [{ value: summary === undefined ? 1 : 0 }],
  };
  return [...families, scrapeError]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(familyText)
    .join("");
}

function familiesOf({ node, pods }: Summary): readonly Family[] {
  const ofNode = (value: number | undefined, time: EpochMs | undefined): readonly Sample[] => [{ value, time }];
  return [
    {
      name: "node_cpu_usage_seconds_total",
      help: `${STABLE}Cumulative cpu time consumed by the node in core-seconds`,
      type: "counter",
      samples: ofNode(seconds(node.cpu?.usageCoreNanoSeconds), node.cpu?.time),
    },
    {
      name: "node_memory_working_set_bytes",
      help: `${STABLE}Current working set of the node in bytes`,
      type: "gauge",
      samples: ofNode(node.memory?.workingSetBytes, node.memory?.time),
    },
    {
      name: "node_swap_usage_bytes",
      help: `${ALPHA}Current swap usage of the node in bytes. Reported only on non-windows systems`,
      type: "gauge",
      samples: ofNode(node.swap?.swapUsageBytes, node.swap?.time),
    },
    ...podFamilies(pods),
    ...containerFamilies(pods),
  ];
}

function podFamilies(pods: readonly PodStats[]): readonly Family[] {
  const perPod = (figure: (pod: PodStats) => Omit<Sample, "labels">): readonly Sample[] =>
    pods.map((pod) => ({ labels: podLabels(pod), ...figure(pod) }));
  return [
    {
      name: "pod_cpu_usage_seconds_total",
      help: `${STABLE}Cumulative cpu time consumed by the pod in core-seconds`,
      type: "counter",
      samples: perPod(({ cpu }) => ({ value: seconds(cpu?.usageCoreNanoSeconds), time: cpu?.time })),
    },
    {
      name: "pod_memory_working_set_bytes",
      help: `${STABLE}Current working set of the pod in bytes`,
      type: "gauge",
      samples: perPod(({ memory }) => ({ value: memory?.workingSetBytes, time: memory?.time })),
    },
    {
      name: "pod_swap_usage_bytes",
      help: `${ALPHA}Current amount of the pod swap usage in bytes. Reported only on non-windows systems`,
      type: "gauge",
      samples: perPod(({ swap }) => ({ value: swap?.swapUsageBytes, time: swap?.time })),
    },
  ];
}

function containerFamilies(pods: readonly PodStats[]): readonly Family[] {
  type Container = PodStats["containers"][number];
  const perContainer = (figure: (container: Container) => Omit<Sample, "labels">): readonly Sample[] =>
    pods.flatMap((pod) =>
      pod.containers.map((each) => ({ labels: { container: each.name, ...podLabels(pod) }, ...figure(each) })),
    );
  return [
    {
      name: "container_cpu_usage_seconds_total",
      help: `${STABLE}Cumulative cpu time consumed by the container in core-seconds`,
      type: "counter",
      samples: perContainer(({ cpu }) => ({ value: seconds(cpu?.usageCoreNanoSeconds), time: cpu?.time })),
    },
    {
      name: "container_memory_working_set_bytes",
      help: `${STABLE}Current working set of the container in bytes`,
      type: "gauge",
      samples: perContainer(({ memory }) => ({ value: memory?.workingSetBytes, time: memory?.time })),
    },
    {
      name: "container_start_time_seconds",
      help: `${STABLE}Start time of the container since unix epoch in seconds`,
      type: "gauge",
      samples: perContainer(({ startTime }) => ({ value: startTime > 0 ? startTime / MS_PER_SECOND : undefined })),
    },
    {
      name: "container_swap_limit_bytes",
      help: `${ALPHA}Current amount of the container swap limit in bytes. Reported only on non-windows systems`,
      type: "gauge",
      samples: perContainer(({ swap }) => ({ value: swapLimit(swap), time: swap?.time })),
    },
    {
      name: "container_swap_usage_bytes",
      help: `${ALPHA}Current amount of the container swap usage in bytes. Reported only on non-windows systems`,
      type: "gauge",
      samples: perContainer(({ swap }) => ({ value: swap?.swapUsageBytes, time: swap?.time })),
    },
  ];
}

const podLabels = ({ podRef: { namespace, name } }: PodStats) => ({ namespace, pod: name });

const swapLimit = (swap: PodStats["swap"]): number | undefined =>
  swap?.swapAvailableBytes === undefined ? undefined : swap.swapAvailableBytes + (swap.swapUsageBytes ?? 0);

const seconds = (nanoSeconds: number | undefined): number | undefined =>
  nanoSeconds === undefined ? undefined : Number((nanoSeconds * NANO).toFixed(NANO_DIGITS));

/** Nothing for a family without a figure. */
function familyText({ name, help, type, samples }: Family): string {
  const lines = samples.flatMap(({ labels = {}, value, time }) => {
    if (value === undefined) return [];
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
    const series = pairs.length === 0 ? name : `${name}{${pairs.join(",")}}`;
    return [`${series} ${value}${time === undefined ? "" : ` ${time}`}\n`];
  });
  return lines.length === 0 ? "" : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
