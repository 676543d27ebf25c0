/** The daemon of a node of a cluster killed over and over under load: its cluster sees no pod lose anything by it. */
import { expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import type { ContainerdInstallation } from "../support/containerdInstallation.ts";
import { NODE_NAME } from "../support/daemon.ts";
import { clusterNode, hasCondition, isReady } from "./clusterNode.ts";
import { manifest, server } from "./manifests.ts";

const KILLS = 20;
const LASTING = Array.from({ length: 8 }, (_, index) => `lasting-${index}`);
const MIRROR = `static-${NODE_NAME}`;
const probe = { exec: { command: ["/bin/true"] }, periodSeconds: 1, timeoutSeconds: 5 };

/** Returns the fault if a watch shows a state that the named pod must never have. */
function faultOf(pod: Pod, before: Pod | undefined): string | undefined {
  const restarted = pod.status?.containerStatuses?.some(({ restartCount }) => restartCount > 0) === true;
  if (restarted) return "a container was restarted";
  const flips = before !== undefined && isReady(before) && !hasCondition(pod, "Ready");
  return flips && pod.metadata.deletionTimestamp === undefined ? "Ready flipped" : undefined;
}

/** Registers the tests of a node of its own. */
export function killTests(installation: ContainerdInstallation): void {
  const cluster = clusterNode(installation, { config: { nodeLeaseDurationSeconds: 4 } });

  it("shows no Ready flip, no restart and no second mirror through twenty kills under load", async () => {
    const { node, server: api } = cluster;
    const faults: string[] = [];
    const mirrors: string[] = [];
    const watch = api.sim.changes$.subscribe(({ resource, type, object, previous }) => {
      const { name } = object.metadata;
      if (resource === "pods") {
        const fault = type === "DELETED" ? undefined : faultOf(object as unknown as Pod, previous as Pod | undefined);
        if (fault !== undefined) faults.push(`${name}: ${fault}`);
        if (type === "ADDED" && name === MIRROR) mirrors.push(object.metadata.uid);
      }
      const isNodeDown =
        resource === "nodes" && previous !== undefined && hasCondition(previous as unknown as Pod, "Ready");
      if (isNodeDown && !hasCondition(object as unknown as Pod, "Ready")) faults.push("the node: Ready flipped");
    });
    for (const name of LASTING) cluster.bind(name, { containers: [server("main", ":", { readinessProbe: probe })] });
    await node.daemon.put("static.json", manifest("static", { containers: [server()] }));
    for (const name of [...LASTING, MIRROR]) await cluster.untilTold(name, isReady, "Ready");
    const idsBefore = LASTING.map((name) => cluster.reported(name)?.status?.containerStatuses?.[0]?.containerID);

    for (let round = 0; round < KILLS; round += 1) {
      // Each round adds a pod and deletes another, so that the kill interrupts work in progress.
      cluster.bind(`passing-${round}`, { containers: [server()] });
      if (round > 1) api.sim.delete("pods", { namespace: "default", name: `passing-${round - 2}` });
      await node.daemon.kill();
      await node.daemon.restart();
    }
    await cluster.untilTold(`passing-${KILLS - 1}`, isReady, "Ready");
    for (let round = 0; round < KILLS - 2; round += 1) await cluster.untilGone(`passing-${round}`);
    const lease = () => api.sim.object("leases", { namespace: "kube-node-lease", name: NODE_NAME });
    const { metadata, spec } = lease() ?? {};
    const renewed = await cluster.until("the lease to be renewed once more", () => {
      const now = lease();
      return now?.spec?.renewTime === spec?.renewTime ? undefined : now;
    });
    watch.unsubscribe();
    expect([faults, mirrors.length, renewed.metadata?.uid]).toEqual([[], 1, metadata?.uid]);
    expect(LASTING.map((name) => cluster.reported(name)?.status?.containerStatuses?.[0]?.containerID)).toEqual(
      idsBefore,
    );
  }, 600_000);
}
