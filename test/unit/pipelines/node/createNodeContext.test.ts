import { describe, expect, it } from "vitest";
import { NO_DEVICES } from "../../../../src/core/device/deviceState.ts";
import type { Node, Pod } from "../../../../src/core/api.ts";
import { NO_PRESSURE } from "../../../../src/core/node/nodeFacts.ts";
import { unknownRuntimeState } from "../../../../src/core/runtime/runtimeState.ts";
import { nodeAdmission, nodeContext, volumeNode } from "../../../../src/pipelines/node/createNodeContext.ts";
import type { Machine } from "../../../../src/ports/host.ts";
import { simMachine } from "../../../../src/sim/host/simMachine.ts";
import { emptyRegistry } from "../../../../src/core/pod/podRegistry.ts";
import { simKubeletConfig } from "../../../../src/sim/simKubeletConfig.ts";
import { createCell } from "../../../../src/state/cell.ts";
import { containerOf, podOf } from "../../../support/pods.ts";

interface World {
  readonly machine?: Partial<Machine>;
  readonly node?: object;
  readonly supplementalGroupsPolicy?: boolean;
  readonly memoryPressure?: boolean;
}

/** The reason for which a node rejects a pod; undefined when it admits the pod. */
function rejection(pod: Pod, { machine = {}, node, supplementalGroupsPolicy, memoryPressure = false }: World = {}) {
  const host = simMachine(machine);
  const config = simKubeletConfig(host, { nodeLabels: { from: "config" } });
  const state = {
    devices: createCell(NO_DEVICES),
    runtimeState: createCell({ ...unknownRuntimeState, supplementalGroupsPolicy }),
    node: createCell(node as Node | undefined),
    shuttingDown: createCell(false),
    pressures: createCell({ ...NO_PRESSURE, memory: memoryPressure }),
  };
  const result = nodeAdmission(config, host, state).admit(pod, []);
  return result.admitted ? undefined : result.reason;
}
const needing = (label: string, value: string): Pod => podOf({ spec: { nodeSelector: { [label]: value } } });
const confined = podOf({
  spec: { containers: [containerOf({ securityContext: { appArmorProfile: { type: "RuntimeDefault" } } })] },
});
const strict = podOf({ spec: { securityContext: { supplementalGroupsPolicy: "Strict" } } });

describe("the admission of a node", () => {
  it.each<[title: string, pod: Pod, world: World, reason: string | undefined]>([
    ["a plain pod", podOf(), {}, undefined],
    ["a pod for labels of the configuration, without a Node", needing("from", "config"), {}, undefined],
    [
      "a pod for labels of the Node",
      needing("from", "node"),
      { node: { metadata: { labels: { from: "node" } } } },
      undefined,
    ],
    [
      "a pod for labels that the Node lacks",
      needing("from", "config"),
      { node: { metadata: { labels: { from: "node" } } } },
      "NodeAffinity",
    ],
    [
      "a pod that does not tolerate the Node's taint",
      podOf(),
      { node: { spec: { taints: [{ key: "a", effect: "NoExecute" }] } } },
      "TaintToleration",
    ],
    ["a profile where AppArmor is enforced", confined, { machine: { appArmorEnabled: true } }, undefined],
    ["a profile where AppArmor is off", confined, { machine: { appArmorEnabled: false } }, "AppArmor"],
    ["a strict group policy that the runtime supports", strict, { supplementalGroupsPolicy: true }, undefined],
    [
      "a strict group policy that the runtime does not support",
      strict,
      { supplementalGroupsPolicy: false },
      "SupplementalGroupsPolicyNotSupported",
    ],
    ["a BestEffort pod under memory pressure", podOf(), { memoryPressure: true }, "Evicted"],
  ])("of %s", (_, pod, world, reason) => {
    expect(rejection(pod, world)).toBe(reason);
  });
});

describe("facts of a node", () => {
  it("for volumes have the Node's labels once the Node is known", () => {
    const machine = simMachine({ tmpfsNoSwap: true });
    const node = createCell<Node | undefined>(undefined);
    const facts = volumeNode(simKubeletConfig(machine), machine, node, false);
    expect([facts.hasNoSwap, facts.labels]).toEqual([true, undefined]);
    node.set({ metadata: { name: "n" } });
    expect(facts.labels).toEqual({});
    node.set({ metadata: { name: "n", labels: { a: "b" } } });
    expect(facts.labels).toEqual({ a: "b" });
  });

  it("for containers are those of the machine, cgroup v2 where its version is unknown", () => {
    const cells = {
      node: createCell<Node | undefined>(undefined),
      addresses: createCell(undefined),
      registry: createCell(emptyRegistry),
    };
    const contextOf = (more: Partial<Machine>) => {
      const machine = simMachine(more);
      return nodeContext(simKubeletConfig(machine, { nodeIps: ["192.0.2.7"] }), machine, cells, true);
    };
    expect(
      [1, 2, undefined].map((cgroupVersion) => contextOf({ cgroupVersion } as Partial<Machine>).cgroupVersion),
    ).toEqual([1, 2, 2]);
    const single = { ...simKubeletConfig(simMachine()), singleProcessOomKill: true };
    expect(nodeContext(single, simMachine(), cells, true).singleProcessOomKill).toBe(true);
    const context = contextOf({ selinuxEnabled: true, swapControllerAvailable: true });
    expect([context.isStandalone, context.selinuxEnabled, context.swapControllerAvailable, context.nodeIps]).toEqual([
      true,
      true,
      true,
      ["192.0.2.7"],
    ]);
    cells.node.set({ status: { addresses: [{ type: "InternalIP", address: "192.0.2.8" }] } });
    expect(context.nodeIps).toEqual(["192.0.2.8"]);
  });
});
