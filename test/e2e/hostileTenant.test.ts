/** A tenant that means harm, beside pods that behave: the others are probed, the lease is renewed, and all of it can go. */
import { mkdir } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { describeOnContainerd } from "../support/containerdInstallation.ts";
import { fillTree, giveHostileObjects, hostilePods } from "../support/hostileTenant.ts";
import { type DeadMount, deadMount, missingForDeadMounts } from "../support/deadMount.ts";
import { mustSkip } from "../support/mustSkip.ts";
import { clusterNode, isReady } from "./clusterNode.ts";
import { server as serving } from "./manifests.ts";

const GOOD_PODS = 8;
const PROBES = 20;
/** A lease is renewed every 10 s and is good for 40. */
const LATEST_RENEWAL_MS = 25_000;
const SIZE = { files: 20_000, depth: 1_500, mounts: 200 };

const waitingReason = (pod: Pod): string | undefined => pod.status?.containerStatuses?.[0]?.state?.waiting?.reason;
const hasRestarted = (pod: Pod): boolean => (pod.status?.containerStatuses?.[0]?.restartCount ?? 0) > 0;
const isEvicted = ({ status }: Pod): boolean => status?.phase === "Failed" && status.reason === "Evicted";
const isRunning = (pod: Pod): boolean => pod.status?.containerStatuses?.[0]?.state?.running !== undefined;

describeOnContainerd("a hostile tenant on a node", (installation) => {
  const cluster = clusterNode(installation);
  const probes = new Map<string, number>();
  let target: Server;
  let port = 0;
  let dead: DeadMount | undefined;
  beforeAll(async () => {
    target = createServer(({ url = "" }, response) => {
      probes.set(url, (probes.get(url) ?? 0) + 1);
      response.end();
    });
    await new Promise<void>((resolve) => target.listen(0, "127.0.0.1", resolve));
    ({ port } = target.address() as AddressInfo);
  });
  afterAll(() => {
    target.close();
    dead?.close();
  });

  it("harms no other pod and no lease, and all its pods can be deleted", { timeout: 480_000 }, async () => {
    const good = Array.from({ length: GOOD_PODS }, (_, index) => `good-${index}`);
    for (const name of good) {
      const httpGet = { host: "127.0.0.1", port, path: `/${name}` };
      // The target shares the test's process, which a busy machine may hold up for seconds.
      const readinessProbe = { httpGet, periodSeconds: 1, timeoutSeconds: 5 };
      cluster.bind(name, { containers: [serving("main", ":", { readinessProbe })] });
    }
    for (const name of good) await cluster.untilTold(name, isReady, "Ready");
    const { sim } = cluster.server;
    const unready = new Set<string>();
    const renewals: number[] = [];
    const watch = sim.changes$.subscribe(({ resource, object }) => {
      const { name } = object.metadata;
      if (resource === "leases") renewals.push(performance.now());
      if (resource === "pods" && good.includes(name) && !isReady(object as unknown as Pod)) unready.add(name);
    });

    const tree = join(cluster.node.folder, "tree");
    await fillTree(tree, SIZE.files);
    await giveHostileObjects(sim, tree);
    const deadPlace = join(cluster.node.folder, "dead");
    await mkdir(deadPlace);
    const hasDead = !mustSkip("a tenant's volumes on a dead server", missingForDeadMounts());
    if (hasDead) dead = deadMount(deadPlace);
    const pods = hostilePods({ ...SIZE, ...(hasDead && { dead: deadPlace }) });
    const { pid } = cluster.node.daemon;
    for (const { name, spec } of pods) cluster.bind(name, spec);
    await cluster.untilTold("pipe-as-message", hasRestarted, "restarted");
    await cluster.untilTold("registry-pattern", (pod) => /Image/.test(waitingReason(pod) ?? ""), "without its image");
    await cluster.untilTold(
      "multiplying-variables",
      (pod) => waitingReason(pod) === "CreateContainerConfigError",
      "refused for its variables",
    );
    for (const name of ["wide-tree", "deep-tree", "group-of-tree"]) await cluster.untilTold(name, isRunning, "Running");
    await cluster.untilTold("over-limit", isEvicted, "evicted");
    const seen = new Map(probes);
    await cluster.until("the others to be probed as before", () =>
      good.every((name) => (probes.get(`/${name}`) ?? 0) >= (seen.get(`/${name}`) ?? 0) + PROBES),
    );

    for (const { name } of pods) sim.delete("pods", { namespace: "default", name }, { gracePeriodSeconds: 1 });
    for (const { name } of pods) await cluster.untilGone(name);
    // The folder of the node goes with the test.
    dead?.close();
    watch.unsubscribe();
    const gaps = renewals.map((at, index) => at - (renewals[index - 1] ?? at));
    expect(Math.max(...gaps)).toBeLessThan(LATEST_RENEWAL_MS);
    expect([...unready]).toEqual([]);
    expect(cluster.node.daemon.pid).toBe(pid);
    expect(good.map((name) => cluster.reported(name)?.status?.containerStatuses?.[0]?.restartCount)).toEqual(
      good.map(() => 0),
    );
  });
});
