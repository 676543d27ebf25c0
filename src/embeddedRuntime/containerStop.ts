/** Stops and removes containers. Every step is idempotent and may run concurrently with another caller's. */
import { status } from "@grpc/grpc-js";
import { ContainerEventType } from "../gen/cri.ts";
import { stopSignal } from "./containerEnv.ts";
import type { LiveContainer } from "./registry.ts";
import type { Runtime } from "./runtime.ts";
import { RpcFault } from "../grpcServer/rpcFault.ts";
import { within } from "../criServer/within.ts";

/** A process that has not exited this long after SIGKILL is stuck in the kernel. */
const KILL_MS = 10_000;

/**
 * Sends the stop signal (once per container), waits `graceMs`, then kills. Each caller has its own grace period, so a
 * later call with a shorter one shortens it. Does nothing unless the container runs. Throws DEADLINE_EXCEEDED if the
 * container survives SIGKILL; CANCELLED, without a kill, if `signal` aborts during the grace period.
 */
export async function stopContainer(live: LiveContainer, graceMs: number, signal?: AbortSignal): Promise<void> {
  const { process: running, exited, record } = live;
  if (running === undefined || exited === undefined || record.phase.kind !== "running") return;
  if (graceMs > 0) {
    if (!live.stopSignalled) {
      live.stopSignalled = true;
      await running.settled();
      running.signal(stopSignal(record.config));
    }
    if (await within(graceMs, exited, signal)) return;
    if (signal?.aborted === true)
      throw new RpcFault(status.CANCELLED, `stop of container "${record.id}" was cancelled`);
  }
  running.signal("SIGKILL");
  if (await within(KILL_MS, exited)) return;
  throw new RpcFault(status.DEADLINE_EXCEEDED, `container "${record.id}" did not end ${KILL_MS} ms after its kill`);
}

/** Kills the container if it runs, removes its record and deletes its files except the log. */
export function removeContainer(runtime: Runtime, live: LiveContainer): Promise<void> {
  live.removal ??= remove(runtime, live).finally(() => {
    live.removal = undefined;
  });
  return live.removal;
}

async function remove({ registry, files, events }: Runtime, live: LiveContainer): Promise<void> {
  await stopContainer(live, 0);
  await live.process?.swept();
  live.process?.detach();
  const { id, sandboxId } = live.record;
  if (!registry.containers.has(id)) return;
  registry.dropContainer(id);
  const removed = files.remove("containers", id);
  events.emit(id, ContainerEventType.CONTAINER_DELETED_EVENT, sandboxId);
  await removed;
}
