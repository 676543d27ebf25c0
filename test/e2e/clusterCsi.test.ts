/** A claim on a CSI volume on a real node: attached first, mounted by a driver of our own, mounted still after a killed kubelet. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { firstValueFrom } from "rxjs";
import { expect, it } from "vitest";
import { attachmentId } from "../../src/core/csi/csiLayout.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { startCsiDriver } from "../support/csiDriver.ts";
import { NODE_NAME } from "../support/daemon.ts";
import { clusterNode, isReady } from "./clusterNode.ts";
import { server } from "./manifests.ts";

const DRIVER = "csi.example.com";
const VOLUME = `kubernetes.io/csi/${DRIVER}^h1`;
const claim = { namespace: "default", name: "data" };
const MOUNTS = { volumeMounts: [{ name: "data", mountPath: "/data" }] };

describeOnContainerd("a pod with a CSI volume", (installation) => {
  const cluster = clusterNode(installation);
  const ownNode = () => cluster.server.sim.object("nodes", { name: NODE_NAME });
  /** Acts as the attach-detach controller. */
  const attach = async (): Promise<void> => {
    const { sim } = cluster.server;
    const name = attachmentId(DRIVER, "h1", NODE_NAME);
    const source = { persistentVolumeName: "pv1" };
    const made = sim.put("volumeattachments", {
      metadata: { name },
      spec: { attacher: DRIVER, nodeName: NODE_NAME, source },
    });
    const status = { attached: true, attachmentMetadata: { path: "/dev/x" } };
    await firstValueFrom(sim.client().update("volumeattachments", { ...made, status }, { subresource: "status" }));
    const node = ownNode();
    const volumesAttached = [{ name: VOLUME, devicePath: "" }];
    const attached = { ...node, status: { ...node?.status, volumesAttached } };
    await firstValueFrom(sim.client().update("nodes", attached, { subresource: "status" }));
  };

  it("runs once the volume is attached, stays mounted when the kubelet is killed, and gives the volume back", async () => {
    const { node, server: api } = cluster;
    const registry = join(node.folder, "kubelet", "plugins_registry");
    await mkdir(registry, { recursive: true });
    const driver = await startCsiDriver(join(registry, "csi.sock"));
    const rpcs = () => driver.calls.flatMap(({ rpc }) => (rpc.includes("Volume") ? [rpc] : []));
    try {
      api.sim.put("csidrivers", { metadata: { name: DRIVER }, spec: { attachRequired: true } });
      const asked = api.sim.put("persistentvolumeclaims", {
        metadata: claim,
        spec: { volumeName: "pv1", accessModes: ["ReadWriteOnce"] },
      });
      const claimRef = { ...claim, uid: asked.metadata?.uid ?? "" };
      api.sim.put("persistentvolumes", {
        metadata: { name: "pv1" },
        spec: { claimRef, accessModes: ["ReadWriteOnce"], csi: { driver: DRIVER, volumeHandle: "h1" } },
      });
      const bound = { ...asked, status: { phase: "Bound" } };
      await firstValueFrom(api.sim.client().update("persistentvolumeclaims", bound, { subresource: "status" }));
      cluster.bind("web", {
        containers: [server("main", "cat /data/* 2>/dev/null; echo hello > /data/file", MOUNTS)],
        volumes: [{ name: "data", persistentVolumeClaim: { claimName: claim.name } }],
      });

      await cluster.until("the volume to be in use", () => ownNode()?.status?.volumesInUse?.includes(VOLUME));
      expect(rpcs()).toEqual([]);
      await attach();
      const web = await cluster.untilTold("web", isReady, "ready");
      expect(rpcs()).toEqual(["nodeStageVolume", "nodePublishVolume"]);
      expect(driver.calls.find(({ rpc }) => rpc === "nodeStageVolume")?.request).toMatchObject({
        publishContext: { path: "/dev/x" },
      });

      await node.daemon.kill();
      await node.daemon.restart();
      await cluster.until("the publication after the restart", () => rpcs().length === 4);
      expect(await cluster.untilTold("web", isReady, "ready")).toMatchObject({
        status: { containerStatuses: [{ containerID: web.status?.containerStatuses?.[0]?.containerID }] },
      });
      expect(ownNode()?.status?.volumesInUse).toEqual([VOLUME]);

      await node.daemon.kill();
      api.sim.delete("pods", { namespace: "default", name: "web" }, { gracePeriodSeconds: 0 });
      await node.daemon.restart();
      await cluster.until("the volume to be free", () => (ownNode()?.status?.volumesInUse ?? []).length === 0);
      expect(rpcs().slice(-2)).toEqual(["nodeUnpublishVolume", "nodeUnstageVolume"]);
    } finally {
      driver.stop();
      await driver.release();
    }
  });
});
