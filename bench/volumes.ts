/**
 * How soon the files of volumes follow their objects: `node bench/volumes.ts` [pods] [ConfigMaps] (root, containerd, CNI
 * plugins) against the HTTPS test double. Each ConfigMap is written in turn; a time is from the write until one pod has it.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type HttpsApiServer, startHttpsApiServer } from "../test/support/apiServer/httpsApiServer.ts";
import { writeNodeKubeconfig } from "../test/support/apiServer/nodeKubeconfig.ts";
import { NODE_NAME } from "../test/support/daemon.ts";
import { PAUSE_IMAGE } from "../test/support/images.ts";
import { newPod } from "../test/support/simApi.ts";
import { isRunning, onBenchNode, untilPods } from "./benchNode.ts";
import { printFigure, printRow, printTitle, wallMs } from "./figures.ts";
import { cpuMs } from "./processUse.ts";

const pods = Number(process.argv[2] ?? 100);
const maps = Number(process.argv[3] ?? 20);
const SETTLE_MS = 20_000;
const IDLE_MS = 30_000;
const ROUNDS = 3;
const POLL_MS = 2;

const write = ({ sim }: HttpsApiServer, map: number, text: string): void => {
  sim.put("configmaps", { metadata: { namespace: "default", name: `shared-${map}` }, data: { text } });
};

function bind({ sim }: HttpsApiServer, index: number): void {
  const volumes = [{ name: "settings", configMap: { name: `shared-${index % maps}`, defaultMode: 0o644 } }];
  const containers = [
    { name: "main", image: PAUSE_IMAGE, volumeMounts: [{ name: "settings", mountPath: "/settings" }] },
  ];
  const spec = { nodeName: NODE_NAME, terminationGracePeriodSeconds: 1, containers, volumes };
  sim.put("pods", newPod(`reader-${index}`, spec));
}

const api = await startHttpsApiServer();
try {
  await onBenchNode(
    async ({ folder, daemon }) => {
      for (let map = 0; map < maps; map += 1) write(api, map, "first");
      for (let index = 0; index < pods; index += 1) bind(api, index);
      await untilPods(daemon, pods, "Running", isRunning);
      await pause(SETTLE_MS);
      const readers = new Map((await daemon.pods()).map(({ metadata }) => [metadata.name, metadata.uid]));
      const fileOf = (index: number): string => {
        const volume = "volumes/kubernetes.io~configmap/settings/text";
        return join(folder, "kubelet", "pods", readers.get(`reader-${index}`) ?? "", volume);
      };
      const before = cpuMs(daemon.pid);
      await pause(IDLE_MS);
      const idle = ((cpuMs(daemon.pid) - before) / IDLE_MS) * 100;
      const took: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        for (let map = 0; map < maps; map += 1) {
          const text = `round ${round}`;
          const writtenAt = wallMs();
          write(api, map, text);
          const own = Array.from({ length: pods }, (_, index) => index).filter((index) => index % maps === map);
          await Promise.all(
            own.map(async (index) => {
              while ((await readFile(fileOf(index), "utf8")) !== text) await pause(POLL_MS);
              took.push(wallMs() - writtenAt);
            }),
          );
        }
      }
      printTitle(`${pods} pods, ${maps} ConfigMaps, ${took.length} changes of a file`);
      printRow("API event to file content, ms", took, "aim: p99 below 1000");
      printFigure("CPU of the daemon while nothing changes", idle, "%", "of one core");
    },
    async (folder) => ["--kubeconfig", await writeNodeKubeconfig(api, NODE_NAME, folder)],
  );
} finally {
  await api.close();
}
