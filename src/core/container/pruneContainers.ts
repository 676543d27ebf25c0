/**
 * Decides which dead containers and sandboxes of a pod its worker removes. For each container, the newest attempt stays,
 * and as many earlier ones that have exited as garbage collection keeps, but at least one (for lastState and `logs
 * --previous`). Upstream: pod_container_deletor.go. Differs from upstream: the newest attempt does not count, so that
 * nothing is removed between an exit and its report; sandboxes do not wait for garbage collection; and a new sandbox
 * does not remove the earlier init containers, so that their logs stay readable.
 */
import type { PodRuntimeStatus, RuntimeContainer, RuntimeSandbox } from "../runtime/podRuntimeStatus.ts";

/** The containers and sandboxes to remove. */
export interface PrunePlan {
  readonly containers: readonly RuntimeContainer[];
  readonly sandboxes: readonly RuntimeSandbox[];
}

/** Returns the containers and sandboxes that may be removed while the pod lives. */
export function planPrune(runtime: PodRuntimeStatus, maxPerContainer: number): PrunePlan {
  const keep = Math.max(1, maxPerContainer);
  const seen = new Set<string>();
  const exits = new Map<string, number>();
  const stays = ({ name, state }: RuntimeContainer): boolean => {
    const isNewest = !seen.has(name);
    seen.add(name);
    if (isNewest || state !== "exited") return isNewest || state !== "created";
    const count = (exits.get(name) ?? 0) + 1;
    exits.set(name, count);
    return count <= keep;
  };
  const containers: RuntimeContainer[] = [];
  const kept = new Set<string>();
  for (const container of runtime.containers) {
    if (stays(container)) kept.add(container.sandboxId);
    else containers.push(container);
  }
  const [, ...older] = runtime.sandboxes;
  return { containers, sandboxes: older.filter((sandbox) => !sandbox.ready && !kept.has(sandbox.id)) };
}
