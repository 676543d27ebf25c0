/** Dead containers on a node with limits for them: per container, and for the whole node. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { type Container, ContainerState } from "../../src/gen/cri.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { waitFor } from "../support/waitFor.ts";
import { containerdNode } from "./containerdNode.ts";
import { manifest, script } from "./manifests.ts";

const PER_CONTAINER = 2;
const ON_NODE = 3;
const RESTARTS = 6;

const restartsOf = ({ status }: Pod): number => status?.containerStatuses?.[0]?.restartCount ?? 0;

describeOnContainerd("container garbage collection on containerd", (installation) => {
  const node = containerdNode(installation, {
    config: {
      featureGates: { KubeletCrashLoopBackOffMax: true },
      crashLoopBackOff: { maxContainerRestartPeriod: "1s" },
    },
    args: async () => [
      `--maximum-dead-containers-per-container=${PER_CONTAINER}`,
      `--maximum-dead-containers=${ON_NODE}`,
    ],
  });
  const dead = async (uid?: string): Promise<readonly Container[]> =>
    (await node.containers(uid)).filter(({ state }) => state === ContainerState.CONTAINER_EXITED);

  it("keeps as many dead containers of a restarting one as the flag says, with their logs", async () => {
    const { daemon } = node;
    const containers = [script("main", "echo again; sleep 0.2; exit 1")];
    await daemon.put("crash.json", manifest("crash", { containers }));
    const isOften = (pod: Pod): boolean => restartsOf(pod) >= RESTARTS;
    const { metadata } = await daemon.until("crash", isOften, `restarted ${RESTARTS} times`);
    const logs = join(node.folder, "logs", "pods", `${metadata.namespace}_${metadata.name}_${metadata.uid}`, "main");
    const counts = async (): Promise<readonly number[]> => [
      (await dead(metadata.uid)).length,
      (await readdir(logs)).length,
    ];
    await waitFor("old containers and logs to be removed", async () => {
      const [containersLeft = 0, logsLeft = 0] = await counts();
      // The newest instance runs, or ended a moment ago.
      return containersLeft >= PER_CONTAINER && containersLeft <= PER_CONTAINER + 1 && logsLeft <= PER_CONTAINER + 2;
    });
  });

  it("keeps as many dead containers on the node as the flag says, and the statuses of all pods after a restart", async () => {
    const { daemon } = node;
    const containers = ["a", "b"].map((name) => script(name, `exit 3`));
    for (const name of ["one", "two"]) {
      await daemon.put(`${name}.json`, manifest(name, { restartPolicy: "Never", containers }));
      await daemon.until(name, ({ status }) => status?.phase === "Failed", "Failed");
    }
    // A round follows the start of a daemon.
    await daemon.kill("SIGTERM");
    await daemon.restart();
    await waitFor("the oldest container to be removed", async () => (await dead()).length === ON_NODE);
    const endings = (await daemon.pods()).map(({ status }) =>
      (status?.containerStatuses ?? []).map(({ state }) => state?.terminated?.exitCode),
    );
    expect(endings).toEqual([
      [3, 3],
      [3, 3],
    ]);
    expect(await dead()).toHaveLength(ON_NODE);
  });
});
