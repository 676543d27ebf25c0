import { describe, expect, it } from "vitest";
import { epochMs } from "../../../../src/core/ids.ts";
import { resourceMetrics } from "../../../../src/core/stats/resourceMetrics.ts";
import { onlyCpuAndMemory, type Summary, summaryDocument } from "../../../../src/core/stats/summary.ts";

const time = epochMs(1_700_000_000_123);
const SUMMARY: Summary = {
  node: {
    ...{ nodeName: "n", startTime: epochMs(1_000) },
    cpu: { time, usageCoreNanoSeconds: 46_873_092_360_344 },
    memory: { time, workingSetBytes: 5 },
    swap: { time, swapUsageBytes: 0 },
    fs: { time, usedBytes: 1 },
    runtime: { imageFs: { time } },
    rlimit: { time, maxpid: 1, curproc: 1 },
    network: { time },
  },
  pods: [
    {
      ...{ podRef: { name: "web", namespace: "demo", uid: "u" }, startTime: epochMs(2_000) },
      cpu: { time, usageCoreNanoSeconds: 1_500_000_000 },
      memory: { time, workingSetBytes: 7 },
      network: { time },
      process_stats: { process_count: 1 },
      "ephemeral-storage": { time },
      containers: [
        {
          ...{ name: "main", startTime: epochMs(2_500), cpu: { time, usageCoreNanoSeconds: 1 } },
          swap: { time, swapUsageBytes: 3, swapAvailableBytes: 4 },
          ...{ rootfs: { time }, logs: { time } },
        },
      ],
    },
  ],
};

describe("/metrics/resource", () => {
  it("has each figure with its time, and no family without figures", () => {
    const page = resourceMetrics(SUMMARY);
    expect(page.split("\n").filter((line) => !line.startsWith("#"))).toEqual([
      'container_cpu_usage_seconds_total{container="main",namespace="demo",pod="web"} 1e-9 1700000000123',
      'container_start_time_seconds{container="main",namespace="demo",pod="web"} 2.5',
      'container_swap_limit_bytes{container="main",namespace="demo",pod="web"} 7 1700000000123',
      'container_swap_usage_bytes{container="main",namespace="demo",pod="web"} 3 1700000000123',
      "node_cpu_usage_seconds_total 46873.092360344 1700000000123",
      "node_memory_working_set_bytes 5 1700000000123",
      "node_swap_usage_bytes 0 1700000000123",
      'pod_cpu_usage_seconds_total{namespace="demo",pod="web"} 1.5 1700000000123',
      'pod_memory_working_set_bytes{namespace="demo",pod="web"} 7 1700000000123',
      "resource_scrape_error 0",
      "",
    ]);
    expect(page).toContain(
      "# HELP node_cpu_usage_seconds_total [STABLE] Cumulative cpu time consumed by the node in core-seconds\n" +
        "# TYPE node_cpu_usage_seconds_total counter\n",
    );
    expect(page).not.toContain("pod_swap_usage_bytes");
  });

  it("describes the swap usage of the node and of containers in upstream's words", () => {
    const help = resourceMetrics(SUMMARY)
      .split("\n")
      .filter((line) => line.startsWith("# HELP") && line.includes("swap_usage"));
    expect(help).toEqual([
      "# HELP container_swap_usage_bytes [ALPHA] Current amount of the container swap usage in bytes. Reported only on non-windows systems",
      "# HELP node_swap_usage_bytes [ALPHA] Current swap usage of the node in bytes. Reported only on non-windows systems",
    ]);
  });

  it("has the hidden metric on demand", () => {
    expect(resourceMetrics(undefined, { showsHidden: true })).toContain(
      "# HELP scrape_error [ALPHA] (Deprecated since 1.29.0) 1 if there was an error while getting container metrics, 0 otherwise\n" +
        "# TYPE scrape_error gauge\nscrape_error 1\n",
    );
  });

  it("reports only an error without a summary", () => {
    expect(resourceMetrics(undefined)).toBe(
      "# HELP resource_scrape_error [STABLE] 1 if there was an error while getting container metrics, 0 otherwise\n" +
        "# TYPE resource_scrape_error gauge\nresource_scrape_error 1\n",
    );
  });
});

describe("the summary", () => {
  it("prints instants as the API, and figures as numbers", () => {
    const { node, pods } = JSON.parse(summaryDocument(SUMMARY)) as Record<"node" | "pods", unknown>;
    expect(node).toMatchObject({
      startTime: "1970-01-01T00:00:01Z",
      cpu: { time: "2023-11-14T22:13:20Z", usageCoreNanoSeconds: 46_873_092_360_344 },
    });
    expect(pods).toMatchObject([{ containers: [{ startTime: "1970-01-01T00:00:02Z" }] }]);
  });

  it("has only CPU, memory and swap on demand", () => {
    const { node, pods } = onlyCpuAndMemory(SUMMARY);
    expect(Object.keys(node)).toEqual(["nodeName", "startTime", "cpu", "memory", "swap"]);
    expect(pods.map((pod) => Object.keys(pod))).toEqual([["podRef", "startTime", "cpu", "memory", "containers"]]);
    expect(pods[0]?.containers.map((each) => Object.keys(each))).toEqual([["name", "startTime", "cpu", "swap"]]);
  });
});
