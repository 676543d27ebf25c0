/** Static pods of a node of a cluster: each has one mirror on the API server, which follows it and not the other way. */
import { expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { NODE_NAME } from "../support/daemon.ts";
import { clusterNode, isReady } from "./clusterNode.ts";
import { manifest, server } from "./manifests.ts";

const MIRROR = `web-${NODE_NAME}`;

describeOnContainerd("static pods of a node of a cluster", (installation) => {
  const cluster = clusterNode(installation);
  const mirrors = (): readonly Pod[] =>
    (cluster.server.sim.objects("pods") as readonly Pod[]).filter(({ metadata }) => metadata.name === MIRROR);
  const idOf = ({ status }: Pod): string | undefined => status?.containerStatuses?.[0]?.containerID;

  it("have a mirror that comes back when it is deleted, follows the manifest and goes with it", async () => {
    const { daemon } = cluster.node;
    await daemon.put("web.json", manifest("web", { containers: [server()] }));
    const first = await cluster.untilTold(MIRROR, isReady, "Ready");
    const node = cluster.server.sim.object("nodes", { name: NODE_NAME });
    expect(first.metadata.ownerReferences).toEqual([
      { apiVersion: "v1", kind: "Node", name: NODE_NAME, uid: node?.metadata?.uid, controller: true },
    ]);

    cluster.server.sim.delete("pods", { namespace: "default", name: MIRROR });
    const isAnother = (pod: Pod): boolean => pod.metadata.uid !== first.metadata.uid;
    const second = await cluster.untilTold(MIRROR, (pod) => isAnother(pod) && isReady(pod), "Ready again");
    expect([idOf(second), mirrors().length]).toEqual([idOf(first), 1]);

    await daemon.put("web.json", manifest("web", { containers: [server("main", "echo edited")] }));
    const isEdited = (pod: Pod): boolean => isReady(pod) && idOf(pod) !== idOf(first);
    const third = await cluster.untilTold(MIRROR, isEdited, "Ready after the edit");
    expect([third.spec.containers[0]?.command?.at(-1), third.metadata.uid === second.metadata.uid]).toEqual([
      expect.stringContaining("echo edited"),
      false,
    ]);

    await daemon.drop("web.json");
    await cluster.untilGone(MIRROR);
    expect(mirrors()).toEqual([]);
  });
});
