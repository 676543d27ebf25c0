/** A node whose images and containers have a small disk of their own, which gets full. */
import { describe, expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { missingForLoopDevices } from "../support/loopDevice.ts";
import { pauseImage } from "../support/images.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { waitFor } from "../support/waitFor.ts";
import { clusterNode, hasCondition } from "./clusterNode.ts";
import { script, server } from "./manifests.ts";

const DISK_MEGABYTES = 128;
const MIB = 2 ** 20;
/** Pods of this priority are not evicted: neither the one that fills the disk, nor the other while containerd frees it. */
const CRITICAL = 2_000_000_000;
/** Two looks of the eviction manager: at the first, the container may still run. */
const FREED_WAIT_MS = 30_000;

interface Space {
  readonly availableBytes: number;
  readonly capacityBytes: number;
}

describe.skipIf(mustSkip("the disk of images", missingForLoopDevices()))("with loop devices", () => {
  describeOnContainerd("a disk of images on containerd", (installation) => {
    const cluster = clusterNode(installation, {
      containerd: { diskMegabytes: DISK_MEGABYTES },
      config: {
        evictionHard: { "imagefs.available": `${DISK_MEGABYTES / 2}Mi` },
        evictionPressureTransitionPeriod: "1s",
      },
    });

    const { node } = cluster;
    const imageFs = async (): Promise<Space> => {
      const answer = await fetch(`${node.daemon.readOnlyUrl}/stats/summary`);
      const summary = (await answer.json()) as { readonly node: { readonly runtime: { readonly imageFs: Space } } };
      return summary.node.runtime.imageFs;
    };

    it("gets the space of dead containers back without an eviction, and their pod keeps its status", async () => {
      cluster.bind("user", { containers: [server()], priority: CRITICAL });
      await cluster.untilTold("user", ({ status }) => status?.phase === "Running", "Running");
      const containers = [script("main", `dd if=/dev/zero of=/big bs=1M count=${DISK_MEGABYTES / 2}`)];
      cluster.bind("big", { restartPolicy: "Never", containers, priority: CRITICAL });
      const isDone = ({ status }: Pod): boolean => status?.phase === "Succeeded";
      const { metadata } = await cluster.untilTold("big", isDone, "Succeeded");
      const isFree = async (): Promise<boolean> => {
        const { availableBytes, capacityBytes } = await imageFs();
        return capacityBytes < DISK_MEGABYTES * MIB && availableBytes > (DISK_MEGABYTES / 2) * MIB;
      };
      const isRemoved = async (): Promise<boolean> => (await node.containers(metadata.uid)).length === 0;
      await waitFor("the container to be removed", isRemoved, FREED_WAIT_MS);
      await waitFor("the space to be freed", isFree, FREED_WAIT_MS);
      const phases = ["user", "big"].map((name) => cluster.reported(name)?.status?.phase);
      expect(phases).toEqual(["Running", "Succeeded"]);
      expect((await node.daemon.logEntries()).filter(({ reason }) => reason === "EvictionThresholdMet")).not.toEqual(
        [],
      );
    });

    it("is freed by the eviction of the pod that fills its writable layer, before any other pod", async () => {
      const ofNode = () => cluster.server.sim.object("nodes", { name: node.daemon.nodeName }) ?? {};
      await cluster.until("a node without pressure", () => hasCondition(ofNode(), "DiskPressure", "False"));
      // The reclaim before has removed the image of sandboxes, which is not pinned here.
      await node.containerd.importImage(await pauseImage());
      cluster.bind("beside", { containers: [server()] });
      await cluster.untilTold("beside", ({ status }) => status?.phase === "Running", "Running");
      const fill = `dd if=/dev/zero of=/big bs=1M count=${DISK_MEGABYTES / 2}; sleep 3600`;
      cluster.bind("filler", { containers: [script("main", fill)] });
      const { status } = await cluster.untilTold("filler", ({ status }) => status?.phase === "Failed", "Failed");
      expect([status?.reason, status?.message]).toEqual([
        "Evicted",
        expect.stringMatching(
          /^The node was low on resource: ephemeral-storage\. Threshold quantity: 64Mi, available: /,
        ),
      ]);
      const isWell = async (): Promise<boolean> => (await imageFs()).availableBytes > (DISK_MEGABYTES / 2) * MIB;
      await waitFor("the space to be freed", isWell, FREED_WAIT_MS);
      // If the runtime frees the space late, another pod follows, as with upstream.
      const evicted = (await node.daemon.logEntries()).filter(({ msg }) => msg === "Pod is evicted");
      expect(evicted[0]).toMatchObject({ pod: "default/filler" });
    });
  });
});
