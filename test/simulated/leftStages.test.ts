/** A whole node with CSI volumes that are staged for no pod: upstream's kubelet left them, or their driver does. */
import { describe, expect, it } from "vitest";
import { sha256 } from "../../src/core/sha256.ts";
import { createSimApiServer } from "../../src/sim/apiServer/simApiServer.ts";
import { createPrng } from "../../src/sim/prng.ts";
import { createSimNode, type SimNode } from "../../src/sim/simNode.ts";
import { createSimStorage } from "../../src/sim/storage/simStorage.ts";
import { stage } from "../../src/sim/storage/simCsiMounts.ts";
import { csiSimNode, SIM_DRIVER } from "../support/csiSimNode.ts";
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

describe("a volume that its driver does not unstage after the last pod", () => {
  /** A pod that had the volume is gone; the driver refuses to unstage it until `heal` is called. */
  function nodeWithLeftVolume() {
    let isIll = true;
    const cluster = csiSimNode({
      faults: (rpc) => (rpc === "NodeUnstageVolume" && isIll ? { kind: "fail", status: 3 } : { kind: "answer" }),
    });
    const { node, server, claim, pod, remove, calls } = cluster;
    claim("disk", "ReadWriteOnce");
    pod("first", "disk");
    node.runFor(30_000);
    remove("first");
    node.runFor(3_000);
    const rpcs = () => calls.map(({ rpc }) => rpc);
    const isThere = (name: string) => server.object("pods", { namespace: "default", name }) !== undefined;
    const stages = () => (node.kubelet?.queries.volumes().stages ?? []).map(({ volume }) => volume);
    return { ...cluster, rpcs, isThere, stages, heal: () => (isIll = false) };
  }
  const FIRST = ["stage", "publish", "unpublish", "unstage"];

  it("does not keep the pod, and is unstaged after growing delays", () => {
    const { node, rpcs, isThere, stages, heal } = nodeWithLeftVolume();
    expect([isThere("first"), rpcs(), stages()]).toEqual([
      false,
      [...FIRST, "unstage", "unstage"],
      [`${SIM_DRIVER}^disk`],
    ]);
    heal();
    node.runFor(3_000);
    expect([rpcs().length, stages(), node.violations]).toEqual([7, [], []]);
    node.runFor(300_000);
    expect(rpcs()).toHaveLength(7);
  });

  it("is staged again for the next pod, after which it is unstaged", () => {
    const { node, pod, remove, rpcs, stages, heal } = nodeWithLeftVolume();
    const before = rpcs().length;
    pod("second", "disk");
    node.runFor(20_000);
    expect([node.running(), rpcs().slice(before), stages()]).toEqual([
      ["default/second/main#0"],
      ["stage", "publish"],
      [],
    ]);
    heal();
    remove("second");
    node.runFor(60_000);
    expect([rpcs().slice(before + 2), node.violations]).toEqual([["unpublish", "unstage"], []]);
  });

  it("is found by the next kubelet", () => {
    const { node, rpcs, stages, heal } = nodeWithLeftVolume();
    node.crashKubelet();
    heal();
    node.restartKubelet();
    node.runFor(120_000);
    expect([rpcs().at(-1), stages(), node.host.mounts.all()]).toEqual(["unstage", [], []]);
  });
});

describe("a volume that its driver unstages slowly", () => {
  const UNSTAGE_MS = 60_000;
  /** Two pods with a volume each of one driver are deleted at the same time. */
  function nodeWithSlowDriver() {
    const cluster = csiSimNode({
      faults: (rpc) => (rpc === "NodeUnstageVolume" ? { kind: "delay", ms: UNSTAGE_MS } : { kind: "answer" }),
    });
    const { node, claim, pod, remove, server, calls } = cluster;
    for (const name of ["a", "b"]) {
      claim(name, "ReadWriteOnce");
      pod(name, name);
    }
    node.runFor(30_000);
    remove("a");
    remove("b");
    node.runFor(5_000);
    const unstaged = () => calls.flatMap(({ rpc, volume }) => (rpc === "unstage" ? [volume] : []));
    const pods = () => ["a", "b"].filter((name) => server.object("pods", { namespace: "default", name }) !== undefined);
    return { ...cluster, unstaged, pods };
  }

  it("does not keep its last pod, nor another volume of its driver", () => {
    const { unstaged, pods } = nodeWithSlowDriver();
    expect([pods(), unstaged().sort()]).toEqual([[], ["a", "b"]]);
  });

  it("is unstaged before it is staged for the next pod", () => {
    const { node, pod, calls, unstaged } = nodeWithSlowDriver();
    pod("next", "a");
    node.runFor(UNSTAGE_MS - 10_000);
    expect([node.running(), unstaged().sort()]).toEqual([[], ["a", "b"]]);
    node.runFor(30_000);
    const ofA = calls.filter(({ volume }) => volume === "a").map(({ rpc }) => rpc);
    expect([node.running(), ofA, node.violations]).toEqual([
      ["default/next/main#0"],
      ["stage", "publish", "unpublish", "unstage", "stage", "publish"],
      [],
    ]);
  });
});
