/** Exec, Attach and PortForward: validates the requests and serves the streams. */
import { once } from "node:events";
import type { Duplex, Writable } from "node:stream";
import { status } from "@grpc/grpc-js";
import type { RuntimeServiceDefinition } from "../gen/cri.ts";
import { checkStreams } from "../criServer/checkStreams.ts";
import type { CommandEnd, CommandStreams } from "../criServer/commandStreams.ts";
import { feed } from "../criServer/feed.ts";
import { forwardTo } from "../criServer/forwardTo.ts";
import type { StreamServer } from "../criServer/streamServer.ts";
import { followSizes } from "../criServer/terminalSizes.ts";
import type { ServiceHandlers } from "../grpcServer/grpcService.ts";
import { messageOf, RpcFault } from "../grpcServer/rpcFault.ts";
import { demultiplex } from "./engine/demultiplex.ts";
import type { Engine, Hijacked } from "./engine/engine.ts";
import { createExec, execSync, exitCodeOf, killExec, startExec } from "./execCalls.ts";
import { networkOf } from "./sandboxCalls.ts";
import { forwardInside } from "./forwardInside.ts";
import type { Shim } from "./shim.ts";

type Handlers = ServiceHandlers<RuntimeServiceDefinition["methods"]>;

/** Returns the handlers of the calls that run commands or return a URL. */
export function streamCalls(shim: Shim, server: StreamServer): Handlers {
  const { docker } = shim;
  return {
    execSync: (request, signal) => execSync(shim, request, signal),
    exec: async (request) => {
      const wanted = checkStreams(request);
      const id = await createExec(shim, request.containerId, request.cmd, wanted);
      return {
        url: server.urlFor({ kind: "exec", wanted, run: (streams) => exec(docker.engine, id, streams, wanted.tty) }),
      };
    },
    attach: async (request) => {
      const wanted = checkStreams(request);
      const { id, running, tty } = await docker.inspect("container", request.containerId);
      if (!running) throw new RpcFault(status.FAILED_PRECONDITION, `container "${id}" is not running`);
      return {
        url: server.urlFor({ kind: "attach", wanted, run: (streams) => attach(docker.engine, id, streams, tty) }),
      };
    },
    portForward: async ({ podSandboxId, port: ports }) => {
      const sandbox = await docker.inspect("sandbox", podSandboxId);
      const { id, running, pid, networkMode } = sandbox;
      if (!running) throw new RpcFault(status.FAILED_PRECONDITION, `sandbox "${id}" is not ready`);
      const { ips } = await networkOf(shim, sandbox);
      const onHost = networkMode === "host";
      const forward = async (port: number, stream: Duplex): Promise<string | undefined> => {
        const problem = onHost
          ? await forwardTo(["127.0.0.1", "::1"], port, stream)
          : await forwardInside({ pid, ips }, port, stream);
        return problem && `error forwarding port ${port} to pod ${id}, uid : ${problem}`;
      };
      return { url: server.urlFor({ kind: "portforward", ports, forward }) };
    },
  };
}

/** A client that goes before the command takes the command with it. */
async function exec(engine: Engine, id: string, streams: CommandStreams, tty: boolean): Promise<CommandEnd> {
  try {
    const started = await startExec(engine, id, tty, streams.gone);
    const path = `/exec/${encodeURIComponent(id)}/resize`;
    await carry(engine, started, streams, tty, path);
    if (streams.gone.aborted) await killExec(engine, id);
    return { kind: "exited", exitCode: await exitCodeOf(engine, id) };
  } catch (thrown) {
    return { kind: "failed", message: `error executing command in container: ${messageOf(thrown)}` };
  }
}

/** Sends the container's output from now on, and input to it, until it ends or the client goes. */
async function attach(engine: Engine, id: string, streams: CommandStreams, tty: boolean): Promise<CommandEnd> {
  try {
    const hijacked = await engine.hijack({
      method: "POST",
      path: `/containers/${id}/attach`,
      query: {
        stream: true,
        stdin: streams.stdin !== undefined,
        stdout: streams.stdout !== undefined,
        stderr: streams.stderr !== undefined,
      },
      signal: streams.gone,
    });
    await carry(engine, hijacked, streams, tty, `/containers/${id}/resize`);
    return { kind: "done" };
  } catch (thrown) {
    return { kind: "failed", message: `error attaching to container: ${messageOf(thrown)}` };
  }
}

/** Carries data both ways until Docker ends the outputs; a client that does not read makes the command wait. */
async function carry(
  engine: Engine,
  { socket }: Hijacked,
  streams: CommandStreams,
  tty: boolean,
  resizePath: string,
): Promise<void> {
  const cut = (): void => void socket.destroy();
  streams.gone.addEventListener("abort", cut);
  if (streams.gone.aborted) cut();
  feed(streams.stdin, socket);
  if (streams.resize !== undefined) {
    const resize = async ({ rows, columns }: { readonly rows: number; readonly columns: number }): Promise<void> => {
      await engine.call({ method: "POST", path: resizePath, query: { h: rows, w: columns } }).catch(() => undefined);
    };
    followSizes(streams.resize, resize).catch(() => undefined);
  }
  try {
    if (tty) for await (const piece of socket) await give(streams.stdout, piece as Buffer, streams.gone);
    else await demultiplex(socket, (output, piece) => give(streams[output], piece, streams.gone));
  } catch (thrown) {
    if (!streams.gone.aborted) throw thrown;
  } finally {
    streams.gone.removeEventListener("abort", cut);
    streams.stdin?.unpipe(socket);
    streams.stdin?.resume();
    socket.destroy();
  }
}

/** Waits until the client has taken most of what it was given. */
async function give(to: Writable | undefined, piece: Buffer, gone: AbortSignal): Promise<void> {
  if (to === undefined || to.destroyed || to.write(piece)) return;
  await Promise.race([once(to, "drain", { signal: gone }), once(to, "close", { signal: gone })]).catch(() => undefined);
}
