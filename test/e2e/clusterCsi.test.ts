/**
 * Claims on CSI volumes on a real node, with drivers of our own: attached first, mounted still after a killed kubelet, grown
 * while they are in use, and refused where no controller attaches them.
 */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { firstValueFrom } from "rxjs";
import { expect, it } from "vitest";
import type { Summary } from "../../src/core/stats/summary.ts";
import { attachmentId } from "../../src/core/csi/csiLayout.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { type CsiDriverOptions, startCsiDriver } from "../support/csiDriver.ts";
import { NODE_NAME } from "../support/daemon.ts";
import { clusterNode, isReady } from "./clusterNode.ts";
import { server } from "./manifests.ts";

const MOUNTS = { volumeMounts: [{ name: "data", mountPath: "/data" }] };
const CONTROLLED = "volumes.kubernetes.io/controller-managed-attach-detach";

describeOnContainerd("a pod with a CSI volume", (installation) => {
  // Claims are read again with each sync.
  const cluster = clusterNode(installation, { config: { syncFrequency: "1s" } });
  const ownNode = () => cluster.server.sim.object("nodes", { name: NODE_NAME });
  const isControlled = () => ownNode()?.metadata?.annotations?.[CONTROLLED] === "true";
  const inUse = () => ownNode()?.status?.volumesInUse ?? [];

  /** Starts a driver, and creates a volume of it with a bound claim; objects have the name of the claim. */
  const provide = async (
    name: string,
    { isAttached, capabilities }: { readonly isAttached: boolean } & Pick<CsiDriverOptions, "capabilities">,
  ) => {
    const { sim } = cluster.server;
    const driverName = `${name}.example.com`;
    const registry = join(cluster.node.folder, "kubelet", "plugins_registry");
    await mkdir(registry, { recursive: true });
    const options = { name: driverName, ...(capabilities && { capabilities }) };
    const driver = await startCsiDriver(join(registry, `${name}.sock`), options);
    sim.put("csidrivers", { metadata: { name: driverName }, spec: { attachRequired: isAttached } });
    const claim = { namespace: "default", name };
    const resources = { requests: { storage: "16Mi" } };
    const accessModes = ["ReadWriteOnce"];
    const asked = sim.put("persistentvolumeclaims", {
      metadata: claim,
      spec: { volumeName: name, accessModes, resources },
    });
    const csi = { driver: driverName, volumeHandle: name };
    const claimRef = { ...claim, uid: asked.metadata?.uid ?? "" };
    sim.put("persistentvolumes", {
      metadata: { name },
      spec: { claimRef, accessModes, csi, capacity: resources.requests },
    });
    sim.setStatusOf("persistentvolumeclaims", claim, { phase: "Bound", capacity: resources.requests });
    return {
      claim,
      volume: `kubernetes.io/csi/${driverName}^${name}`,
      calls: driver.calls,
      rpcs: () => driver.calls.flatMap(({ rpc }) => (/Volume$/.test(rpc) ? [rpc] : [])),
      start: () =>
        cluster.bind(name, {
          containers: [server("main", "cat /data/* 2>/dev/null; echo hello > /data/file", MOUNTS)],
          volumes: [{ name: "data", persistentVolumeClaim: { claimName: name } }],
        }),
      attachment: () => sim.object("volumeattachments", { name: attachmentId(driverName, name, NODE_NAME) }),
      /** Acts as the attach-detach controller. */
      attach: async (): Promise<void> => {
        const source = { persistentVolumeName: name };
        const made = sim.put("volumeattachments", {
          metadata: { name: attachmentId(driverName, name, NODE_NAME) },
          spec: { attacher: driverName, nodeName: NODE_NAME, source },
        });
        const status = { attached: true, attachmentMetadata: { path: "/dev/x" } };
        await firstValueFrom(sim.client().update("volumeattachments", { ...made, status }, { subresource: "status" }));
        const volumesAttached = [{ name: `kubernetes.io/csi/${driverName}^${name}`, devicePath: "" }];
        sim.setStatusOf("nodes", { name: NODE_NAME }, { ...ownNode()?.status, volumesAttached });
      },
      /** Ends the driver once nothing of it is staged, which no pod waits for. */
      end: async (): Promise<void> => {
        const stages = join(cluster.node.folder, "kubelet", "plugins/kubernetes.io/csi", driverName);
        const left = async () => (await readdir(stages).catch(() => [])).length;
        await cluster.until(`${name} to be unstaged`, async () => (await left()) === 0);
        driver.stop();
        await driver.release();
      },
    };
  };
  /** Starts another kubelet after a killed one, with this setting. */
  const restart = async (enableControllerAttachDetach: boolean): Promise<void> => {
    const { daemon, folder } = cluster.node;
    const file = join(folder, "config.json");
    await daemon.kill();
    const config = JSON.parse(await readFile(file, "utf8")) as object;
    await writeFile(file, JSON.stringify({ ...config, enableControllerAttachDetach }));
    await daemon.restart();
    await cluster.until("the annotation of the Node", () => isControlled() === enableControllerAttachDetach);
  };
  const idOf = async (name: string) =>
    (await cluster.untilTold(name, isReady, "ready")).status?.containerStatuses?.[0]?.containerID;

  it("runs once the volume is attached, stays mounted when the kubelet is killed, and gives the volume back", async () => {
    const { node, server: api } = cluster;
    const provided = await provide("data", {
      isAttached: true,
      capabilities: ["STAGE_UNSTAGE_VOLUME", "GET_VOLUME_STATS"],
    });
    const { claim, volume, calls, rpcs, start, attach, end } = provided;
    try {
      start();
      await cluster.until("the volume to be in use", () => inUse().includes(volume));
      expect(rpcs()).toEqual([]);
      await attach();
      const id = await idOf("data");
      expect(rpcs()).toEqual(["nodeStageVolume", "nodePublishVolume"]);
      expect(calls.find(({ rpc }) => rpc === "nodeStageVolume")?.request).toMatchObject({
        publishContext: { path: "/dev/x" },
      });

      const pvcRef = { namespace: "default", name: claim.name };
      const counted = await cluster.until("statistics of the volume", async () => {
        const summary = (await (await fetch(`${node.daemon.readOnlyUrl}/stats/summary`)).json()) as Summary;
        const pod = summary.pods.find(({ podRef }) => podRef.name === "data");
        return pod?.volume?.find(({ name }) => name === "data");
      });
      expect(counted).toMatchObject({ pvcRef, capacityBytes: 3, usedBytes: 2, availableBytes: 1, inodes: 0 });
      const metrics = await (await fetch(`${node.daemon.readOnlyUrl}/metrics`)).text();
      expect(metrics).toMatch(
        /^kubelet_volume_stats_capacity_bytes\{namespace="default",persistentvolumeclaim="data"\} 3$/m,
      );

      await node.daemon.kill();
      await node.daemon.restart();
      await cluster.until("the publication after the restart", () => rpcs().length === 4);
      expect(await idOf("data")).toBe(id);
      expect(inUse()).toEqual([volume]);

      await node.daemon.kill();
      api.sim.delete("pods", { namespace: "default", name: "data" }, { gracePeriodSeconds: 0 });
      await node.daemon.restart();
      await cluster.until("the volume to be free", () => inUse().length === 0);
      expect(rpcs().slice(-2)).toEqual(["nodeUnpublishVolume", "nodeUnstageVolume"]);
    } finally {
      await end();
    }
  });

  it("has a volume that grows while it is in use, and the claim says so", async () => {
    const { sim, requests } = cluster.server;
    const capabilities = ["STAGE_UNSTAGE_VOLUME", "EXPAND_VOLUME"] as const;
    const { claim, rpcs, start, end } = await provide("grown", { isAttached: false, capabilities });
    const statusOf = () => sim.object("persistentvolumeclaims", claim)?.status;
    const storage = "32Mi";
    try {
      start();
      const id = await idOf("grown");
      // The controller has made the volume larger.
      const { name } = claim;
      sim.put("persistentvolumeclaims", { metadata: claim, spec: { resources: { requests: { storage } } } });
      const pending = {
        allocatedResources: { storage },
        allocatedResourceStatuses: { storage: "NodeResizePending" },
      };
      sim.setStatusOf("persistentvolumeclaims", claim, { ...statusOf(), ...pending });
      sim.put("persistentvolumes", { metadata: { name }, spec: { capacity: { storage } } });
      await cluster.until("the claim to have the size", () => statusOf()?.capacity?.["storage"] === storage);
      expect(statusOf()).toEqual({ phase: "Bound", capacity: { storage }, allocatedResources: { storage } });
      expect(rpcs().filter((rpc) => rpc === "nodeExpandVolume")).toHaveLength(1);
      const path = "/api/v1/namespaces/default/persistentvolumeclaims/grown/status";
      expect(requests.filter((line) => line.startsWith(`PATCH ${path}`))).toHaveLength(2);
      expect(await idOf("grown")).toBe(id);
    } finally {
      cluster.server.sim.delete("pods", claim, { gracePeriodSeconds: 1 });
      await cluster.untilGone("grown");
      await end();
    }
  });

  it("says that nobody attaches the volume, and keeps an attached one, where the controller may not", async () => {
    const { sim, requests } = cluster.server;
    const { claim, volume, rpcs, start, attachment, attach, end } = await provide("alone", { isAttached: true });
    try {
      await restart(false);
      start();
      const told = () => sim.objects("events").find(({ reason }) => reason === "FailedAttachVolume");
      await cluster.until("the event", told);
      expect(told()).toMatchObject({
        type: "Warning",
        involvedObject: { kind: "Pod", name: "alone" },
        message: 'AttachVolume.Attach failed for volume "alone" : attaching volumes from the kubelet is not supported',
      });
      expect(rpcs()).toEqual([]);

      await restart(true);
      await cluster.until("the volume to be in use", () => inUse().includes(volume));
      await attach();
      const id = await idOf("alone");

      await restart(false);
      await cluster.until("the publication after the restart", () => rpcs().length === 4);
      expect(await idOf("alone")).toBe(id);
      sim.delete("pods", claim, { gracePeriodSeconds: 1 });
      await cluster.until("the volume to be free", () => inUse().length === 0);
      expect(rpcs().slice(-2)).toEqual(["nodeUnpublishVolume", "nodeUnstageVolume"]);
      // The attachment is left to its controller: a node may only read it.
      expect(attachment()?.status?.attached).toBe(true);
      const writes = requests.filter((line) => !line.startsWith("GET ") && line.includes("volumeattachments"));
      expect(writes).toEqual([]);
      await restart(true);
    } finally {
      await end();
    }
  });
});
