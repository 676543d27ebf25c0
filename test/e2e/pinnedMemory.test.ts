/** Memory on NUMA nodes: the runtime gets the nodes of a Guaranteed pod's memory, whatever the machine has. */
import { expect, it } from "vitest";
import type { Container } from "../../src/core/api.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { waitFor } from "../support/waitFor.ts";
import { containerdNode } from "./containerdNode.ts";
import { manifest, script } from "./manifests.ts";

const OWN = { cpu: "100m", memory: "32Mi" };

describeOnContainerd("memory on NUMA nodes on containerd", (installation) => {
  const node = containerdNode(installation, {
    // The sum must be the hard eviction threshold of the tests' nodes.
    config: { memoryManagerPolicy: "Static", reservedMemory: [{ numaNode: 0, limits: { memory: "100Mi" } }] },
  });
  const put = (name: string, resources: NonNullable<Container["resources"]> = {}) =>
    node.daemon.put(`${name}.json`, manifest(name, { containers: [script("main", "sleep 1000", { resources })] }));
  const nodesOf = async (name: string): Promise<unknown> => {
    const pod = await node.daemon.until(name, ({ status }) => status?.phase === "Running", "Running");
    const [container] = await node.containers(pod.metadata.uid);
    const config = await node.containerConfig(container?.id ?? "");
    return config.linux?.resources?.["cpuset_mems"];
  };

  it("is asked for by Guaranteed pods only, before and after kill -9 of the daemon", async () => {
    const { daemon } = node;
    await put("pinned", { requests: OWN, limits: OWN });
    await put("anywhere", { requests: OWN });
    expect(await nodesOf("pinned")).toMatch(/^\d+$/);
    expect(await nodesOf("anywhere")).toBeUndefined();
    const requests = () => daemon.metric("kubelet_memory_manager_pinning_requests_total");
    expect(await requests()).toBe(1);

    await daemon.kill("SIGKILL");
    await daemon.restart();
    await waitFor("the pinned pod to be counted again", async () => (await requests()) === 1);
    await put("later", { requests: OWN, limits: OWN });
    expect(await nodesOf("later")).toMatch(/^\d+$/);
    expect(await requests()).toBe(2);
  });
});
