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

/** State of a metric that is neither present nor has a reason. */
export const NOT_YET = "not yet";

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
  ["/metrics", "informer_", "belongs to the informers of Go's client; see `rxlet_source_up`"],
  ["/metrics", "kubelet_started_host_process_containers_", "belongs to kubelets on Windows"],
  ["/metrics", "leader_election_", "belongs to controllers; a kubelet elects no leader"],
  ["/metrics", "running_managed_controllers", "belongs to controllers"],
  [
    "/metrics",
    "rest_client_exec_plugin_policy_call_total",
    "the policy of plugins belongs to the configuration of kubectl",
  ],
  [
    "/metrics",
    "rest_client_request_retries_total",
    "a repeated request is a new one: `rest_client_requests_total` counts it by its code",
  ],
  ["/metrics", "version_info", "belongs to components with emulated versions, which a kubelet has not"],
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

/** Reads a table of upstream's metrics: page, name, type, labels. */
function metricsIn(file: string): readonly UpstreamMetric[] {
  const [, ...lines] = readFileSync(new URL(`scripts/${file}`, ROOT), "utf8")
    .trimEnd()
    .split("\n");
  return lines.map((line) => {
    const [page = "", name = "", type = "", labels = ""] = line.split("\t");
    return { page, name, type, labels };
  });
}

const sortedLabels = (labels: readonly string[]): string => [...labels].sort().join(",");

function stateOf(metric: UpstreamMetric, isFed: (name: string) => boolean): string {
  const { page, name, type, labels } = metric;
  if (page === "/metrics/cadvisor") return CADVISOR_METRIC_NAMES.has(name) ? presenceOf(name) : reasonFor(metric);
  if (page === "/metrics/resource") return RESOURCE_METRIC_NAMES.includes(name) ? "present" : reasonFor(metric);
  const row: MetricRow | undefined = new Map<string, MetricRow>(Object.entries(metricTable)).get(name);
  if (row === undefined) return reasonFor(metric);
  if (!isFed(name)) return "not fed yet";
  if (row.type !== type && type !== "custom") return `present, as a ${row.type}`;
  // Without a series upstream's page shows no labels either.
  const same = labels === "" || sortedLabels(row.labels) === sortedLabels(labels.split(","));
  return same ? "present" : `present, with the labels ${row.labels.map(code).join(" ")}`;
}

function reasonFor({ page, name }: UpstreamMetric): string {
  if (name === "scrape_error") return 'present with `showHiddenMetricsForVersion: "1.35"`, as upstream';
  const found = REASONS.find(([where, start]) => where === page && name.startsWith(start));
  return found?.[2] ?? NOT_YET;
}

const rowsOf = (metrics: readonly StatedMetric[]): readonly (readonly string[])[] =>
  metrics.map(({ page, name, type, labels, state }) => [
    code(page),
    code(name),
    type,
    labels.split(",").map(code).join(" "),
    state,
  ]);

interface StatedMetric extends UpstreamMetric {
  readonly state: string;
}

/** Metrics of a running upstream kubelet, and those that it declares and had no samples of. */
export function statedMetrics(): {
  readonly exposed: readonly StatedMetric[];
  readonly declared: readonly StatedMetric[];
} {
  const isFed = fedMetrics();
  const stated = (file: string): readonly StatedMetric[] =>
    metricsIn(file).map((metric) => ({ ...metric, state: stateOf(metric, isFed) }));
  return { exposed: stated("upstreamMetrics.tsv"), declared: stated("upstreamDeclaredMetrics.tsv") };
}

/** The whole document. */
export function metricsDocument(): string {
  const { exposed: metrics, declared } = statedMetrics();
  const present = metrics.filter(({ state }) => state.startsWith("present")).length;
  const ofGo = metrics.filter(({ name }) => name.startsWith("go_"));
  const rows = rowsOf(metrics.filter((metric) => !ofGo.includes(metric)));
  const head = ["page", "metric", "type", "labels upstream", "here"];
  return [
    "# Metrics of upstream",
    "This page lists every metric of a running upstream kubelet 1.36, and whether rxlet has it. `npm run docs` writes it. All\nmetrics of rxlet are in [operations.md](operations.md#metrics).",
    `Of ${metrics.length} metrics ${present} are present; ${ofGo.length} named \`go_*\` belong to the Go runtime and are not in the table.`,
    table(head, rows),
    "Upstream declares further metrics, which had no samples on that kubelet:",
    table(head, rowsOf(declared)),
    "",
  ].join("\n\n");
}

if (import.meta.main) writeFileSync(METRICS, metricsDocument().trimEnd() + "\n");
