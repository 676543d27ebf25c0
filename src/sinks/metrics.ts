/**
 * The metrics of the table on their own registry (never the library's global one). Owns all series; label values come
 * from closed sets, which bounds them. A sample that does not fit its row is counted, never thrown. Upstream:
 * component-base/metrics.
 */
import { needsGoBounds, withGoBounds } from "../core/telemetry/bucketBounds.ts";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { MetricPage } from "../core/telemetry/metricRow.ts";
import { type MetricName, type MetricRow, metricTable } from "../core/telemetry/metricTable.ts";
import type { MetricLabels, Metrics, MetricsPage } from "../ports/telemetry.ts";
import { processMetrics } from "../core/telemetry/processMetrics.ts";
import { type LagTotals, watchLoopLag } from "./loopLag.ts";
import { readProcessFigures } from "./processFigures.ts";

interface Series {
  readonly counters: ReadonlyMap<string, Counter>;
  readonly gauges: ReadonlyMap<string, Gauge>;
  readonly histograms: ReadonlyMap<string, Histogram>;
}

const LAG: MetricName = "rxlet_event_loop_lag_seconds";
const MISUSES: MetricName = "rxlet_metric_misuses_total";
/** Metrics on every page: the start time tells a scraper of any page when counting began. */
const ON_EVERY_PAGE: ReadonlySet<string> = new Set<MetricName>(["process_start_time_seconds"]);

function createSeries(registry: Registry): Series {
  const counters = new Map<string, Counter>();
  const gauges = new Map<string, Gauge>();
  const histograms = new Map<string, Histogram>();
  for (const [name, row] of Object.entries<MetricRow>(metricTable)) {
    const options = { name, help: row.help, labelNames: [...row.labels], registers: [registry] };
    if (row.type === "counter") counters.set(name, new Counter(options));
    else if (row.type === "gauge") {
      const gauge = new Gauge(options);
      if (row.isUnsetAtFirst === true) gauge.remove({});
      gauges.set(name, gauge);
    } else histograms.set(name, new Histogram({ ...options, buckets: [...(row.buckets ?? [])] }));
  }
  return { counters, gauges, histograms };
}

/** Validates that a sample has exactly the labels of its row: a missing label would create another series. */
function checkLabels(name: MetricName, labels: MetricLabels): void {
  const wanted = metricTable[name].labels;
  const given = Object.keys(labels);
  if (given.length !== wanted.length || !wanted.every((label) => typeof labels[label] === "string")) {
    throw new Error(`metric ${name} takes the labels ${wanted.join(", ")}, not ${given.join(", ")}`);
  }
}

function seriesOf<T>(map: ReadonlyMap<string, T>, name: MetricName, labels: MetricLabels): T {
  const found = map.get(name);
  if (found === undefined) throw new Error(`metric ${name} is a ${metricTable[name].type}`);
  checkLabels(name, labels);
  return found;
}

/** The metrics, their page, and a function that stops the sampling behind them. */
export interface MetricsSink extends Metrics, MetricsPage {
  /** Called before each page is rendered, to set gauges that are only valid at that moment. */
  beforeRender(update: () => void): void;
  /** Returns the totals of each series of a histogram; empty for another metric. */
  histogramTotals(name: MetricName): Promise<readonly HistogramTotal[]>;
  /** Returns each series of a counter; empty for another metric. */
  counterTotals(name: MetricName): Promise<readonly MetricSeries[]>;
  /** Returns each series of a gauge; empty for another metric. */
  gaugeValues(name: MetricName): Promise<readonly MetricSeries[]>;
  close(): void;
}

/** Observations of a series since the start. */
export interface HistogramTotal {
  readonly labels: Readonly<Record<string, string>>;
  readonly count: number;
  readonly sum: number;
  /** Observations up to each bound, by ascending bounds. */
  readonly upTo: ReadonlyMap<number, number>;
}

/** A series of a counter or gauge. */
export interface MetricSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Creates all metrics of the table; metrics without labels start at zero. `close` stops the event loop sampler. */
export function createMetrics(): MetricsSink {
  const registry = new Registry();
  const { counters, gauges, histograms } = createSeries(registry);
  // Upstream exports these series before the first observation.
  for (const isStatic of ["", "true"]) counters.get("kubelet_restarted_pods_total")?.inc({ static: isStatic }, 0);
  gauges.get("rest_client_exec_plugin_ttl_seconds")?.set(Number.POSITIVE_INFINITY);
  const lag = watchLoopLag(metricTable[LAG]);
  showLag(histograms.get(LAG), () => lag.read());
  const updates: (() => void)[] = [];
  const guarded = (name: MetricName, write: () => void): void => {
    try {
      write();
    } catch {
      counters.get(MISUSES)?.inc({ metric: String(name) });
    }
  };
  return {
    count: (name, labels = {}, by = 1) => guarded(name, () => seriesOf(counters, name, labels).inc(labels, by)),
    gauge: (name, value, labels = {}) => guarded(name, () => seriesOf(gauges, name, labels).set(labels, value)),
    dropGauge: (name, labels) => guarded(name, () => seriesOf(gauges, name, labels).remove(labels)),
    drop: (name, labels) =>
      guarded(name, () => {
        checkLabels(name, labels);
        const series = counters.get(name) ?? gauges.get(name) ?? histograms.get(name);
        series?.remove(labels);
      }),
    observe: (name, value, labels = {}) =>
      guarded(name, () => seriesOf(histograms, name, labels).observe(labels, value)),
    render: async (page) => {
      for (const update of updates) update();
      await updateProcessFigures({ counters, gauges, histograms });
      return await renderRegistry(registry, page);
    },
    beforeRender: (update) => void updates.push(update),
    histogramTotals: (name) => histogramTotals(histograms.get(name), name),
    counterTotals: (name) => seriesIn(counters.get(name)),
    gaugeValues: (name) => seriesIn(gauges.get(name)),
    close: () => lag.stop(),
  };
}

const seriesIn = async (metric: Counter | Gauge | undefined): Promise<readonly MetricSeries[]> =>
  ((await metric?.get())?.values ?? []).map(({ labels, value }) => ({ labels: texts(labels), value }));

async function histogramTotals(histogram: Histogram | undefined, name: MetricName): Promise<readonly HistogramTotal[]> {
  const values = histogram === undefined ? [] : (await histogram.get()).values;
  const series = new Map<
    string,
    { -readonly [K in keyof HistogramTotal]: HistogramTotal[K] } & { upTo: Map<number, number> }
  >();
  for (const { labels, value, metricName } of values) {
    const { le, ...own } = texts(labels);
    const key = JSON.stringify(own);
    const total = series.get(key) ?? { labels: own, count: 0, sum: 0, upTo: new Map<number, number>() };
    series.set(key, total);
    if (metricName === `${name}_sum`) total.sum = value;
    else if (metricName === `${name}_count`) total.count = value;
    else if (le !== undefined && le !== "+Inf") total.upTo.set(Number(le), value);
  }
  return [...series.values()];
}

const texts = (labels: object): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(labels).map(([label, text]) => [label, String(text)]));

async function updateProcessFigures({ counters, gauges }: Series): Promise<void> {
  const figures: Readonly<Record<string, number>> = await readProcessFigures();
  for (const name of Object.keys(processMetrics)) {
    const value = figures[name];
    const series = gauges.get(name) ?? counters.get(name);
    series?.remove({});
    if (value !== undefined) series?.inc(value);
  }
}

/** Makes the lag histogram export totals kept elsewhere instead of observations. */
function showLag(histogram: Histogram | undefined, read: () => LagTotals): void {
  if (histogram === undefined) return;
  const row: MetricRow = metricTable[LAG];
  histogram.get = () => {
    const { counts, sum } = read();
    let upTo = 0;
    const buckets = counts.map((count, index) => {
      upTo += count;
      return { labels: { le: row.buckets?.[index] ?? "+Inf" }, value: upTo, metricName: `${LAG}_bucket` };
    });
    const values = [
      ...buckets,
      { labels: {}, value: sum, metricName: `${LAG}_sum` },
      { labels: {}, value: upTo, metricName: `${LAG}_count` },
    ];
    return Promise.resolve({ name: LAG, help: row.help, type: "histogram", values, aggregator: "sum" } as never);
  };
}

/** Renders the page in the text format, sorted by name; omits metrics without samples, as upstream does. */
async function renderRegistry(registry: Registry, page: MetricPage | undefined): Promise<string> {
  const isOnPage = ([name, row]: readonly [string, MetricRow]): boolean =>
    row.page === page || (page !== undefined && ON_EVERY_PAGE.has(name));
  const rows = Object.entries<MetricRow>(metricTable)
    .filter(isOnPage)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const families = await Promise.all(
    rows.map(async ([name, { buckets }]) => {
      const family = await registry.getSingleMetricAsString(name);
      return needsGoBounds(buckets) ? withGoBounds(family) : family;
    }),
  );
  const known = families.filter((family) => family.split("\n").some((line) => line !== "" && !line.startsWith("#")));
  return known.map((family) => `${family.trimEnd()}\n`).join("");
}
