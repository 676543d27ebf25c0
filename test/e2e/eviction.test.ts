/** A node that runs short of a disk, of its inodes and of memory for pods: one pod goes, its neighbours stay. */
import { execFileSync } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { unmountBelow } from "../support/kernelState.ts";
import { type LoopDevice, loopDevice } from "../support/loopDevice.ts";
import { removeFolder } from "../support/removeFolder.ts";
import { clusterNode, hasCondition, isReady } from "./clusterNode.ts";
import { failing, server } from "./manifests.ts";

const DISK_MB = 96;
const INODES = 6_000;
const MIB = 2 ** 20;
/** Memory of all pods together. */
const PODS_MB = 320;
const EVICTION = {
  evictionHard: { "nodefs.available": "32Mi", "nodefs.inodesFree": "2k", "memory.available": "100Mi" },
  evictionPressureTransitionPeriod: "1s",
  volumeStatsAggPeriod: "1s",
  kubeReserved: { memory: `${Math.floor(totalmem() / MIB) - PODS_MB}Mi` },
};
const PRESSURES = ["MemoryPressure", "DiskPressure"];

const isFailed = ({ status }: Pod): boolean => status?.phase === "Failed";

describeOnContainerd("node-pressure eviction on containerd", (installation) => {
  let disk: LoopDevice | undefined;
  let mountPoint = "";
  // Runs after the hook of the node, which ends the daemon.
  afterAll(async () => {
    if (mountPoint === "") return;
    unmountBelow(mountPoint);
    disk?.detach();
    await removeFolder(mountPoint);
  });
  const folder = async (): Promise<string> => {
    disk = loopDevice(DISK_MB);
    execFileSync("mkfs.ext4", ["-q", "-m", "0", "-N", String(INODES), disk.device]);
    const made = await mkdtemp(join(tmpdir(), "rxlet-small-disk-"));
    execFileSync("mount", [disk.device, made]);
    mountPoint = made;
    return made;
  };
  const cluster = clusterNode(installation, { config: EVICTION, folder });

  it.each([
    [
      "disk",
      "head -c 62000000 /dev/zero >/data/file",
      /^The node was low on resource: ephemeral-storage\. Threshold quantity: 32Mi, available: \w+\. /,
      { starved_resource: "ephemeral-storage" },
    ],
    [
      "inodes",
      "cd /data; i=0; while [ $i -lt 4500 ]; do : >$i; i=$((i + 1)); done",
      /^The node was low on resource: inodes\. Threshold quantity: 2k, available: \d+\. /,
      { starved_resource: "inodes" },
    ],
    [
      "memory",
      "{ head -c 240000000 /dev/zero; sleep 3600; } | tail & :",
      /^The node was low on resource: memory\. Threshold quantity: 100Mi, available: \w+\. Container main was using \w+, request is 0, has larger consumption of memory\. $/,
      { starved_resource: "memory", offending_containers: "main" },
    ],
  ])(
    "short of %s evicts the pod that uses it, and leaves its neighbour alone",
    async (name, use, message, annotations) => {
      const volumes = [{ name: "data", emptyDir: {} }];
      const volumeMounts = [{ name: "data", mountPath: "/data" }];
      const ofNode = () => cluster.server.sim.object("nodes", { name: cluster.node.daemon.nodeName });
      const isWell = (): boolean => PRESSURES.every((type) => hasCondition(ofNode() ?? {}, type, "False"));
      await cluster.until("a node without pressure", isWell);
      const small = `small-beside-${name}`;
      cluster.bind(small, { volumes, containers: [server("main", ":", { volumeMounts })] });
      await cluster.untilTold(small, isReady, "Ready");
      cluster.bind(name, { volumes, containers: [failing("main", use, { volumeMounts })] });
      const { status } = await cluster.untilTold(name, isFailed, "Failed");
      expect([status?.reason, status?.message]).toEqual(["Evicted", expect.stringMatching(message)]);
      expect(status?.conditions).toContainEqual(
        expect.objectContaining({ type: "DisruptionTarget", status: "True", reason: "TerminationByKubelet" }),
      );
      const event = await cluster.until("an event", () =>
        cluster.server.sim
          .objects("events")
          .find(({ reason, involvedObject }) => reason === "Evicted" && involvedObject.name === name),
      );
      expect(event.metadata?.annotations).toMatchObject(annotations);
      await cluster.until("the end of the pressure", isWell);
      expect(cluster.reported(small)?.status?.phase).toBe("Running");
    },
  );
});
