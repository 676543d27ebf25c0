/** Pods that fork without end: the limit of a pod stops one, and a node short of process ids evicts another. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { parseThreads } from "../../src/core/stats/procText.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { cgroupFile, podCgroupOf } from "../support/kernelState.ts";
import { clusterNode, hasCondition, isReady } from "./clusterNode.ts";
import { script, server } from "./manifests.ts";

/** Processes of a pod, with the one of its sandbox. */
const POD_PIDS = 64;
/** Processes that the node can still start at the threshold: more than other programs of the machine start meanwhile. */
const NODE_PIDS = 800;
/** Processes of the pod that is evicted. */
const HUNGRY_PIDS = 2_000;

/** Process ids of this machine that are free now, as the eviction signal counts them. */
function freePids(): number {
  const text = (path: string): string => readFileSync(`/proc/${path}`, "utf8");
  const most = Math.min(Number(text("sys/kernel/pid_max")), Number(text("sys/kernel/threads-max")));
  return most - Number(parseThreads(text("loadavg")));
}

const sleepers = (condition: string): string => `while ${condition}; do sleep 3600 & done`;

describe("process ids", () => {
  describeOnContainerd("of a pod with a limit on containerd", (installation) => {
    const cluster = clusterNode(installation, { config: { podPidsLimit: POD_PIDS } });

    it("run out in the pod alone, which stays and can be deleted", async () => {
      const { node } = cluster;
      cluster.bind("neighbour", { containers: [server()] });
      await cluster.untilTold("neighbour", isReady, "Ready");
      // The shell of the loop ends at its first failed fork; the other one reads a FIFO that nobody writes to.
      const bomb = `mkfifo /full; (${sleepers(":")}) 2>/dev/null; echo full; read never <>/full`;
      cluster.bind("bomb", { containers: [script("main", bomb)] });
      const pod = await cluster.untilTold("bomb", isReady, "Ready");
      expect(await node.untilOutput(pod, "main", "full")).toEqual(["full"]);
      const cgroup = podCgroupOf(node.containerd.cgroupParent, pod);
      const counts = ["pids.max", "pids.current"].map((file) => Number(cgroupFile(cgroup, file)));
      // The shell that ended has given one back.
      expect(counts).toEqual([POD_PIDS, POD_PIDS - 1]);

      const neighbour = cluster.reported("neighbour");
      const [container] = await node.containers(neighbour?.metadata.uid);
      expect(await node.exec(container?.id ?? "", ["sh", "-c", "true | true | sleep 0"])).toBe(0);
      const phases = ["bomb", "neighbour"].map((name) => cluster.reported(name)?.status?.phase);
      expect(phases).toEqual(["Running", "Running"]);
    });
  });

  describeOnContainerd("of a node on containerd", (installation) => {
    const cluster = clusterNode(installation, {
      config: {
        evictionHard: { "pid.available": String(freePids() - NODE_PIDS) },
        evictionPressureTransitionPeriod: "1s",
      },
    });

    it("run short: the pod with most processes is evicted, and its neighbour stays", async () => {
      const ofNode = () => cluster.server.sim.object("nodes", { name: cluster.node.daemon.nodeName });
      const hasPressure = (is: string) => (): boolean => hasCondition(ofNode() ?? {}, "PIDPressure", is);
      await cluster.until("a node without pressure", hasPressure("False"));
      cluster.bind("neighbour", { containers: [server("main", sleepers("[ $((n += 1)) -le 20 ]"))] });
      await cluster.untilTold("neighbour", isReady, "Ready");
      const fork = `${sleepers(`[ $((n += 1)) -le ${HUNGRY_PIDS} ]`)}; wait`;
      cluster.bind("hungry", { containers: [script("main", fork)] });
      const isFailed = ({ status }: Pod): boolean => status?.phase === "Failed";
      const [{ status }] = await Promise.all([
        cluster.untilTold("hungry", isFailed, "Failed"),
        cluster.until("the pressure", hasPressure("True")),
      ]);
      expect([status?.reason, status?.message]).toEqual([
        "Evicted",
        expect.stringMatching(/^The node was low on resource: pids\. Threshold quantity: \w+, available: \w+\. $/),
      ]);
      await cluster.until("the end of the pressure", hasPressure("False"));
      expect(cluster.reported("neighbour")?.status?.phase).toBe("Running");
    });
  });
});
