/** A node whose cgroups are systemd's: the same kubelet, other names. */
import { describe, expect, it } from "vitest";
import { createKubelet } from "../../src/kubelet.ts";
import type { CreateKubelet } from "../../src/sim/simKubelet.ts";
import type { SimNode } from "../../src/sim/simNode.ts";
import { createSystemdCgroups } from "../../src/sinks/systemdCgroups.ts";
import { memorySystemd } from "../support/memorySystemd.ts";
import { podNode } from "../support/podNode.ts";
import { containerOf, podOf } from "../support/pods.ts";

const limits = { cpu: "500m", memory: "64Mi" };
const PODS = [
  podOf({
    uid: "uid-1",
    name: "guaranteed",
    spec: { containers: [containerOf({ resources: { requests: limits, limits } })] },
  }),
  podOf({ uid: "uid-2", name: "burstable", spec: { containers: [containerOf({ resources: { requests: limits } })] } }),
  podOf({ uid: "uid-3", name: "besteffort" }),
];
const NODE_SLICES = [
  "/kubepods.slice",
  "/kubepods.slice/kubepods-besteffort.slice",
  "/kubepods.slice/kubepods-burstable.slice",
];
const POD_SLICES = [
  "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-poduid_3.slice",
  "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-poduid_2.slice",
  "/kubepods.slice/kubepods-poduid_1.slice",
];

/** A node, and the manager that outlives its kubelets. */
function systemdNode() {
  const manager = memorySystemd();
  const create: CreateKubelet = (config, ports) => {
    const { cgroups: files, clock } = ports;
    if (files === undefined) throw new Error("a simulated node has cgroups");
    const host = { cgroupVersion: 2, systemdVersion: 252 } as const;
    return createKubelet(config, {
      ...ports,
      cgroups: createSystemdCgroups({ systemd: manager.systemd, host, files, clock }),
    });
  };
  const { node } = podNode({ config: { cgroupDriver: "systemd" }, createKubelet: create });
  return { ...manager, node };
}

const runningUnits = (states: ReadonlyMap<string, string>): readonly string[] =>
  [...states].filter(([, state]) => state === "active").map(([unit]) => unit);

const slices = (node: SimNode): readonly string[] => [...node.cgroups.all().keys()];
const lastStep = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

describe("pod cgroups under systemd", () => {
  it("are slices and parents of sandboxes, and are removed with their pods", () => {
    const { node, states } = systemdNode();
    for (const pod of PODS) node.putPod(pod);
    node.runFor(10_000);
    expect(node.running().length).toBe(3);
    expect(
      node.runtime
        .sandboxes()
        .map(({ config }) => config.linux?.cgroupParent)
        .sort(),
    ).toEqual(POD_SLICES);
    expect(slices(node)).toEqual([...NODE_SLICES, ...POD_SLICES].sort());
    expect([...runningUnits(states)].sort()).toEqual(slices(node).map(lastStep).sort());
    expect(node.cgroups.all().get(POD_SLICES[2] ?? "")).toMatchObject({ memoryLimitBytes: 64 * 1024 ** 2 });
    for (const { metadata } of PODS) node.dropPod(metadata.uid);
    node.runFor(60_000);
    expect([slices(node), [...runningUnits(states)].sort()]).toEqual([NODE_SLICES, NODE_SLICES.map(lastStep).sort()]);
  });

  it("are found by their slices and removed if their pod is unknown, and no others", () => {
    const { node, states } = systemdNode();
    const unit = "kubepods-besteffort-podgone_1.slice";
    states.set(unit, "active");
    node.cgroups.ensure(`/kubepods.slice/kubepods-besteffort.slice/${unit}`, {}).subscribe();
    for (const pod of PODS) node.putPod(pod);
    node.runFor(60_000);
    expect([slices(node), states.has(unit)]).toEqual([[...NODE_SLICES, ...POD_SLICES].sort(), false]);
    expect(node.running().length).toBe(3);
  });
});
