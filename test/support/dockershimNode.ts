/** A private Docker with a dockershim on it, and pods to make there. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { RuntimeUnderTest } from "../conformance/runtimeFixture.ts";
import type { RuntimeFeatures } from "../conformance/runtimeFixture.ts";
import type { PodNetwork } from "../../src/dockershim/podNetwork.ts";
import { runDockershim } from "../../src/dockershim/runDockershim.ts";
import type { Dockershim } from "../../src/dockershim/runDockershim.ts";
import { createCriClient } from "../../src/sinks/cri.ts";
import type { CriClient } from "../../src/sinks/cri.ts";
import type { DockerInstallation } from "./dockerInstallation.ts";
import { BUSYBOX_IMAGE, PAUSE_IMAGE } from "./images.ts";
import { startPrivateDocker } from "./privateDocker.ts";
import type { PrivateDocker } from "./privateDocker.ts";
import { realClock } from "./realClock.ts";

/** Features that suites on a dockershim may expect. */
export const DOCKER_FEATURES: RuntimeFeatures = {
  containerEvents: true,
  runtimeConfig: true,
  exec: true,
  logs: true,
  logFormat: "docker",
  mounts: true,
};

/** See the file header. */
export interface DockershimNode {
  readonly docker: PrivateDocker;
  readonly client: CriClient;
  readonly under: RuntimeUnderTest;
  /** Lines that the shim reported. */
  readonly reports: readonly string[];
  /** Ends the shim and starts another on the same state, as after a kill: the shim keeps nothing but files. */
  restartShim(network?: PodNetwork): Promise<void>;
  stop(): Promise<void>;
}

/** Starts both. */
export async function startDockershimNode(installation: DockerInstallation): Promise<DockershimNode> {
  const docker = await startPrivateDocker(installation);
  const logRoot = join(docker.folder, "logs");
  await mkdir(logRoot);
  const socketPath = join(docker.folder, "cri.sock");
  const reports: string[] = [];
  const start = (network?: PodNetwork): Promise<Dockershim> =>
    runDockershim({
      socketPath,
      dockerEndpoint: docker.endpoint,
      stateDir: join(docker.folder, "shim"),
      podSandboxImage: PAUSE_IMAGE,
      network,
      logRotation: { maxBytes: 64 * 1024, maxFiles: 3 },
      log: (line) => void reports.push(line),
    });
  let shim = await start();
  const client = createCriClient({ endpoint: `unix://${socketPath}`, clock: realClock, defaultDeadlineMs: 120_000 });
  const under = new RuntimeUnderTest({
    port: client,
    image: BUSYBOX_IMAGE,
    shell: ["/bin/sh", "-c"],
    logRoot,
    cgroupParent: docker.cgroupParent,
    features: DOCKER_FEATURES,
    close: () => docker.stop(),
  });
  return {
    docker,
    client,
    under,
    reports,
    restartShim: async (network) => {
      await shim.close();
      shim = await start(network);
    },
    stop: async () => {
      client.close();
      await shim.close();
      await docker.stop();
    },
  };
}
