/**
 * Decides which dead containers and sandboxes of a pod are removed. For each container, the newest attempt and the last
 * attempt before it that ran are kept (for lastState and `logs --previous`). Upstream: kuberuntime_gc.go with
 * MaxPerPodContainer 1.
 * Differs from upstream: a new sandbox does not remove the earlier init containers, so that their logs stay readable.
 */
import type { PodRuntimeStatus, RuntimeContainer, RuntimeSandbox } from "../runtime/podRuntimeStatus.ts";

/** The containers and sandboxes to remove. */
export interface PrunePlan {
  readonly containers: readonly RuntimeContainer[];
  readonly sandboxes: readonly RuntimeSandbox[];
}

/** Returns the containers and sandboxes that may be removed while the pod lives. */
export function planPrune(runtime: PodRuntimeStatus): PrunePlan {
  const newest = new Set<string>();
  const ended = new Set<string>();
  const containers: RuntimeContainer[] = [];
  const kept = new Set<string>();
  for (const container of runtime.containers) {
    const { name, state } = container;
    const isNewest = !newest.has(name);
    const isLastEnd = !isNewest && state === "exited" && !ended.has(name);
    newest.add(name);
    if (isLastEnd) ended.add(name);
    if (isNewest || isLastEnd || state === "running" || state === "unknown") kept.add(container.sandboxId);
    else containers.push(container);
  }
  const [, ...older] = runtime.sandboxes;
  return { containers, sandboxes: older.filter((sandbox) => !sandbox.ready && !kept.has(sandbox.id)) };
}
