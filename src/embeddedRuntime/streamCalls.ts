/** Exec, Attach and PortForward: validates the requests and serves the streams. */
import type net from "node:net";
import type { Duplex, Readable, Writable } from "node:stream";
import { status } from "@grpc/grpc-js";
import type { RuntimeServiceDefinition } from "../gen/cri.ts";
import { openInput } from "./containerInput.ts";
import type { CommandEnd, CommandStreams } from "../criServer/commandStreams.ts";
import { checkStreams } from "../criServer/checkStreams.ts";
import { feed } from "../criServer/feed.ts";
import { forwardTo } from "../criServer/forwardTo.ts";
import { execPlace, runningContainer } from "./execPlace.ts";
import { type ExecProcess, startExec } from "./execProcess.ts";
import type { ServiceHandlers } from "../grpcServer/grpcService.ts";
import type { Runtime } from "./runtime.ts";
import type { LiveContainer } from "./registry.ts";
import { messageOf, RpcFault } from "../grpcServer/rpcFault.ts";
import type { StreamServer } from "../criServer/streamServer.ts";
import { followSizes, terminalFault } from "./terminal.ts";
import { within } from "../criServer/within.ts";

type Handlers = ServiceHandlers<RuntimeServiceDefinition["methods"]>;

/** The outputs of an exited command are read until no data arrives for this long. */
const DRAIN_MS = 500;
/**
 * Maximum unread output of an attached client before it is disconnected, so that a container never waits for a reader.
 */
const MAX_BEHIND_BYTES = 4 * 1024 * 1024;

/** Returns the handlers of the calls that return a URL. */
export function streamCalls(runtime: Runtime, server: StreamServer): Handlers {
  return {
    exec: async (request) => {
      const wanted = checkStreams(request);
      const fault = wanted.tty ? await terminalFault() : undefined;
      if (fault !== undefined) throw noTerminal(fault, "a plain -i works");
      const place = execPlace(runtime, request.containerId, request.cmd);
      return { url: server.urlFor({ kind: "exec", wanted, run: (streams) => exec(place, streams, wanted.tty) }) };
    },
    attach: (request) => {
      const wanted = checkStreams(request);
      if (wanted.tty) throw noTerminal("the output of a container goes to its log", "try again without -t");
      const live = runningContainer(runtime, request.containerId);
      return { url: server.urlFor({ kind: "attach", wanted, run: (streams) => attach(runtime, live, streams) }) };
    },
    portForward: ({ podSandboxId, port: ports }) => {
      const { id, ip, ready } = runtime.registry.sandbox(podSandboxId);
      if (!ready) throw new RpcFault(status.FAILED_PRECONDITION, `sandbox "${id}" is not ready`);
      const addresses = [...new Set([...(ip === "" ? [] : [ip]), "127.0.0.1", "::1"])];
      const forward = async (port: number, stream: Duplex): Promise<string | undefined> => {
        const problem = await forwardTo(addresses, port, stream);
        return problem && `error forwarding port ${port} to pod ${id}, uid : ${problem}`;
      };
      return { url: server.urlFor({ kind: "portforward", ports, forward }) };
    },
  };
}

const noTerminal = (why: string, instead: string): RpcFault =>
  new RpcFault(status.UNIMPLEMENTED, `the embedded runtime of rxlet has no terminal here: ${why}; ${instead}`);

async function exec(
  place: () => Parameters<typeof startExec>[0],
  streams: CommandStreams,
  tty: boolean,
): Promise<CommandEnd> {
  let process: ExecProcess;
  try {
    process = await startExec(place(), streams.stdin === undefined ? "ignore" : "pipe", tty);
  } catch (thrown) {
    return { kind: "failed", message: `error executing command in container: ${messageOf(thrown)}` };
  }
  const { child, exited, kill, release } = process;
  streams.gone.addEventListener("abort", kill);
  if (streams.gone.aborted) kill();
  try {
    feed(streams.stdin, child.stdin);
    if (streams.resize !== undefined && child.pid !== undefined) {
      followSizes(streams.resize, child.pid, streams.gone).catch(() => {});
    }
    join(child.stdout, streams.stdout);
    join(child.stderr, streams.stderr);
    const exitCode = await exited;
    kill();
    await drained(process, streams);
    return { kind: "exited", exitCode };
  } finally {
    streams.gone.removeEventListener("abort", kill);
    release();
  }
}

function join(from: Readable, to: Writable | undefined): void {
  if (to === undefined) from.resume();
  else from.pipe(to, { end: false });
}

/**
 * Resolves when the outputs have ended, or when a process that holds them open after the exit writes no more and the
 * client has taken all data.
 */
async function drained({ child, closed }: ExecProcess, { stdout, stderr, gone }: CommandStreams): Promise<void> {
  const bytesRead = (): number => (child.stdout as net.Socket).bytesRead + (child.stderr as net.Socket).bytesRead;
  let before = -1;
  while (!gone.aborted && (before !== bytesRead() || [stdout, stderr].some((stream) => stream?.writableNeedDrain))) {
    before = bytesRead();
    if (await within(DRAIN_MS, closed, gone)) return;
  }
}

/** Sends the container's output from now on; ends with the container, or when the client falls behind. */
async function attach(runtime: Runtime, live: LiveContainer, streams: CommandStreams): Promise<CommandEnd> {
  const { promise: left, resolve: leave } = Promise.withResolvers<CommandEnd>();
  const watcher = (stream: "stdout" | "stderr", chunk: Uint8Array): void => {
    const to = streams[stream];
    if (to === undefined || to.destroyed) return;
    if (to.writableLength > MAX_BEHIND_BYTES) {
      leave({ kind: "failed", message: `error attaching to container: ${MAX_BEHIND_BYTES} bytes of ${stream} unread` });
    } else to.write(Buffer.from(chunk));
  };
  live.watchers.add(watcher);
  streams.gone.addEventListener("abort", () => leave({ kind: "done" }));
  try {
    feed(streams.stdin, streams.stdin && openInput(runtime, live));
    return await Promise.race([left, (live.exited ?? Promise.resolve()).then((): CommandEnd => ({ kind: "done" }))]);
  } finally {
    live.watchers.delete(watcher);
    streams.stdin?.unpipe();
  }
}
