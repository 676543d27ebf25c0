/** Figures of the calls of a node by kind, from its metrics. */
import type { LiveCalls } from "../core/live/liveMessages.ts";
import type { MetricName } from "../core/telemetry/metricTable.ts";
import type { HistogramTotal, MetricSeries, MetricsSink } from "../sinks/metrics.ts";

/** Kinds of calls, those called most. */
const MAX_CALLS = 24;
const MS_PER_S = 1_000;

/** Metrics of the calls to one server. */
interface Target {
  readonly target: LiveCalls["target"];
  readonly durations: MetricName;
  /** Label of the kind of call. */
  readonly kind: string;
  readonly outcomes: MetricName;
  /** Returns whether a series counts failures of calls of this kind. */
  isFailure(series: MetricSeries["labels"], kind: string): boolean;
}

const TARGETS: readonly Target[] = [
  {
    target: "runtime",
    durations: "kubelet_runtime_operations_duration_seconds",
    kind: "operation_type",
    outcomes: "kubelet_runtime_operations_errors_total",
    isFailure: ({ operation_type: operation }, kind) => operation === kind,
  },
  {
    target: "api",
    durations: "rest_client_request_duration_seconds",
    kind: "verb",
    outcomes: "rest_client_requests_total",
    isFailure: ({ method, code = "" }, kind) => method === kind && (code === "<error>" || code.startsWith("5")),
  },
];

type Totals = Pick<MetricsSink, "histogramTotals" | "counterTotals">;

/**
 * Returns a function that reads the calls since the start, and the latencies of those since its last call. Keeps the last
 * totals of each kind.
 */
export function createCallFigures(metrics: Totals): () => Promise<readonly LiveCalls[]> {
  const before = new Map<string, HistogramTotal>();
  return async () => {
    const calls: LiveCalls[] = [];
    for (const { target, durations, kind, outcomes, isFailure } of TARGETS) {
      const counters = await metrics.counterTotals(outcomes);
      for (const total of await metrics.histogramTotals(durations)) {
        const name = total.labels[kind] ?? "";
        const last = before.get(`${target} ${name}`);
        before.set(`${target} ${name}`, total);
        const failures = counters.filter(({ labels }) => isFailure(labels, name));
        const failed = failures.reduce((sum, { value }) => sum + value, 0);
        calls.push({ target, name, count: total.count, failed, ...latencies(total, last) });
      }
    }
    return calls.toSorted((a, b) => b.count - a.count).slice(0, MAX_CALLS);
  };
}

/** Returns the latencies of the observations between two totals. */
function latencies(
  { count, sum, upTo }: HistogramTotal,
  last: HistogramTotal | undefined,
): Pick<LiveCalls, "meanMs" | "maxMs"> {
  const fresh = count - (last?.count ?? 0);
  if (fresh <= 0) return {};
  const slowest = [...upTo].find(([bound, number]) => number - (last?.upTo.get(bound) ?? 0) === fresh);
  return {
    meanMs: ((sum - (last?.sum ?? 0)) / fresh) * MS_PER_S,
    ...(slowest === undefined ? {} : { maxMs: slowest[0] * MS_PER_S }),
  };
}
