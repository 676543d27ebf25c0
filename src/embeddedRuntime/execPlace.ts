/** Where a command beside a container's main process runs, for who asks for one. */
import { status } from "@grpc/grpc-js";
import { findExecutable } from "./containerEnv.ts";
import { launchPlace } from "./containerStart.ts";
import type { ExecPlace } from "./execProcess.ts";
import type { LiveContainer } from "./registry.ts";
import { invalidArgument, messageOf, RpcFault } from "./rpcFault.ts";
import type { Runtime } from "./runtime.ts";

/** The container; FAILED_PRECONDITION unless it runs. */
export function runningContainer({ registry }: Runtime, id: string): LiveContainer {
  const live = registry.container(id);
  if (live.record.phase.kind === "running") return live;
  throw new RpcFault(status.FAILED_PRECONDITION, `container "${live.record.id}" is ${live.record.phase.kind}`);
}

/**
 * Checks a command now, and finds it when called. Throws INVALID_ARGUMENT for what is no command; the function UNKNOWN
 * when there is no such program, FAILED_PRECONDITION when the container has ended.
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
