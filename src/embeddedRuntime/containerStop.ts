/** Ending containers: ask, wait, kill, remove. Every step may be repeated or overlap with another caller's. */
import { status } from "@grpc/grpc-js";
import { ContainerEventType } from "../gen/cri.ts";
import { stopSignal } from "./containerEnv.ts";
import type { LiveContainer } from "./registry.ts";
import type { Runtime } from "./runtime.ts";
import { RpcFault } from "./rpcFault.ts";
import { within } from "./within.ts";

/** A killed process that is not gone by then hangs in the kernel. */
const KILL_MS = 10_000;

/**
 * Sends the stop signal (once in a container's life), waits `graceMs`, kills. Each caller has a grace of its own, so a
 * later one with a shorter grace shortens it. Nothing to do unless running. DEADLINE_EXCEEDED when even a kill does
 * not end it; CANCELLED, without a kill, when `signal` aborts within the grace.
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

/** Kills the container if it runs, forgets it and deletes its files, except its log. */
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
