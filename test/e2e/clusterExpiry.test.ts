/** A node whose API server no longer has the requested versions: 410 after 410, without effect on pods. */
import { expect, it } from "vitest";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { clusterNode, isReady } from "./clusterNode.ts";
import { server } from "./manifests.ts";

/** Answers 410 in a row; the pause between two doubles, from about a second on. */
const STORM = 2;
const EXPIRED = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Expired", code: 410 };

describeOnContainerd("a node whose watches expire", (installation) => {
  const cluster = clusterNode(installation);

  it("retries the list until it succeeds, without losing or restarting a pod", async () => {
    const { server: api, node } = cluster;
    cluster.bind("held", { containers: [server()] });
    const before = await cluster.untilTold("held", isReady, "Ready");
    const ids = async () => (await node.containers(before.metadata.uid)).map(({ id }) => id);
    const idsBefore = await ids();
    let gone = 0;
    api.tamper((method, url) => {
      const isWatch = method === "GET" && url.pathname === "/api/v1/pods" && url.searchParams.has("watch");
      if (!isWatch || gone >= STORM) return undefined;
      gone += 1;
      return { status: 410, headers: { "content-type": "application/json" }, body: JSON.stringify(EXPIRED) };
    });
    api.sim.expireWatches();
    await cluster.until("all of the storm", () => gone === STORM);
    cluster.bind("after", { containers: [server()] });
    await cluster.untilTold("after", isReady, "Ready");
    api.tamper();
    expect([await ids(), cluster.reported("held")]).toEqual([idsBefore, before]);
  });
});
