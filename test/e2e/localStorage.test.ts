/** Local storage of cluster pods on containerd: statistics and eviction over the limit. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { firstValueFrom } from "rxjs";
import { expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import type { PodStats, Summary } from "../../src/core/stats/summary.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { clusterNode, isReady } from "./clusterNode.ts";
import { failing, server as serving } from "./manifests.ts";

const ref = (name: string) => ({ namespace: "default", name });
const at = (name: string) => ({ name, mountPath: `/${name}` });
const isFailed = ({ status }: Pod): boolean => status?.phase === "Failed";

describeOnContainerd("local storage on containerd", (installation) => {
  const cluster = clusterNode(installation, { config: { volumeStatsAggPeriod: "1s" } });
  const { node } = cluster;
  const statsOf = async ({ metadata }: Pod): Promise<PodStats | undefined> => {
    const summary = (await (await fetch(`${node.daemon.readOnlyUrl}/stats/summary`)).json()) as Summary;
    return summary.pods.find(({ podRef }) => podRef.uid === metadata.uid);
  };
  const evicted = (name: string) =>
    cluster.server.sim
      .objects("events")
      .find(({ reason, involvedObject }) => reason === "Evicted" && involvedObject.name === name);

  it("is reported per volume, and in metrics for volumes with claims", async () => {
    const { sim: server } = cluster.server;
    const disk = join(node.folder, "disk");
    await mkdir(disk);
    const claim = server.put("persistentvolumeclaims", { metadata: ref("claim"), spec: { volumeName: "pv" } });
    const claimRef = { ...ref("claim"), uid: claim.metadata?.uid ?? "" };
    server.put("persistentvolumes", { metadata: { name: "pv" }, spec: { claimRef, local: { path: disk } } });
    const bound = { ...claim, status: { phase: "Bound" } };
    await firstValueFrom(server.client().update("persistentvolumeclaims", bound, { subresource: "status" }));
    server.put("configmaps", { metadata: ref("settings"), data: { color: "blue" } });
    const volumes = [
      { name: "scratch", emptyDir: {} },
      { name: "fast", emptyDir: { medium: "Memory", sizeLimit: "4Mi" } },
      { name: "settings", configMap: { name: "settings" } },
      { name: "disk", persistentVolumeClaim: { claimName: "claim" } },
    ];
    const write = "head -c 2097152 /dev/zero >/scratch/file; head -c 1048576 /dev/zero >/fast/file";
    const container = serving("main", write, { volumeMounts: volumes.map(({ name }) => at(name)) });
    cluster.bind("writer", { volumes, containers: [container] });
    const pod = await cluster.untilTold("writer", isReady, "Ready");
    const stats = await cluster.until("what it has written is counted", async () => {
      const found = await statsOf(pod);
      const isThere = (name: string): boolean =>
        (found?.volume?.find((each) => each.name === name)?.usedBytes ?? 0) >= 1024 * 1024;
      return isThere("scratch") && isThere("fast") && found;
    });
    const of = (name: string) => stats.volume?.find((each) => each.name === name);
    expect(stats.volume?.map(({ name }) => name)).toEqual(["scratch", "settings", "fast", "disk"]);
    expect(of("scratch")?.usedBytes).toBeGreaterThanOrEqual(2 * 1024 * 1024);
    expect(of("fast")).toMatchObject({ capacityBytes: 4 * 1024 * 1024, inodesUsed: 2 });
    expect(of("disk")).toMatchObject({ pvcRef: { name: "claim", namespace: "default" } });
    const own = [of("scratch"), of("settings")].reduce((sum, each) => sum + (each?.usedBytes ?? 0), 0);
    expect(stats["ephemeral-storage"]?.usedBytes).toBeGreaterThanOrEqual(own);
    const metrics = await (await fetch(`${node.daemon.readOnlyUrl}/metrics`)).text();
    const capacity =
      /^kubelet_volume_stats_capacity_bytes\{namespace="default",persistentvolumeclaim="claim"\} (\d+)$/m;
    expect(Number(capacity.exec(metrics)?.[1])).toBe(of("disk")?.capacityBytes);
  });

  it.each([
    [
      "emptyDir beyond its size",
      { volumes: [{ name: "scratch", emptyDir: { sizeLimit: "1Mi" } }] },
      "head -c 2097152 /dev/zero >/scratch/file",
      {},
      'Usage of EmptyDir volume "scratch" exceeds the limit "1Mi". ',
    ],
    [
      "container with too much of a log",
      { volumes: [{ name: "scratch", emptyDir: {} }] },
      "head -c 2097152 /dev/zero | tr '\\0' x",
      { resources: { limits: { "ephemeral-storage": "1Mi" } } },
      "Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. ",
    ],
  ])("of a pod goes with it: %s", async (what, spec, write, more, message) => {
    const name = what.replaceAll(" ", "-").toLowerCase();
    const container = failing("main", write, { volumeMounts: [at("scratch")], ...more });
    cluster.bind(name, { ...spec, containers: [container] });
    const { status } = await cluster.untilTold(name, isFailed, "Failed");
    expect([status?.reason, status?.message]).toEqual(["Evicted", message]);
    const event = await cluster.until("an event about it", () => evicted(name));
    expect([event.type, event.message]).toEqual(["Warning", message]);
  });
});
