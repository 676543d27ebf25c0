import { afterEach, describe, expect, it } from "vitest";
import type { MetricName } from "../../../src/core/telemetry/metricTable.ts";
import { addLag } from "../../../src/sinks/loopLag.ts";
import { createMetrics, type MetricsSink } from "../../../src/sinks/metrics.ts";
import { ipCounter, softLimit, virtualMemory } from "../../../src/sinks/processFigures.ts";

const open: MetricsSink[] = [];
afterEach(() => {
  for (const metrics of open.splice(0)) metrics.close();
});
function metricsUnderTest(): MetricsSink {
  const metrics = createMetrics();
  open.push(metrics);
  return metrics;
}

/** Samples of the text format by series; throws on a line that is not of the format. */
function parse(body: string): ReadonlyMap<string, number> {
  const series = new Map<string, number>();
  const types = new Map<string, string>();
  for (const line of body.trimEnd().split("\n")) {
    const type = /^# TYPE ([a-z_]+) (counter|gauge|histogram)$/.exec(line);
    if (type !== null) types.set(type[1] ?? "", type[2] ?? "");
    else if (!/^# HELP [a-z_]+ \S/.test(line)) {
      const sample = /^([a-z_]+)(\{[^}]*\})? (\S+)$/.exec(line);
      if (sample === null) throw new Error(`not the text format: ${line}`);
      const family = (sample[1] ?? "").replace(/_(bucket|sum|count)$/, "");
      if (!types.has(family) && !types.has(sample[1] ?? "")) throw new Error(`sample before its type: ${line}`);
      series.set(`${sample[1]}${sample[2] ?? ""}`, Number(sample[3]));
    }
  }
  return series;
}

const of = (series: ReadonlyMap<string, number>, prefix: string): Readonly<Record<string, number>> =>
  Object.fromEntries([...series].filter(([name]) => name.startsWith(prefix)));

describe("createMetrics", () => {
  it("keeps probes on a page of their own, and drops the series of a container of either type", async () => {
    const metrics = metricsUnderTest();
    const labels = { container: "web", namespace: "demo", pod: "one", probe_type: "Readiness" };
    const counted = { ...labels, pod_uid: "u", result: "successful" };
    metrics.count("prober_probe_total", counted);
    metrics.count("prober_probe_total", { ...counted, pod_uid: "v" });
    metrics.observe("prober_probe_duration_seconds", 0.2, labels);
    const names = async (page?: "probes"): Promise<readonly string[]> =>
      [...parse(await metrics.render(page)).keys()].filter((name) => !name.includes("_bucket"));
    const reported = 'container="web",namespace="demo",pod="one"';
    const ofPod = (uid: string): string =>
      `prober_probe_total{${reported},probe_type="Readiness",pod_uid="${uid}",result="successful"}`;
    expect((await names()).filter((name) => name.startsWith("prober_"))).toEqual([]);
    expect((await names("probes")).toSorted()).toEqual(
      [
        "process_start_time_seconds",
        `prober_probe_duration_seconds_count{${reported},probe_type="Readiness"}`,
        `prober_probe_duration_seconds_sum{${reported},probe_type="Readiness"}`,
        ofPod("u"),
        ofPod("v"),
      ].sort(),
    );
    metrics.drop("prober_probe_total", counted);
    metrics.drop("prober_probe_total", counted);
    metrics.drop("prober_probe_duration_seconds", labels);
    expect((await names("probes")).toSorted()).toEqual(["process_start_time_seconds", ofPod("v")].sort());
  });

  it("counts, sets, drops and observes, and renders the text format", async () => {
    const metrics = metricsUnderTest();
    metrics.count("kubelet_runtime_operations_total", { operation_type: "run_podsandbox" });
    metrics.count("kubelet_runtime_operations_total", { operation_type: "run_podsandbox" }, 2);
    metrics.gauge("kubelet_running_containers", 3, { container_state: "running" });
    metrics.gauge("kubelet_running_containers", 1, { container_state: "exited" });
    metrics.dropGauge("kubelet_running_containers", { container_state: "exited" });
    metrics.observe("kubelet_containers_per_pod_count", 3);
    const series = parse(await metrics.render());
    expect({
      operations: of(series, "kubelet_runtime_operations_total"),
      containers: of(series, "kubelet_running_containers"),
      perPod: of(series, "kubelet_containers_per_pod_count"),
    }).toEqual({
      operations: { 'kubelet_runtime_operations_total{operation_type="run_podsandbox"}': 3 },
      containers: { 'kubelet_running_containers{container_state="running"}': 3 },
      perPod: {
        'kubelet_containers_per_pod_count_bucket{le="1"}': 0,
        'kubelet_containers_per_pod_count_bucket{le="2"}': 0,
        'kubelet_containers_per_pod_count_bucket{le="4"}': 1,
        'kubelet_containers_per_pod_count_bucket{le="8"}': 1,
        'kubelet_containers_per_pod_count_bucket{le="16"}': 1,
        'kubelet_containers_per_pod_count_bucket{le="+Inf"}': 1,
        kubelet_containers_per_pod_count_sum: 3,
        kubelet_containers_per_pod_count_count: 1,
      },
    });
  });

  it("shows unlabelled metrics from the start and labelled ones from their first sample on", async () => {
    const body = await metricsUnderTest().render();
    expect([body.includes("kubelet_running_pods 0\n"), body.includes("kubelet_runtime_operations_total")]).toEqual([
      true,
      false,
    ]);
  });

  it("counts samples that do not fit their row instead of throwing", async () => {
    const metrics = metricsUnderTest();
    metrics.count("kubelet_runtime_operations_total");
    metrics.count("kubelet_runtime_operations_total", { operation: "x" });
    metrics.count("kubelet_runtime_operations_total", { operation_type: "x" }, -1);
    metrics.gauge("kubelet_started_pods_total", 1);
    metrics.observe("no_such_metric" as MetricName, 1);
    const series = parse(await metrics.render());
    expect(of(series, "rxlet_metric_misuses_total")).toEqual({
      'rxlet_metric_misuses_total{metric="kubelet_runtime_operations_total"}': 3,
      'rxlet_metric_misuses_total{metric="kubelet_started_pods_total"}': 1,
      'rxlet_metric_misuses_total{metric="no_such_metric"}': 1,
    });
  });

  it("keeps two registries apart", async () => {
    const [a, b] = [metricsUnderTest(), metricsUnderTest()];
    a.count("kubelet_started_pods_total");
    const values = await Promise.all([a, b].map(async (each) => parse(await each.render())));
    expect(values.map((series) => series.get("kubelet_started_pods_total"))).toEqual([1, 0]);
  });

  it("reads the process at each scrape, without adding up", async () => {
    const metrics = metricsUnderTest();
    const first = parse(await metrics.render());
    const second = parse(await metrics.render());
    const cpu = [first, second].map((series) => series.get("process_cpu_seconds_total") ?? -1);
    const rss = second.get("process_resident_memory_bytes") ?? 0;
    expect([cpu[0]! > 0, cpu[1]! >= cpu[0]!, cpu[1]! < cpu[0]! + 10, rss > 1e6]).toEqual([true, true, true, true]);
  });

  it("renders the event loop lag as a histogram that adds up", async () => {
    const series = of(parse(await metricsUnderTest().render()), "rxlet_event_loop_lag_seconds");
    expect([Object.keys(series).length, series['rxlet_event_loop_lag_seconds_bucket{le="+Inf"}']]).toEqual([
      15,
      series["rxlet_event_loop_lag_seconds_count"],
    ]);
  });
});

describe("addLag", () => {
  const BOUNDS = [0.01, 0.1];
  const none = { counts: [0, 0, 0], sum: 0 };

  it("spreads a sample over the buckets by its percentiles, without the sampler's own wait", () => {
    const sample = {
      count: 10,
      percentiles: [
        [0, 100e6],
        [50, 105e6],
        [90, 150e6],
        [100, 1100e6],
      ] as const,
    };
    expect(addLag(none, sample, BOUNDS, 100e6)).toEqual({ counts: [5, 4, 1], sum: 5 * 0.005 + 4 * 0.05 + 1 });
  });

  it("adds nothing for an empty sample", () => {
    expect(
      addLag(
        none,
        {
          count: 0,
          percentiles: [
            [0, 0],
            [100, 0],
          ],
        },
        BOUNDS,
        0,
      ),
    ).toEqual(none);
  });
});

describe("process figures", () => {
  it("finds soft limits by name; unlimited is 2^64", () => {
    const limits =
      "Limit  Soft Limit  Hard Limit  Units\nMax open files  1024  4096  files\nMax address space  unlimited  unlimited  bytes\n";
    expect(["Max open files", "Max address space", "Max nothing"].map((name) => softLimit(limits, name))).toEqual([
      1024,
      2 ** 64,
      undefined,
    ]);
  });

  it("finds IP counters by the line of names", () => {
    const text = "TcpExt: A B\nTcpExt: 1 2\nIpExt: InNoRoutes InOctets\nIpExt: 0 77\n";
    expect([ipCounter(text, "InOctets"), ipCounter(text, "OutOctets"), ipCounter("", "InOctets")]).toEqual([
      77,
      undefined,
      undefined,
    ]);
  });

  it("finds virtual memory behind any command name", () => {
    const fields = Array.from({ length: 30 }, (_, index) => `${index + 3}`);
    expect([virtualMemory(`1 (a) b) ${fields.join(" ")}`), virtualMemory("")]).toEqual([23, undefined]);
  });
});
