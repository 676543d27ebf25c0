/** Pods this node does not take: refused with upstream's reasons, shown as Failed, never started, gone with their manifest. */
import { expect, it } from "vitest";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { waitFor } from "../support/waitFor.ts";
import { containerdNode } from "./containerdNode.ts";
import { manifest, server } from "./manifests.ts";

const MAX_PODS = 3;

describeOnContainerd("admission on containerd", (installation) => {
  const node = containerdNode(installation, { config: { maxPods: MAX_PODS } });
  const untilRunning = (name: string): Promise<unknown> =>
    node.daemon.until(name, ({ status }) => status?.phase === "Running", "Running");

  const refusal = async (name: string): Promise<unknown> => {
    const pod = await node.daemon.until(name, ({ status }) => status?.phase === "Failed", "Failed");
    const { phase, reason, message } = pod.status ?? {};
    expect(await node.sandboxes(pod.metadata.uid)).toEqual([]);
    expect((await node.daemon.events(name)).map((event) => event.message)).toEqual([
      message?.replace("Pod was rejected: ", ""),
    ]);
    await node.daemon.drop(`${name}.json`);
    await node.daemon.untilGone(name);
    return { phase, reason, message };
  };

  it("refuses pods for other nodes", async () => {
    const containers = [server()];
    await node.daemon.put("elsewhere.json", manifest("elsewhere", { nodeSelector: { disk: "ssd" }, containers }));
    await node.daemon.put("named.json", manifest("named", { nodeName: "other-node", containers }));
    await node.daemon.put("foreign.json", manifest("foreign", { os: { name: "windows" }, containers }));
    expect(await refusal("elsewhere")).toEqual({
      phase: "Failed",
      reason: "NodeAffinity",
      message: "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    });
    expect(await refusal("foreign")).toEqual({
      phase: "Failed",
      reason: "PodOSNotSupported",
      message: "Pod was rejected: Failed to admit pod as the OS field doesn't match node OS",
    });
    // A manifest on this node is for this node, whatever it says.
    await untilRunning("named");
  });

  it("refuses a pod that asks for more than the node has", async () => {
    const containers = [server("main", ":", { resources: { requests: { cpu: "4000" } } })];
    await node.daemon.put("greedy.json", manifest("greedy", { containers }));
    expect(await refusal("greedy")).toEqual({
      phase: "Failed",
      reason: "UnexpectedAdmissionError",
      message: expect.stringMatching(
        /^Pod was rejected: Unexpected error while attempting to recover from admission failure: preemption: .*\(res: cpu, q: \d+\), \]$/,
      ),
    });
  });

  it("refuses a second pod on a host port, and takes it once the first is gone", async () => {
    const spec = { hostNetwork: true, containers: [server("main", ":", { ports: [{ containerPort: 39872 }] })] };
    await node.daemon.put("first.json", manifest("first", spec));
    await untilRunning("first");
    await node.daemon.put("second.json", manifest("second", spec));
    expect(await refusal("second")).toEqual({
      phase: "Failed",
      reason: "NodePorts",
      message:
        "Pod was rejected: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
    });
    await node.daemon.drop("first.json");
    await node.daemon.untilGone("first");
    await node.daemon.put("second.json", manifest("second", spec));
    await untilRunning("second");
  });

  it("takes as many pods as it may, also after a restart, refuses the next, and makes room for a more important one", async () => {
    const names = ["one", "two", "three"];
    const priorities = new Map([["three", 1]]);
    for (const name of names) {
      const priority = priorities.get(name) ?? 3;
      await node.daemon.put(`${name}.json`, manifest(name, { priority, containers: [server()] }));
    }
    for (const name of names) await untilRunning(name);
    await node.daemon.kill();
    await node.daemon.restart();
    for (const name of names) await untilRunning(name);
    await node.daemon.put("four.json", manifest("four", { containers: [server()] }));
    expect(await refusal("four")).toMatchObject({ phase: "Failed", message: expect.stringMatching(/pods/) });
    for (const name of names) await untilRunning(name);
    await waitFor(
      "the metric to show them",
      async () => (await node.daemon.metric("kubelet_running_pods")) === MAX_PODS,
    );
    await node.daemon.put("important.json", manifest("important", { priority: 2, containers: [server()] }));
    await untilRunning("important");
    const victim = await node.daemon.pod("three");
    expect([victim?.status?.phase, victim?.status?.reason, victim?.status?.message]).toEqual([
      "Failed",
      "Preempting",
      "Preempted in order to admit critical pod",
    ]);
    expect((await node.daemon.events("three")).map(({ type, reason }) => `${type} ${reason}`)).toContain(
      "Warning Preempting",
    );
    expect(await node.daemon.metric('kubelet_preemptions{preemption_signal="pods"}')).toBe(1);
  });
});
