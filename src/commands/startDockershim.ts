/** Starts the dockershim with the pod network of its options. Loaded by nodes on Docker alone. */
import { cniBinDirs, type DockerOptions } from "../cli/dockerFlags.ts";
import { createCniNetwork, type CniNetwork } from "../cni/cniNetwork.ts";
import { hasConfigurations } from "../cni/readNetwork.ts";
import { type Dockershim, runDockershim } from "../dockershim/runDockershim.ts";
import type { Logger } from "../ports/telemetry.ts";

/** Place and surroundings of a dockershim. */
export interface DockershimStart {
  readonly docker: DockerOptions;
  /** Path of its socket. */
  readonly socketPath: string;
  readonly stateDir: string;
  /** Whether the pods are those of a cluster, which need its network. */
  readonly isInCluster: boolean;
  /** Rotation of the logs of new containers; absent: that of Docker's configuration. */
  readonly logRotation?: { readonly maxBytes: number; readonly maxFiles: number };
  readonly log: Pick<Logger, "info" | "warn">;
}

/** Starts it; resolves when its socket accepts calls. Rejects with errors of Node and of the shim. */
export async function startDockershim(start: DockershimStart): Promise<Dockershim> {
  const { docker, socketPath, stateDir, logRotation, log } = start;
  const network = await openNetwork(start);
  log.info("Starting the dockershim", {
    docker: docker.dockerEndpoint,
    socket: socketPath,
    network: network === undefined ? "bridge" : "cni",
  });
  try {
    const shim = await runDockershim({
      socketPath,
      stateDir,
      dockerEndpoint: docker.dockerEndpoint,
      podSandboxImage: docker.podInfraContainerImage,
      network,
      logRotation,
      log: (line) => log.warn(`Dockershim: ${line}`),
    });
    return {
      close: async () => {
        network?.close();
        await shim.close();
      },
    };
  } catch (thrown) {
    network?.close();
    throw thrown;
  }
}

/** Opens the network by CNI plugins; undefined for Docker's own bridge. */
async function openNetwork({ docker, isInCluster, log }: DockershimStart): Promise<CniNetwork | undefined> {
  const { networkPlugin, cniConfDir: confDir, cniCacheDir: cacheDir } = docker;
  const isCni =
    networkPlugin === "cni" || (networkPlugin === "" && (isInCluster || (await hasConfigurations(confDir))));
  return isCni ? createCniNetwork({ confDir, cacheDir, binDirs: cniBinDirs(docker), log }) : undefined;
}
