/** What pods on a real containerd use, as metrics-server and people ask for it. */
import { expect, it } from "vitest";
import type { Summary } from "../../src/core/stats/summary.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
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

  it("shows growing CPU of a busy container, and its pod in the summary", async () => {
    const busy = script("main", "head -c 3000000 /dev/urandom > /written; while true; do :; done");
    await node.daemon.put("busy.json", manifest("busy", { containers: [busy] }));
    const { metadata } = await node.daemon.until("busy", isRunning, "Running");
    const labels = `{container="main",namespace="${metadata.namespace}",pod="${metadata.name}"}`;
    const name = "container_cpu_usage_seconds_total";
    let first: number | undefined;
    await waitFor("a first figure", async () => (first = await series(name, labels)) !== undefined, 20_000);
    await waitFor("more CPU time", async () => ((await series(name, labels)) ?? 0) > (first ?? 0), 20_000);
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
    });
  });
});
