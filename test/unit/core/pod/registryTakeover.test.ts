import { describe, expect, it } from "vitest";
import { allocationOf } from "../../../../src/core/allocation/podAllocation.ts";
import type { Pod } from "../../../../src/core/api.ts";
import { podUid } from "../../../../src/core/ids.ts";
import { memoryManager } from "../../../../src/core/numaMemory/memoryManager.ts";
import { memoryPolicy } from "../../../../src/core/numaMemory/memoryPolicy.ts";
import type { RegistryInput } from "../../../../src/core/pod/podRegistry.ts";
import { hardwareOf } from "../../../../src/core/topology/assignHardware.ts";
import { podOf } from "../../../support/pods.ts";
import { registryNode, reported, running, said } from "../../../support/registryNode.ts";

/** Two NUMA nodes of 1000 bytes. */
const banks = memoryPolicy(
  [0, 1].map((id) => ({ id, bytes: 1_000, hugepages: new Map() })),
  new Map(),
);

const sized = (uid: string, memory: string, name = uid): Pod => {
  const amounts = { cpu: "100m", memory };
  return podOf({
    uid,
    name,
    spec: { containers: [{ name: "main", resources: { requests: amounts, limits: amounts } }] },
  });
};

/** The checkpoints of pods with memory on node 0. */
const onNodeZero = (...pods: readonly (readonly [pod: Pod, bytes: number])[]): RegistryInput => ({
  kind: "restored",
  allocations: new Map(
    pods.map(([pod, bytes]) => {
      const memory = [{ nodes: [0], resource: "memory", bytes, heldBytes: bytes }];
      const hardware = new Map([["main", { memory }]]);
      return [podUid(pod.metadata.uid), { allocation: allocationOf(pod), resizing: false, hardware }] as const;
    }),
  ),
});

function nodeWithMemory() {
  const node = registryNode({ allocatable: { cpu: "8", memory: "4000" } });
  const topology = { nodes: 2, distances: undefined };
  Object.assign(node.context, {
    assignHardware: hardwareOf({ name: "none", scope: "container", topology }, [memoryManager(banks)]),
  });
  const nodesOf = (uid: string) =>
    node
      .record(uid)
      ?.hardware?.get("main")
      ?.memory?.flatMap(({ nodes }) => nodes);
  return { node, nodesOf };
}

describe("memory of a pod whose checkpoint and record both name it", () => {
  const old = sized("old", "600");
  const kept = sized("kept", "300");
  const successor = sized("new", "100", "old");

  it("counts once beside a running pod, which stays on its NUMA node", () => {
    const { node, nodesOf } = nodeWithMemory();
    Object.assign(node.context, { runtimePods: [running(old), running(kept)] });
    node.send(onNodeZero([old, 600], [kept, 300]), reported("ADD", successor));
    expect([node.record("old")?.state, nodesOf("old")]).toEqual(["terminating", [0]]);
    node.send(reported("ADD", kept));
    expect(nodesOf("kept")).toEqual([0]);
  });

  it("is awaited while the pod terminates", () => {
    const { node } = nodeWithMemory();
    Object.assign(node.context, { runtimePods: [running(old)] });
    node.send(onNodeZero([old, 600]), reported("ADD", successor), reported("ADD", sized("large", "1900")));
    expect([node.record("large")?.state, node.behind("large")]).toEqual(["waiting", ["old"]]);
  });

  it("is free once the pod has stopped, also before the next relist", () => {
    const { node, nodesOf } = nodeWithMemory();
    Object.assign(node.context, { runtimePods: [running(old)] });
    node.send(onNodeZero([old, 600]), reported("ADD", successor), said("stopped", "old"));
    node.send(reported("ADD", sized("next", "900")));
    expect(nodesOf("next")).toEqual([0]);
  });
});
