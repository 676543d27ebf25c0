/** A whole node that finds a CSI volume which upstream's kubelet staged and published to no pod. */
import { describe, expect, it } from "vitest";
import { sha256 } from "../../src/core/sha256.ts";
import { createSimApiServer } from "../../src/sim/apiServer/simApiServer.ts";
import { createPrng } from "../../src/sim/prng.ts";
import { createSimNode, type SimNode } from "../../src/sim/simNode.ts";
import { createSimStorage } from "../../src/sim/storage/simStorage.ts";
import { stage } from "../../src/sim/storage/simCsiMounts.ts";
import { createHeapScheduler } from "../../src/sim/time/heapScheduler.ts";
import { createSimClock } from "../../src/sim/time/simClock.ts";

const DISK = "disk.csi.example.com";
const STAGE = `/var/lib/kubelet/plugins/kubernetes.io/csi/${DISK}/${sha256("v")}`;
const NAME = `kubernetes.io/csi/${DISK}^v`;

/** A node with the stage, whose driver runs or not. */
function nodeWithStage() {
  const scheduler = createHeapScheduler();
  const clock = createSimClock(scheduler);
  const server = createSimApiServer({ clock, latency: () => 2 });
  const calls: string[] = [];
  const storage = createSimStorage({
    ...{ clock, prng: createPrng(1), faults: () => ({ kind: "answer" }) },
    machine: () => node.host,
    bootId: () => node.host.machine.bootId,
    see: (seen) => {
      if (seen.kind === "csi" && seen.what === "done") calls.push(`${seen.rpc} ${seen.path}`);
    },
  });
  const node: SimNode = createSimNode({
    ...{ seed: "one", scheduler, api: server, config: { nodeName: "one" } },
    ...{ plugins: storage.ports.plugins, csiDrivers: () => storage.ports.csiDrivers },
  });
  node.files.put(`${STAGE}/vol_data.json`, `{"driverName":"${DISK}","volumeHandle":"v"}\n`);
  node.files.tree.makeDirectory(`${STAGE}/globalmount`, 0o750);
  stage(node.host, "v", `${STAGE}/globalmount`);
  const inUse = () => server.object("nodes", { name: "one" })?.status?.volumesInUse ?? [];
  const stages = () => node.kubelet?.queries.volumes().stages ?? [];
  const driver = storage.processes.find(({ name }) => name === DISK);
  return { node, calls, inUse, stages, driver };
}

describe("a volume that is staged for no pod", () => {
  it("is in use, shown with its reason, and unstaged once its driver has registered", () => {
    const { node, calls, inUse, stages, driver } = nodeWithStage();
    driver?.end(false);
    node.runFor(20_000);
    const reason = `kubernetes.io/csi: attacher.UnmountDevice failed to create newCsiDriverClient: driver name ${DISK} not found in the list of registered CSI drivers`;
    expect([inUse(), stages(), calls]).toEqual([
      [NAME],
      [{ volume: `${DISK}^v`, path: `${STAGE}/globalmount`, reason }],
      [],
    ]);
    driver?.start();
    node.runFor(60_000);
    expect([inUse(), stages(), calls]).toEqual([[], [], [`NodeUnstageVolume ${STAGE}/globalmount`]]);
    expect(node.files.paths().filter((path) => path.startsWith(STAGE))).toEqual([]);
  });

  it("is unstaged, however often the kubelet is killed meanwhile", () => {
    const { node, calls, inUse } = nodeWithStage();
    for (const lifeMs of [2, 10, 30, 31, 32, 100, 1_000]) {
      node.runFor(lifeMs);
      node.crashKubelet();
      node.restartKubelet();
    }
    node.runFor(120_000);
    expect([inUse(), [...new Set(calls)]]).toEqual([[], [`NodeUnstageVolume ${STAGE}/globalmount`]]);
  });
});
