/**
 * The embedded runtime: a CRI v1 server on a Unix socket whose containers are processes of this machine. For
 * development, tests and first steps; Linux and macOS, without root. Pods share the host network. Containers outlive
 * the runtime: the next one on the same state directory takes them over.
 * Upstream: none in the kubelet; it replaces containerd.
 */
import path from "node:path";
import { Server } from "@grpc/grpc-js";
import { ImageServiceDefinition, RuntimeServiceDefinition } from "../gen/cri.ts";
import { containerCalls } from "./containerCalls.ts";
import { createContainerEvents } from "./containerEvents.ts";
import { killStray } from "./containerProcess.ts";
import { adoptContainer } from "./containerStart.ts";
import { stopContainer } from "./containerStop.ts";
import { grpcService } from "../grpcServer/grpcService.ts";
import { imageCalls } from "./imageCalls.ts";
import { superviseScript } from "./launchScripts.ts";
import { nodeCalls } from "./nodeCalls.ts";
import { createRegistry } from "./registry.ts";
import type { Runtime } from "./runtime.ts";
import { messageOf } from "../grpcServer/rpcFault.ts";
import { sandboxCalls, stopSandbox } from "./sandboxCalls.ts";
import { openStateFiles } from "./stateFiles.ts";
import { lockStateDir } from "./stateLock.ts";
import { statsCalls } from "./statsCalls.ts";
import { streamCalls } from "./streamCalls.ts";
import { startStreamServer, type StreamServer } from "../criServer/streamServer.ts";
import { listenOnUnixSocket } from "../grpcServer/unixSocket.ts";
import { replaceFile } from "./replaceFile.ts";

/** Socket, state directory and problem reports of the runtime. */
export interface EmbeddedRuntimeOptions {
  /** Unix socket path of at most 103 bytes, created with mode 0600. The socket of a dead process is replaced. */
  readonly socketPath: string;
  /** Created with mode 0700 if missing. Only one runtime may use it at a time. */
  readonly stateDir: string;
  /** Receives one line per problem that is not returned to a client; standard error by default. */
  readonly report?: (line: string) => void;
}

/** A running embedded runtime. */
export interface EmbeddedRuntime {
  /**
   * Stops serving; may be called once. Containers keep running unless `stopContainers` is set: then each receives its
   * stop signal and is killed after `graceMs` (default 2000), and every sandbox becomes not ready.
   */
  close(options?: { readonly stopContainers?: boolean; readonly graceMs?: number }): Promise<void>;
}

const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const CLOSE_GRACE_MS = 2000;

/** Starts the server; resolves when the socket accepts calls and earlier containers are taken over. */
export async function runEmbeddedRuntime(options: EmbeddedRuntimeOptions): Promise<EmbeddedRuntime> {
  const report = options.report ?? ((line: string) => void process.stderr.write(`rxlet runtime: ${line}\n`));
  const stateDir = path.resolve(options.stateDir);
  const files = openStateFiles(stateDir);
  const unlock = await lockStateDir(stateDir);
  const registry = createRegistry(files, report);
  const superviseFile = path.join(stateDir, "supervise");
  const runtime: Runtime = { files, registry, events: createContainerEvents(registry), superviseFile, report };
  const streams = await startStreamServer(report);
  try {
    writeSuperviseScript(superviseFile);
    await restore(runtime);
    const server = createServer(runtime, streams);
    const removeSocket = await listenOnUnixSocket(server, options.socketPath);
    let closed: Promise<void> | undefined;
    return {
      close: (how = {}) => {
        closed ??= close(runtime, server, streams, how).finally(removeSocket).finally(unlock);
        return closed;
      },
    };
  } catch (thrown) {
    for (const live of registry.containers.values()) live.process?.detach();
    streams.close();
    unlock();
    throw thrown;
  }
}

/** Replaces the script by rename, because shells of running containers keep reading the old file. */
function writeSuperviseScript(file: string): void {
  replaceFile(file, superviseScript(process.platform));
}

async function restore(runtime: Runtime): Promise<void> {
  const { files, registry, report } = runtime;
  const { sandboxes, containers, setAside } = await files.load();
  for (const { from, to, reason } of setAside) {
    report(`${from} cannot be read (${reason}); it is moved aside to ${to}`);
    await killStray(from, to);
  }
  for (const sandbox of sandboxes) registry.addSandbox(sandbox);
  const live = containers.map((container) => registry.addContainer(container));
  await Promise.all(
    live.map((container) =>
      adoptContainer(runtime, container).catch((thrown: unknown) =>
        report(`container ${container.record.id} cannot be taken over: ${messageOf(thrown)}`),
      ),
    ),
  );
}

function createServer(runtime: Runtime, streams: StreamServer): Server {
  const server = new Server({
    "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
    "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
  });
  const services = [
    grpcService(RuntimeServiceDefinition, {
      ...nodeCalls(runtime),
      ...sandboxCalls(runtime),
      ...containerCalls(runtime),
      ...statsCalls(runtime),
      ...streamCalls(runtime, streams),
    }),
    grpcService(ImageServiceDefinition, imageCalls(runtime.files.root)),
  ];
  for (const { definition, implementation } of services) server.addService(definition, implementation);
  return server;
}

async function close(
  runtime: Runtime,
  server: Server,
  streams: StreamServer,
  how: { readonly stopContainers?: boolean; readonly graceMs?: number },
): Promise<void> {
  const { registry } = runtime;
  server.forceShutdown();
  streams.close();
  const live = [...registry.containers.values()];
  for (const { execs } of live) for (const kill of execs) kill();
  if (how.stopContainers === true) {
    await Promise.all(live.map((container) => stopContainer(container, how.graceMs ?? CLOSE_GRACE_MS)));
    await Promise.all([...registry.sandboxes.values()].map((sandbox) => stopSandbox(runtime, sandbox)));
    for (const container of live) await container.process?.swept();
  }
  for (const container of live) container.process?.detach();
}
