/**
 * The dockershim: a CRI v1 server on a Unix socket over the Docker of this machine. Its state is in the labels of Docker's
 * containers, so it can be killed at any moment, and the next one goes on.
 * Upstream: cri-dockerd.
 */
import path from "node:path";
import { Server } from "@grpc/grpc-js";
import { createRecentKeys } from "../core/recentKeys.ts";
import { ImageServiceDefinition, RuntimeServiceDefinition } from "../gen/cri.ts";
import { startStreamServer, type StreamServer } from "../criServer/streamServer.ts";
import { grpcService } from "../grpcServer/grpcService.ts";
import { messageOf } from "../grpcServer/rpcFault.ts";
import { listenOnUnixSocket } from "../grpcServer/unixSocket.ts";
import { containerCalls } from "./containerCalls.ts";
import { followContainerEvents } from "./containerEvents.ts";
import type { ContainerEvents } from "./containerEvents.ts";
import { dockerCalls } from "./dockerCalls.ts";
import type { DockerCalls } from "./dockerCalls.ts";
import { socketOf } from "./engine/endpoint.ts";
import { createEngine } from "./engine/engine.ts";
import { isAway } from "./engine/engineFault.ts";
import { createFactsCache } from "./factsCache.ts";
import { imageCalls } from "./imageCalls.ts";
import { lastGood } from "./kept.ts";
import { createNetworkSweeps } from "./networkSweeps.ts";
import { nodeCalls } from "./nodeCalls.ts";
import type { PodNetwork } from "./podNetwork.ts";
import { sandboxCalls } from "./sandboxCalls.ts";
import { openSandboxNetworks } from "./sandboxNetworks.ts";
import type { Shim } from "./shim.ts";
import { openStartedCgroups } from "./startedCgroups.ts";
import { statsCalls } from "./statsCalls.ts";
import { streamCalls } from "./streamCalls.ts";
import { createWritableSizes } from "./writableSizes.ts";

/** Places, images and problem reports of the shim. */
export interface DockershimOptions {
  /** Unix socket path of at most 103 bytes, created with mode 0600. The socket of a dead process is replaced. */
  readonly socketPath: string;
  /** `unix:///var/run/docker.sock`, for example. */
  readonly dockerEndpoint: string;
  /** Created with mode 0700 if missing. Only one shim may use it at a time. */
  readonly stateDir: string;
  /** Image of pause containers; pulled if it is missing. */
  readonly podSandboxImage: string;
  /** The cgroup driver that Docker has to have; undefined accepts either. */
  readonly cgroupDriver?: "cgroupfs" | "systemd" | undefined;
  /** The network of sandboxes; without one Docker's bridge is used. */
  readonly network?: PodNetwork | undefined;
  /** Rotation of the logs of new containers, which Docker does; undefined leaves it to Docker's configuration. */
  readonly logRotation?: { readonly maxBytes: number; readonly maxFiles: number } | undefined;
  /** Address of the streaming server; the loopback address by default, which a kubelet of this machine needs. */
  readonly streamAddress?: string | undefined;
  /** Receives one line per problem that is not returned to a client. */
  readonly log: (line: string) => void;
}

/** A running dockershim. */
export interface Dockershim {
  /** Stops serving; containers keep running. */
  close(): Promise<void>;
}

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const INFO_MS = 60_000;
const MAX_UNSTARTED = 4_096;

/**
 * Starts the server; resolves when the socket accepts calls. Docker may be away then: calls fail until it is back.
 * Rejects for a Docker of an unknown version or with another cgroup driver.
 */
export async function runDockershim(options: DockershimOptions): Promise<Dockershim> {
  const { socketPath, dockerEndpoint, network, log, streamAddress } = options;
  const engine = createEngine(socketOf(dockerEndpoint));
  const docker = dockerCalls(engine);
  let streams: StreamServer | undefined;
  let events: ContainerEvents | undefined;
  const closed = new AbortController();
  const release = async (): Promise<void> => {
    closed.abort();
    events?.close();
    streams?.close();
    await engine.close();
  };
  try {
    await checkDocker(docker, options);
    const stateDir = path.resolve(options.stateDir);
    const networks = await openSandboxNetworks(stateDir, network, log);
    const shim: Shim = {
      docker,
      info: lastGood(
        INFO_MS,
        () => performance.now(),
        () => docker.info(),
      ),
      facts: createFactsCache(docker),
      unstarted: createRecentKeys(MAX_UNSTARTED),
      cgroups: await openStartedCgroups(stateDir),
      networks,
      sweeps: createNetworkSweeps(docker, networks, log, closed.signal),
      podSandboxImage: options.podSandboxImage,
      logOptions: logOptions(options),
      report: log,
    };
    streams = await startStreamServer(log, streamAddress);
    events = await followContainerEvents(shim, shim.sweeps.whole);
    const server = createServer(shim, streams, events);
    const removeSocket = await listenOnUnixSocket(server, socketPath);
    const close = async (): Promise<void> => {
      server.forceShutdown();
      await release().finally(removeSocket);
    };
    let closing: Promise<void> | undefined;
    return { close: () => (closing ??= close()) };
  } catch (thrown) {
    await release();
    throw thrown;
  }
}

function logOptions({ logRotation }: DockershimOptions): Readonly<Record<string, string>> {
  if (logRotation === undefined) return {};
  return { "max-size": String(logRotation.maxBytes), "max-file": String(logRotation.maxFiles) };
}

/** A Docker that is away is waited for by its callers; one that cannot be used at all is refused now. */
async function checkDocker(docker: DockerCalls, { cgroupDriver, log }: DockershimOptions): Promise<void> {
  const info = await docker.info().catch((thrown: unknown) => {
    if (!isAway(thrown)) throw thrown;
    log(`Docker does not answer yet: ${messageOf(thrown)}`);
    return undefined;
  });
  if (info === undefined || cgroupDriver === undefined || cgroupDriver === info.cgroupDriver) return;
  throw new Error(`the cgroup driver is to be ${cgroupDriver}, that of Docker is ${info.cgroupDriver}`);
}

function createServer(shim: Shim, streams: StreamServer, events: ContainerEvents): Server {
  const server = new Server({
    "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
    "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
  });
  const sizes = createWritableSizes(shim.docker, () => performance.now());
  const services = [
    grpcService(RuntimeServiceDefinition, {
      ...nodeCalls(shim),
      ...sandboxCalls(shim),
      ...containerCalls(shim),
      ...statsCalls(shim, sizes),
      ...streamCalls(shim, streams),
      getContainerEvents: (_request, sink) => events.subscribe(sink),
    }),
    grpcService(ImageServiceDefinition, imageCalls(shim, sizes)),
  ];
  for (const { definition, implementation } of services) server.addService(definition, implementation);
  return server;
}
