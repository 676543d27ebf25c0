/** A node whose client certificate is renewed again and again: neither its pods nor their objects notice. */
import { expect, it } from "vitest";
import type { Pod } from "../../src/core/api.ts";
import { startCertificateSigner } from "../support/apiServer/certificateSigner.ts";
import type { ContainerdInstallation } from "../support/containerdInstallation.ts";
import { clusterNode, hasCondition, isReady } from "./clusterNode.ts";
import { server } from "./manifests.ts";

const HOUR_MS = 3_600_000;
/** Renewed after 70 to 90 % of it, with the time left that is needed for that. */
const SHORT_MS = 45_000;
const LASTING = Array.from({ length: 10 }, (_, index) => `lasting-${index}`);

/** Registers the tests of a node of its own. */
export function rotationTests(installation: ContainerdInstallation): void {
  // A certificate of a day ago with an hour left is renewed at once.
  const cluster = clusterNode(installation, { config: { rotateCertificates: true }, clientLifeMs: HOUR_MS });
  const ttlSeconds = async (): Promise<number> =>
    (await cluster.node.daemon.metric("kubelet_certificate_manager_client_ttl_seconds")) ?? 0;

  it("goes on with its pods, and starts and ends others meanwhile", async () => {
    const { node, server: api } = cluster;
    const signer = startCertificateSigner(api, { kind: "wait" });
    signer.setPolicy({ kind: "sign", lifeMs: SHORT_MS });
    await cluster.until("the first renewal", async () => (await ttlSeconds()) < SHORT_MS / 1000);
    // The second renewal is the last, however long the pods take to start on a busy machine.
    signer.setPolicy({ kind: "sign", lifeMs: HOUR_MS });
    const flips: string[] = [];
    const watch = api.sim.changes$.subscribe(({ resource, object, previous }) => {
      const [now, before] = [object, previous] as unknown as readonly [Pod, Pod | undefined];
      if (resource !== "pods" || before === undefined || !LASTING.includes(now.metadata.name)) return;
      if (isReady(before) && !hasCondition(now, "Ready")) flips.push(now.metadata.name);
    });
    const ids = () => LASTING.map((name) => cluster.reported(name)?.status?.containerStatuses?.[0]?.containerID);
    for (const name of LASTING) cluster.bind(name, { containers: [server()] });
    for (const name of LASTING) await cluster.untilTold(name, isReady, "Ready");
    const [idsBefore, requestsBefore] = [ids(), api.requests.length];

    for (let round = 0; (await ttlSeconds()) < SHORT_MS / 1000; round += 1) {
      cluster.bind(`passing-${round}`, { containers: [server()] });
      await cluster.untilTold(`passing-${round}`, isReady, "Ready");
      api.sim.delete("pods", { namespace: "default", name: `passing-${round}` });
      await cluster.untilGone(`passing-${round}`);
    }
    cluster.bind("later", { containers: [server()] });
    await cluster.untilTold("later", isReady, "Ready");
    signer.stop();
    watch.unsubscribe();
    const refused = (await node.daemon.metrics())
      .split("\n")
      .filter((line) => /requests_total\{code="4(01|03)"/.test(line));
    const listed = api.requests
      .slice(requestsBefore)
      .filter((line) => line.startsWith("GET /api/v1/pods?") && !/watch=true.*resourceVersion=[1-9]/.test(line));
    expect({ flips, ids: ids(), signed: signer.signed.length, refused, listed }).toEqual({
      flips: [],
      ids: idsBefore,
      signed: 2,
      refused: [],
      listed: [],
    });
  }, 180_000);
}
