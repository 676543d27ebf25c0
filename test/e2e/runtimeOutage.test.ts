/** containerd killed and started again, sandboxes and containers that vanish behind the daemon's back. */
import { expect, it } from "vitest";
import { firstValueFrom } from "rxjs";
import type { Pod } from "../../src/core/api.ts";
import { RemoveContainerRequest, StopPodSandboxRequest } from "../../src/gen/cri.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { kill } from "../support/kernelState.ts";
import { waitFor } from "../support/waitFor.ts";
import { containerdNode } from "./containerdNode.ts";
import { manifest, script, server } from "./manifests.ts";

describeOnContainerd("an unsteady containerd", (installation) => {
  const node = containerdNode(installation, {
    config: {
      featureGates: { KubeletCrashLoopBackOffMax: true },
      crashLoopBackOff: { maxContainerRestartPeriod: "1s" },
    },
  });
  const running = (name: string): Promise<Pod> =>
    node.daemon.until(name, ({ status }) => status?.phase === "Running", "Running");
  const restarted = (name: string, count: number): Promise<Pod> =>
    node.daemon.until(
      name,
      ({ status }) =>
        status?.phase === "Running" &&
        status.containerStatuses?.every(({ restartCount, ready }) => restartCount >= count && ready) === true,
      `restarted at least ${count} times`,
    );
  const newSandbox = async (before: Pod, old: string): Promise<void> => {
    await waitFor("another sandbox to be the ready one", async () => {
      const ready = (await node.sandboxes(before.metadata.uid)).filter(({ state }) => state === 0);
      return ready.length === 1 && ready[0]?.id !== old && ready[0]?.metadata?.attempt === 1;
    });
  };

  it("keeps pods and status through a death of containerd, says that it is down, and goes on once it is back", async () => {
    const { daemon, containerd } = node;
    const names = ["lasting-0", "lasting-1", "lasting-2"];
    for (const name of names) await daemon.put(`${name}.json`, manifest(name, { containers: [server()] }));
    const before: Pod[] = [];
    for (const name of names) before.push(await running(name));
    await containerd.killDaemon();
    const down = await waitFor("the log to say that the runtime is down", async () =>
      (await daemon.logEntries()).find(({ msg }) => msg === "Container runtime is not ready"),
    );
    expect(down).toMatchObject({ level: "error", problems: [expect.stringContaining("container runtime is down")] });
    expect((await fetch(`${daemon.healthzUrl}/healthz`)).status).toBe(200);
    for (const pod of before)
      expect((await daemon.pods()).find(({ metadata }) => metadata.uid === pod.metadata.uid)).toEqual(pod);
    // A pod added during the outage starts afterwards.
    await daemon.put("during.json", manifest("during", { containers: [server()] }));
    await daemon.drop("lasting-0.json");
    await containerd.startDaemon();
    await running("during");
    await daemon.untilGone("lasting-0");
    const [, ...lasting] = before;
    for (const pod of lasting) {
      const now = (await daemon.pods()).find(({ metadata }) => metadata.uid === pod.metadata.uid);
      expect(now?.status?.containerStatuses).toEqual(pod.status?.containerStatuses);
    }
    expect((await daemon.logEntries()).filter(({ msg }) => msg === "Container runtime is ready").length).toBe(2);
    const [container] = await node.containers(lasting[0]?.metadata.uid);
    await node.stopContainer(container?.id ?? "");
    await restarted("lasting-1", 1);
  });

  it("recreates a sandbox that another client stopped, with its containers", async () => {
    const { daemon, client } = node;
    await daemon.put("stopped.json", manifest("stopped", { containers: [server(), server("other")] }));
    const before = await running("stopped");
    const [sandbox] = await node.sandboxes(before.metadata.uid);
    const podSandboxId = sandbox?.id ?? "";
    await firstValueFrom(client.runtime.stopPodSandbox(StopPodSandboxRequest.create({ podSandboxId })));
    const after = await restarted("stopped", 1);
    await newSandbox(before, podSandboxId);
    expect(after.metadata.uid).toBe(before.metadata.uid);
    expect(await daemon.events("stopped")).toContainEqual({
      type: "Normal",
      reason: "SandboxChanged",
      message: "Pod sandbox changed, it will be killed and re-created.",
    });
  });

  it("recreates a sandbox whose process was killed, and runs its init containers again", async () => {
    const { daemon } = node;
    const initContainers = [script("setup", "echo set up")];
    await daemon.put("killed.json", manifest("killed", { initContainers, containers: [server()] }));
    const before = await running("killed");
    const [sandbox] = await node.sandboxes(before.metadata.uid);
    kill((await node.sandboxInfo(sandbox?.id ?? "")).pid);
    await newSandbox(before, sandbox?.id ?? "");
    const after = await restarted("killed", 1);
    expect([await node.output(after, "setup", 1), after.status?.initContainerStatuses?.[0]?.restartCount]).toEqual([
      ["set up"],
      1,
    ]);
  });

  it("starts a container again that was removed from outside", async () => {
    const { daemon, client } = node;
    await daemon.put("removed.json", manifest("removed", { containers: [server(), server("other")] }));
    const before = await running("removed");
    const victim = (await node.containers(before.metadata.uid)).find(({ metadata }) => metadata?.name === "main");
    const containerId = victim?.id ?? "";
    await firstValueFrom(client.runtime.removeContainer(RemoveContainerRequest.create({ containerId })));
    const after = await daemon.until(
      "removed",
      ({ status }) => {
        const main = status?.containerStatuses?.find(({ name }) => name === "main");
        return main?.ready === true && main.containerID !== `containerd://${containerId}`;
      },
      "started again",
    );
    const other = (pod: Pod): unknown => pod.status?.containerStatuses?.find(({ name }) => name === "other");
    expect(other(after)).toEqual(other(before));
  });

  it("removes a pod whose sandbox somebody else removed while it was being stopped", async () => {
    const { daemon, client } = node;
    await daemon.put("raced.json", manifest("raced", { containers: [server()] }));
    const before = await running("raced");
    const [sandbox] = await node.sandboxes(before.metadata.uid);
    const podSandboxId = sandbox?.id ?? "";
    const stopped$ = client.runtime.stopPodSandbox(StopPodSandboxRequest.create({ podSandboxId }));
    // When two callers tear down the network at the same time, containerd fails one: this call or the daemon's first.
    const stopped = firstValueFrom(stopped$).catch(() => undefined);
    await Promise.all([daemon.drop("raced.json"), stopped]);
    await daemon.untilGone("raced");
  });
});
