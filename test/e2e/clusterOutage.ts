/** A node whose API server goes away: its pods do not notice, and the server catches up when it is back. */
import { expect, it } from "vitest";
import type { Node, Pod } from "../../src/core/api.ts";
import type { HttpsApiServer } from "../support/apiServer/httpsApiServer.ts";
import type { ContainerdInstallation } from "../support/containerdInstallation.ts";
import { NODE_NAME } from "../support/daemon.ts";
import { realClock } from "../support/realClock.ts";
import { waitFor } from "../support/waitFor.ts";
import { clusterNode, hasCondition, isReady } from "./clusterNode.ts";
import { manifest, server } from "./manifests.ts";

const OUTAGE_MS = 120_000;
/** Without a renewal for so long a cluster takes the node for lost: the default of both sides. */
const GRACE_MS = 40_000;
const MIRROR = `static-${NODE_NAME}`;
const everySecond = { exec: { command: ["/bin/true"] }, periodSeconds: 1, timeoutSeconds: 5 };

const restartsOf = ({ status }: Pod): number | undefined => status?.containerStatuses?.[0]?.restartCount;

/** How old the node's lease is by the clock of the server. */
function leaseAgeMs({ sim }: HttpsApiServer): number {
  const { spec } = sim.object("leases", { namespace: "kube-node-lease", name: NODE_NAME }) ?? {};
  return realClock.wallTime() - Date.parse(String(spec?.renewTime));
}

/** Does what the node lifecycle controller does after the lease expires. */
function takeForLost({ sim }: HttpsApiServer, pods: readonly string[]): void {
  const now = new Date(realClock.wallTime()).toISOString();
  const node = sim.object("nodes", { name: NODE_NAME }) as Node;
  const conditions = node.status?.conditions?.map((condition) => ({
    ...condition,
    status: "Unknown",
    reason: "NodeStatusUnknown",
    message: "Kubelet stopped posting node status.",
    lastTransitionTime: now,
  }));
  sim.put("nodes", { ...node, status: { ...node.status, conditions } } as Node);
  for (const name of pods) {
    const { status = {} } = sim.object("pods", { namespace: "default", name }) as Pod;
    const lost = status.conditions?.map((condition) =>
      condition.type === "Ready" ? { ...condition, status: "False", lastTransitionTime: now } : condition,
    );
    sim.setStatus({ namespace: "default", name }, { ...status, ...(lost === undefined ? {} : { conditions: lost }) });
  }
}

/** Registers the tests of a node of its own. */
export function outageTests(installation: ContainerdInstallation): void {
  const cluster = clusterNode(installation);
  const local = async (name: string): Promise<Pod | undefined> =>
    (await cluster.node.daemon.pods()).find(({ metadata }) => metadata.name === name);
  const isUp = async (): Promise<boolean> => (await cluster.node.daemon.metric('rxlet_source_up{source="api"}')) === 1;

  it("keeps its pods for two minutes, restarts what ends, starts static pods, and tells all of it afterwards", async () => {
    const { node, server: api } = cluster;
    for (const name of ["calm", "struck", "leaving"]) cluster.bind(name, { containers: [server()] });
    cluster.bind("probed", { containers: [server("main", ":", { readinessProbe: everySecond })] });
    for (const name of ["calm", "probed", "struck", "leaving"]) await cluster.untilTold(name, isReady, "Ready");
    const statuses = () => ["calm", "probed"].map((name) => cluster.reported(name)?.status);
    const before = statuses();

    const cutAt = realClock.wallTime();
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
    await waitFor("the lease to run out", () => leaseAgeMs(api) > GRACE_MS, 2 * GRACE_MS);
    takeForLost(api, ["calm", "probed", "struck"]);
    await waitFor("the end of the outage", () => realClock.wallTime() - cutAt >= OUTAGE_MS, 2 * OUTAGE_MS);
    expect([
      leaseAgeMs(api) >= OUTAGE_MS,
      restartsOf(cluster.reported("struck") as Pod),
      await local("arriving"),
    ]).toEqual([true, 0, undefined]);

    const changes: string[] = [];
    const watch = api.sim.changes$.subscribe(({ resource, type, object, previous }) => {
      const [now, old] = [object, previous] as unknown as readonly [Pod, Pod | undefined];
      if (resource !== "pods") return;
      if (type === "ADDED") changes.push(`${now.metadata.name} made`);
      const isFlip = old !== undefined && isReady(old) && !hasCondition(now, "Ready");
      if (isFlip && now.metadata.deletionTimestamp === undefined) changes.push(`${now.metadata.name} not ready`);
    });
    await api.network.accept();
    await cluster.untilTold("struck", (pod) => isReady(pod) && restartsOf(pod) === 1, "restarted");
    for (const name of ["calm", "probed", "arriving", MIRROR]) await cluster.untilTold(name, isReady, "Ready");
    await cluster.untilGone("leaving");
    await cluster.until("the node to be Ready and its lease renewed", () => {
      const reported = api.sim.object("nodes", { name: NODE_NAME });
      return reported !== undefined && hasCondition(reported, "Ready") && leaseAgeMs(api) < GRACE_MS;
    });
    const events = () => api.sim.objects("events").filter(({ involvedObject }) => involvedObject.name === "struck");
    await cluster.until("the second start to be told", () =>
      events().some(({ reason, count }) => reason === "Started" && count === 2),
    );
    watch.unsubscribe();
    expect([statuses(), changes]).toEqual([before, [`${MIRROR} made`]]);
  }, 300_000);
}
