/** Writes docs/metrics.md: for every metric of a running upstream kubelet 1.36 whether it is here, or why not. */
import { readFileSync, writeFileSync } from "node:fs";
import { CADVISOR_METRIC_NAMES } from "../src/core/stats/cadvisorMetrics.ts";
import { RESOURCE_METRIC_NAMES } from "../src/core/stats/resourceMetrics.ts";
import { type MetricRow, metricTable } from "../src/core/telemetry/metricTable.ts";
import { code, fedMetrics, table } from "./generateOperations.ts";

const ROOT = new URL("../", import.meta.url);
export const METRICS = new URL("docs/metrics.md", ROOT);

interface UpstreamMetric {
  readonly page: string;
  readonly name: string;
  readonly type: string;
  readonly labels: string;
}

/** Why metrics whose names begin like this are missing; the first that fits. */
const REASONS: readonly (readonly [page: string, start: string, reason: string])[] = [
  ["/metrics", "aggregator_", "belongs to API servers; upstream's binary links their library"],
  ["/metrics", "apiserver_", "belongs to API servers; upstream's binary links their library"],
  ["/metrics", "workqueue_", "there are no Go work queues; see `rxlet_queue_depth`"],
  ["/metrics", "rest_client_transport_", "belongs to the transport cache of Go's client"],
  ["/metrics", "kubelet_pleg_discard_events", "`rxlet_dropped_total` counts dropped hints; a relist makes up for them"],
  ["/metrics", "kubelet_imagemanager_inmemory_", "pull records have no cache of limited size"],
  ["/metrics", "cardinality_", "belongs to upstream's metrics library"],
  ["/metrics", "disabled_metrics", "belongs to upstream's metrics library"],
  ["/metrics", "hidden_metrics", "belongs to upstream's metrics library"],
  ["/metrics", "registered_metrics", "belongs to upstream's metrics library"],
  [
    "/metrics",
    "force_cleaned_failed_volume_",
    "no volume found at start is forced away: each is set up or torn down as usual",
  ],
  ["/metrics", "kubelet_cpu_manager_", "no resource managers yet"],
  ["/metrics", "kubelet_memory_manager_", "no resource managers yet"],
  ["/metrics", "kubelet_topology_manager_", "no resource managers yet"],
  ["/metrics", "kubelet_graceful_shutdown_", "no graceful node shutdown yet"],
  ["/metrics", "", "not yet"],
];

/** Metrics of `/metrics/cadvisor` that are the same on every node, by the start of the name. */
const CONSTANT: readonly (readonly [start: string, what: string])[] = [
  ["container_cpu_load_", "0, as upstream's: the kubelet has the load reader off"],
  ["container_tasks_state", "0, as upstream's: the kubelet has the load reader off"],
  ["container_health_state", "-1, as upstream's: CRI runtimes have no health checks"],
  ["machine_nvm_", "0, as upstream's: persistent memory is not detected"],
];

function presenceOf(name: string): string {
  const constant = CONSTANT.find(([start]) => name.startsWith(start));
  return constant === undefined ? "present" : `present; ${constant[1]}`;
}

/** Reads the metrics that a running upstream kubelet exposes: page, name, type, labels. */
function upstreamMetrics(): readonly UpstreamMetric[] {
  const [, ...lines] = readFileSync(new URL("scripts/upstreamMetrics.tsv", ROOT), "utf8").trimEnd().split("\n");
  return lines.map((line) => {
    const [page = "", name = "", type = "", labels = ""] = line.split("\t");
    return { page, name, type, labels };
  });
}

const sortedLabels = (labels: readonly string[]): string => [...labels].sort().join(",");

function stateOf(metric: UpstreamMetric, isFed: (name: string) => boolean): string {
  const { page, name, type, labels } = metric;
  if (page === "/metrics/cadvisor") return CADVISOR_METRIC_NAMES.has(name) ? presenceOf(name) : reasonFor(metric);
  if (page === "/metrics/resource") return RESOURCE_METRIC_NAMES.includes(name) ? "present" : "not yet";
  const row: MetricRow | undefined = new Map<string, MetricRow>(Object.entries(metricTable)).get(name);
  if (row === undefined) return reasonFor(metric);
  if (!isFed(name)) return "not fed yet";
  if (row.type !== type) return `present, as a ${row.type}`;
  // Without a series upstream's page shows no labels either.
  const same = labels === "" || sortedLabels(row.labels) === sortedLabels(labels.split(","));
  return same ? "present" : `present, with the labels ${row.labels.map(code).join(" ")}`;
}

function reasonFor({ page, name }: UpstreamMetric): string {
  const found = REASONS.find(([where, start]) => where === page && name.startsWith(start));
  return found?.[2] ?? "not yet";
}

/** The whole document. */
export function metricsDocument(): string {
  const isFed = fedMetrics();
  const metrics = upstreamMetrics().map((metric) => ({ ...metric, state: stateOf(metric, isFed) }));
  const present = metrics.filter(({ state }) => state.startsWith("present")).length;
  const ofGo = metrics.filter(({ name }) => name.startsWith("go_"));
  const rows = metrics
    .filter((metric) => !ofGo.includes(metric))
    .map(({ page, name, type, labels, state }) => [
      code(page),
      code(name),
      type,
      labels.split(",").map(code).join(" "),
      state,
    ]);
  return [
    "# Metrics of upstream",
    "This page lists every metric of a running upstream kubelet 1.36, and whether rxlet has it. `npm run docs` writes it. All\nmetrics of rxlet are in [operations.md](operations.md#metrics).",
    `Of ${metrics.length} metrics ${present} are present; ${ofGo.length} named \`go_*\` belong to the Go runtime and are not in the table.`,
    table(["page", "metric", "type", "labels upstream", "here"], rows),
    "",
  ].join("\n\n");
}

if (import.meta.main) writeFileSync(METRICS, metricsDocument().trimEnd() + "\n");
