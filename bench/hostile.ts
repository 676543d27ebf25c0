/**
 * Measures what a hostile tenant costs its neighbours: `node bench/hostile.ts [pods] [small]` (root, containerd, CNI plugins) against the
 * HTTPS test double. Pods that behave are probed by HTTP every second; first they are alone (the floor), then the tenant
 * of test/support/hostileTenant.ts does everything at once, then all of its pods are deleted.
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startHttpsApiServer } from "../test/support/apiServer/httpsApiServer.ts";
import { writeNodeKubeconfig } from "../test/support/apiServer/nodeKubeconfig.ts";
import { deadMount, missingForDeadMounts } from "../test/support/deadMount.ts";
import { NODE_NAME } from "../test/support/daemon.ts";
import { fillTree, giveHostileObjects, hostilePods } from "../test/support/hostileTenant.ts";
import { BUSYBOX_IMAGE } from "../test/support/images.ts";
import { newPod } from "../test/support/simApi.ts";
import { waitFor } from "../test/support/waitFor.ts";
import { onBenchNode, untilPods } from "./benchNode.ts";
import { printFigure, printRow, printTitle, wallMs } from "./figures.ts";
import { latenessOf, startProbeTarget } from "./probeArrivals.ts";
import { memoryMib } from "./processUse.ts";

const pods = Number(process.argv[2] ?? 30);
/** Shows that it runs, without figures of use. */
const isSmall = process.argv[3] === "small";
const PERIOD_MS = 1_000;
const SETTLE_MS = isSmall ? 1_000 : 15_000;
const FLOOR_MS = isSmall ? 5_000 : 30_000;
const ATTACK_MS = isSmall ? 40_000 : 90_000;
const GONE_MS = 300_000;
const RENEWAL_MS = 10_000;
const SIZE = isSmall ? { files: 5_000, depth: 1_500, mounts: 200 } : { files: 300_000, depth: 5_000, mounts: 10_000 };

const api = await startHttpsApiServer();
const target = await startProbeTarget();
const folderOfTenant = await mkdtemp(join(tmpdir(), "rxlet-tenant-"));
const treeOfTenant = join(folderOfTenant, "tree");
const deadPlace = join(folderOfTenant, "dead");
const hasDead = missingForDeadMounts().length === 0;
if (!hasDead) console.log("no /dev/fuse: no volumes on a dead server");
await mkdir(deadPlace);
const dead = hasDead ? deadMount(deadPlace) : undefined;
try {
  await fillTree(treeOfTenant, SIZE.files);
  await onBenchNode(
    async ({ daemon }) => {
      const { sim } = api;
      const bind = (name: string, spec: object): void => {
        sim.put("pods", newPod(name, { nodeName: NODE_NAME, terminationGracePeriodSeconds: 1, ...spec }));
      };
      const names = Array.from({ length: pods }, (_, index) => `good-${index}`);
      for (const name of names) {
        const httpGet = { host: "127.0.0.1", port: target.port, path: `/${name}` };
        const readinessProbe = { httpGet, periodSeconds: 1 };
        const command = ["/bin/sleep", "3600"];
        // An ordinary pod: scratch space and a configuration that belongs to its group.
        const volumeMounts = ["scratch", "config"].map((volume) => ({ name: volume, mountPath: `/${volume}` }));
        const main = { name: "main", image: BUSYBOX_IMAGE, command, readinessProbe, volumeMounts };
        const volumes = [
          { name: "scratch", emptyDir: {} },
          { name: "config", downwardAPI: { items: [{ path: "name", fieldRef: { fieldPath: "metadata.name" } }] } },
        ];
        bind(name, { containers: [main], volumes, securityContext: { fsGroup: 2_000 } });
      }
      await untilPods(daemon, pods, "Ready", ({ status }) =>
        Boolean(status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True")),
      );
      let peakMib = 0;
      const sampler = setInterval(() => {
        peakMib = Math.max(peakMib, memoryMib(daemon.pid).rss);
      }, 250);
      await pause(SETTLE_MS);
      const renewals: number[] = [];
      sim.changes$.subscribe(({ resource }) => {
        if (resource === "leases") renewals.push(wallMs());
      });
      await target.arrivals();
      await pause(FLOOR_MS);
      const floor = await target.arrivals();
      const aloneMib = peakMib;

      const hostile = hostilePods({ ...SIZE, ...(hasDead && { dead: deadPlace }) });
      await giveHostileObjects(sim, treeOfTenant);
      for (const { name, spec } of hostile) bind(name, spec);
      await pause(ATTACK_MS);
      const attacked = await target.arrivals();
      const deletedAt = wallMs();
      for (const { name } of hostile) sim.delete("pods", { namespace: "default", name }, { gracePeriodSeconds: 1 });
      const isThere = (name: string): boolean => sim.object("pods", { namespace: "default", name }) !== undefined;
      await waitFor("the tenant to be gone", () => !hostile.some(({ name }) => isThere(name)), GONE_MS).catch(
        (error: unknown) => {
          console.error(
            `left: ${hostile
              .map(({ name }) => name)
              .filter(isThere)
              .join(" ")}`,
          );
          throw error;
        },
      );
      const goneMs = wallMs() - deletedAt;
      const afterwards = await target.arrivals();
      clearInterval(sampler);

      console.log(`\n${pods} pods with HTTP readiness every second beside ${hostile.length} hostile pods`);
      printTitle("after its due time, ms");
      printRow("HTTP probe, alone", latenessOf(floor, PERIOD_MS), "floor");
      printRow("HTTP probe, under attack", latenessOf(attacked, PERIOD_MS), "aim: at most 100");
      printRow("HTTP probe, while the tenant is removed", latenessOf(afterwards, PERIOD_MS), "aim: at most 100");
      const gaps = renewals.map((at, index) => at - (renewals[index - 1] ?? at) - RENEWAL_MS);
      printRow("renewal of the lease", gaps.slice(1), "at most a retry late");
      printFigure("peak of the daemon's RSS, alone", aloneMib, "MiB", "floor");
      printFigure("growth of the peak under attack", peakMib - aloneMib, "MiB", "aim: at most 50");
      printFigure("deleted -> all gone", goneMs / 1000, "s");
    },
    async (folder) => [
      "--kubeconfig",
      await writeNodeKubeconfig(api, NODE_NAME, folder),
      "--cert-dir",
      join(folder, "pki"),
    ],
  );
} finally {
  dead?.close();
  target.close();
  await api.close();
  await rm(folderOfTenant, { recursive: true });
}
