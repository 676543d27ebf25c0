/** A single pod of twenty has a hung shim: only that pod degrades, and it recovers with the shim. */
import { readFileSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { waitFor } from "../support/waitFor.ts";
import { containerdNode } from "./containerdNode.ts";
import { manifest, script, server } from "./manifests.ts";

const PODS = 20;
/** Neighbours of the wedged pod keep their speed: no deadline or retry of the node fits into this. */
const UNDISTURBED_MS = 9_000;

describeOnContainerd("a wedged container among twenty on containerd", (installation) => {
  const node = containerdNode(installation);

  it("leaves the other nineteen alone, and is removed once it answers again", async () => {
    const { daemon, containerd } = node;
    const name = (index: number): string => `pod-${index}`;
    for (let index = 0; index < PODS; index += 1) {
      await daemon.put(`${name(index)}.json`, manifest(name(index), { containers: [server()] }));
    }
    const pods: Pod[] = [];
    for (let index = 0; index < PODS; index += 1) {
      pods.push(await daemon.until(name(index), ({ status }) => status?.phase === "Running", "Running"));
    }
    const podAt = (index: number): Pod => pods[index] as Pod;
    const [sandbox] = await node.sandboxes(podAt(7).metadata.uid);
    const shim = containerd.shims().find((pid) => commandOf(pid).includes(sandbox?.id ?? "-"));
    if (shim === undefined) throw new Error("the pod has no shim");
    process.kill(shim, "SIGSTOP");
    onTestFinished(() => void continueProcess(shim));
    const within = <T>(what: string, probe: () => Promise<T | undefined | false>): Promise<T> =>
      waitFor(what, probe, UNDISTURBED_MS);

    await daemon.drop("pod-7.json");
    await waitFor("the wedged pod to be stopping", async () =>
      (await daemon.events("pod-7")).some(({ reason }) => reason === "Killing"),
    );
    await daemon.drop("pod-0.json");
    await within("a neighbour to be removed", async () => (await daemon.pod("pod-0")) === undefined);
    const [exiting] = await node.containers(podAt(1).metadata.uid);
    await node.stopContainer(exiting?.id ?? "");
    await within("a neighbour to be restarted", async () => {
      const [status] = (await daemon.pod("pod-1"))?.status?.containerStatuses ?? [];
      return status?.restartCount === 1 && status.ready;
    });
    await daemon.put("pod-2.json", manifest("pod-2", { containers: [server("renamed")] }));
    await within("a neighbour to be replaced", async () => {
      const found = await daemon.pod("pod-2");
      return found?.metadata.uid !== podAt(2).metadata.uid && found?.status?.phase === "Running";
    });
    await daemon.put(
      "late.json",
      manifest("late", { restartPolicy: "Never", containers: [script("main", "echo late")] }),
    );
    await within("a new pod to run to its end", async () => (await daemon.pod("late"))?.status?.phase === "Succeeded");
    for (let index = 8; index < PODS; index += 1) {
      expect((await daemon.pod(name(index)))?.status?.containerStatuses).toEqual(
        podAt(index).status?.containerStatuses,
      );
    }
    expect((await fetch(`${daemon.healthzUrl}/healthz`)).status).toBe(200);
    expect((await daemon.pod("pod-7"))?.metadata.uid).toBe(podAt(7).metadata.uid);

    continueProcess(shim);
    await daemon.untilGone("pod-7");
    expect((await node.traces()).podDirs).not.toContain(podAt(7).metadata.uid);
  });
});

const commandOf = (pid: number): readonly string[] => readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");

/** A process that is gone needs no help. */
function continueProcess(pid: number): void {
  try {
    process.kill(pid, "SIGCONT");
  } catch {
    // The process ended without a signal.
  }
}
