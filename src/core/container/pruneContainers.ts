/**
 * Which dead containers and sandboxes of a pod can go: of each container the newest attempt and the last one before it
 * that ran stay (for lastState and `logs --previous`). Counterpart: kuberuntime_gc.go with MaxPerPodContainer 1.
 * Differs from upstream: a new sandbox does not purge init containers, so that the logs of the last ones can be read.
 */
import type { PodRuntimeStatus, RuntimeContainer, RuntimeSandbox } from "../runtime/podRuntimeStatus.ts";

export interface PrunePlan {
  readonly containers: readonly RuntimeContainer[];
  readonly sandboxes: readonly RuntimeSandbox[];
}

/** What may be removed while the pod lives. */
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
