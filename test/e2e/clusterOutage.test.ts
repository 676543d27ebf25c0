/** A node whose API server goes away: its pods do not notice, and the server catches up when it is back. */
import { expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { NODE_NAME } from "../support/daemon.ts";
import { clusterNode, isReady } from "./clusterNode.ts";
import { manifest, server } from "./manifests.ts";

const restartsOf = ({ status }: Pod): number | undefined => status?.containerStatuses?.[0]?.restartCount;

describeOnContainerd("a node whose API server is away", (installation) => {
  const cluster = clusterNode(installation);
  const local = async (name: string): Promise<Pod | undefined> =>
    (await cluster.node.daemon.pods()).find(({ metadata }) => metadata.name === name);
  const isUp = async (): Promise<boolean> => (await cluster.node.daemon.metric('rxlet_source_up{source="api"}')) === 1;

  it("keeps its pods, restarts what ends and starts static pods while it is away, and tells all of it afterwards", async () => {
    const { node, server: api } = cluster;
    for (const name of ["calm", "struck", "leaving"]) cluster.bind(name, { containers: [server()] });
    for (const name of ["calm", "struck", "leaving"]) await cluster.untilTold(name, isReady, "Ready");
    const before = cluster.told("calm");

    await api.network.refuse();
    await cluster.until("the outage to be noticed", async () => !(await isUp()));
    const [struck] = await node.containers((await local("struck"))?.metadata.uid);
    await node.stopContainer(struck?.id ?? "");
    api.sim.delete("pods", { namespace: "default", name: "leaving" });
    cluster.bind("arriving", { containers: [server()] });
    await node.daemon.put("static.json", manifest("static", { containers: [server()] }));
    await node.daemon.until("static", isReady, "Ready");
    await cluster.until("the container to run again", async () => {
      const pod = await local("struck");
      return pod !== undefined && isReady(pod) && restartsOf(pod) === 1;
    });
    expect([restartsOf(cluster.told("struck") as Pod), await local("arriving")]).toEqual([0, undefined]);

    await api.network.accept();
    await cluster.untilTold("struck", (pod) => isReady(pod) && restartsOf(pod) === 1, "restarted");
    await cluster.untilTold("arriving", isReady, "Ready");
    await cluster.untilTold(`static-${NODE_NAME}`, isReady, "Ready");
    await cluster.untilGone("leaving");
    const events = () => api.sim.objects("events").filter(({ involvedObject }) => involvedObject.name === "struck");
    await cluster.until("the second start to be told", () =>
      events().some(({ reason, count }) => reason === "Started" && count === 2),
    );
    expect(cluster.told("calm")).toEqual(before);
  });
});
