/** Resource usage of pods on a real containerd, as requested by metrics-server and users. */
import { expect, it } from "vitest";
import type { Summary } from "../../src/core/stats/summary.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { parseExposition } from "../support/exposition.ts";
import { waitFor } from "../support/waitFor.ts";
import { httpsNode } from "./httpsNode.ts";
import { manifest, script } from "./manifests.ts";

const isRunning = ({ status }: { readonly status?: { readonly phase?: string } }) => status?.phase === "Running";

describeOnContainerd("stats on containerd", (installation) => {
  const kubelet = httpsNode(installation);
  const { node, request } = kubelet;

  /** The value of one series of `/metrics/resource`; every line of the page has to be one. */
  async function series(name: string, labels: string): Promise<number | undefined> {
    const { status, body } = await request("/metrics/resource");
    expect(status).toBe(200);
    const lines = body.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    for (const line of lines) expect(line).toMatch(/^[a-z_]+(\{([a-z]+="[^"]*",?)+\})? [\d.e+-]+( \d{13})?$/);
    const found = lines.find((line) => line.startsWith(`${name}${labels} `));
    return found === undefined ? undefined : Number(found.split(" ")[1]);
  }

  /** Every series of the page by what is before its value; all lines have to be well-formed. */
  async function cadvisorPage(): Promise<ReadonlyMap<string, number>> {
    const { status, body } = await request("/metrics/cadvisor");
    expect(status).toBe(200);
    return new Map(parseExposition(body).flatMap(({ samples }) => samples.map(({ series, value }) => [series, value])));
  }

  it("shows growing CPU of a busy container, and its pod in the summary", async () => {
    const busy = script("main", "head -c 3000000 /dev/urandom > /written; while true; do :; done");
    await node.daemon.put("busy.json", manifest("busy", { containers: [busy] }));
    const { metadata } = await node.daemon.until("busy", isRunning, "Running");
    const labels = `{container="main",namespace="${metadata.namespace}",pod="${metadata.name}"}`;
    const name = "container_cpu_usage_seconds_total";
    let first: number | undefined;
    await waitFor("a first figure", async () => (first = await series(name, labels)) !== undefined);
    await waitFor("more CPU time", async () => ((await series(name, labels)) ?? 0) > (first ?? 0));
    expect(await series("resource_scrape_error", "")).toBe(0);
    expect(await series("container_memory_working_set_bytes", labels)).toBeGreaterThan(0);
    expect(await series("node_cpu_usage_seconds_total", "")).toBeGreaterThan(first ?? 0);

    const summary = JSON.parse((await request("/stats/summary")).body) as Summary;
    const pod = summary.pods.find(({ podRef }) => podRef.uid === metadata.uid);
    const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as unknown;
    const positive = expect.toSatisfy((value: number) => value > 0) as unknown;
    expect(pod).toMatchObject({
      podRef: { name: metadata.name, namespace: metadata.namespace },
      startTime: instant,
      cpu: { time: instant, usageNanoCores: positive, usageCoreNanoSeconds: positive },
      memory: { workingSetBytes: positive },
      network: { name: "eth0" },
      process_stats: { process_count: positive },
      "ephemeral-storage": { usedBytes: positive, capacityBytes: positive },
      containers: [
        {
          name: "main",
          cpu: { usageNanoCores: positive, usageCoreNanoSeconds: positive },
          memory: { workingSetBytes: positive },
          rootfs: { capacityBytes: positive },
          logs: { usedBytes: expect.any(Number) as unknown },
        },
      ],
    });
    expect(summary.node).toMatchObject({
      cpu: { usageNanoCores: positive },
      memory: { availableBytes: positive, workingSetBytes: positive },
      fs: { availableBytes: positive },
      // containerd counts images every 10 s only.
      runtime: { imageFs: { usedBytes: expect.any(Number) as unknown, capacityBytes: positive } },
      rlimit: { maxpid: positive, curproc: positive },
      systemContainers: expect.arrayContaining([
        expect.objectContaining({ name: "pods", memory: expect.objectContaining({ workingSetBytes: positive }) }),
      ]) as unknown,
    });
  });

  it("shows the same pod on /metrics/cadvisor: cgroups, its network, its files and the machine", async () => {
    const looped = script(
      "main",
      "while true; do wget -q -O /dev/null http://127.0.0.1:1/ 2>/dev/null; sleep 0.1; done",
    );
    const limits = { cpu: "200m", memory: "64Mi" };
    await node.daemon.put("shown.json", manifest("shown", { containers: [{ ...looped, resources: { limits } }] }));
    const { metadata, status } = await node.daemon.until("shown", isRunning, "Running");
    const pod = { namespace: metadata.namespace ?? "", pod: metadata.name ?? "" };
    const id = status?.containerStatuses?.[0]?.containerID?.replace(/^.*:\/\//, "") ?? "";
    let page: ReadonlyMap<string, number> = new Map();
    const value = (name: string, labels: Readonly<Record<string, string>>): number | undefined =>
      [...page].find(
        ([series]) =>
          series.startsWith(`${name}{`) &&
          Object.entries(labels).every(([label, text]) => series.includes(`${label}="${text}"`)),
      )?.[1];
    const container = { ...pod, container: "main", name: id };
    await waitFor("its CPU time", async () => {
      page = await cadvisorPage();
      return (value("container_cpu_usage_seconds_total", container) ?? 0) > 0;
    });
    expect(value("container_cpu_usage_seconds_total", { ...container, cpu: "total" })).toBeGreaterThan(0);
    expect(value("container_spec_memory_limit_bytes", container)).toBe(64 * 1024 * 1024);
    expect(value("container_spec_cpu_quota", container)).toBe(20_000);
    expect(value("container_cpu_cfs_periods_total", container)).toBeGreaterThanOrEqual(0);
    expect(value("container_memory_working_set_bytes", container)).toBeGreaterThan(0);
    expect(value("container_processes", container)).toBeGreaterThan(0);
    expect(value("container_threads", container)).toBeGreaterThan(0);
    expect(value("container_file_descriptors", container)).toBeGreaterThan(0);
    expect(value("container_ulimits_soft", { ...container, ulimit: "max_open_files" })).toBeGreaterThan(0);
    expect(value("container_fs_limit_bytes", container)).toBeGreaterThan(0);
    expect(value("container_start_time_seconds", container)).toBeGreaterThan(1_600_000_000);
    const network = { ...pod, container: "", interface: "eth0" };
    expect(value("container_network_receive_packets_total", network)).toBeGreaterThanOrEqual(0);
    expect(value("container_memory_usage_bytes", { ...pod, container: "", name: "" })).toBeGreaterThan(0);
    const root = { id: "/", pod: "", namespace: "" };
    expect(value("container_cpu_usage_seconds_total", root)).toBeGreaterThan(0);
    expect(page.get("container_scrape_error{}")).toBe(0);
    // A series each: cores, physical cores, sockets, books, drawers.
    expect([...page.keys()].filter((series) => series.startsWith("machine_cpu_"))).toHaveLength(5);
  });
});
