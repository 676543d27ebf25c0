/** Resolves where an exec command runs in a container. */
import { status } from "@grpc/grpc-js";
import { findExecutable } from "./containerEnv.ts";
import { launchPlace } from "./containerStart.ts";
import type { ExecPlace } from "./execProcess.ts";
import type { LiveContainer } from "./registry.ts";
import { invalidArgument, messageOf, RpcFault } from "../grpcServer/rpcFault.ts";
import type { Runtime } from "./runtime.ts";

/** Returns the container. Throws FAILED_PRECONDITION unless it is running. */
export function runningContainer({ registry }: Runtime, id: string): LiveContainer {
  const live = registry.container(id);
  if (live.record.phase.kind === "running") return live;
  throw new RpcFault(status.FAILED_PRECONDITION, `container "${live.record.id}" is ${live.record.phase.kind}`);
}

/**
 * Validates a command; the returned function looks up its executable. Throws INVALID_ARGUMENT for an invalid command.
 * The function throws UNKNOWN if the executable does not exist, FAILED_PRECONDITION if the container has exited.
 */
export function execPlace(runtime: Runtime, containerId: string, cmd: readonly string[]): () => ExecPlace {
  const [name = "", ...args] = cmd;
  if (name === "") throw invalidArgument("cmd", "a command is required");
  if (cmd.some((word) => word.includes("\0"))) throw invalidArgument("cmd", "holds a NUL character");
  runningContainer(runtime, containerId);
  return () => {
    const { record, execs } = runningContainer(runtime, containerId);
    const { workingDir, searchPath } = launchPlace(runtime, record, runtime.registry.sandbox(record.sandboxId));
    try {
      const command = [findExecutable(name, workingDir, searchPath), ...args];
      return { containerDir: runtime.files.containerDir(record.id), workingDir, command, running: execs };
    } catch (thrown) {
      throw new RpcFault(status.UNKNOWN, `failed to exec in container "${record.id}": ${messageOf(thrown)}`);
    }
  };
}
