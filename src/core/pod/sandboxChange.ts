/** Decides whether a pod needs a new sandbox. Upstream: runtimeutil.PodSandboxChanged. */
import type { Pod } from "../api.ts";
import type { SandboxId } from "../ids.ts";
import type { PodRuntimeStatus } from "../runtime/podRuntimeStatus.ts";

/** The decision on a pod's sandboxes. */
export interface SandboxChange {
  /** Whether a new sandbox must replace the existing ones. */
  readonly changed: boolean;
  /** Attempt of the sandbox in use or to create. */
  readonly attempt: number;
  /** The newest sandbox, if any. */
  readonly sandboxId: SandboxId | undefined;
}

/** Whether the pod uses the node's network namespace. */
export const isHostNetwork = (pod: Pod): boolean => pod.spec.hostNetwork === true;

/**
 * Decides on the pod's sandboxes. A new one is needed when there is none, when the newest is not ready or not the only
 * ready one, when its network mode is wrong, or when it has a pod network without an address.
 */
export function sandboxChange(pod: Pod, runtime: PodRuntimeStatus): SandboxChange {
  const [newest] = runtime.sandboxes;
  if (newest === undefined) return { changed: true, attempt: 0, sandboxId: undefined };
  const readyCount = runtime.sandboxes.filter((sandbox) => sandbox.ready).length;
  const lacksAddress = !isHostNetwork(pod) && newest.networkUnknown !== true && newest.ips.length === 0;
  const isUsable = readyCount === 1 && newest.ready && newest.hostNetwork === isHostNetwork(pod) && !lacksAddress;
  if (isUsable) return { changed: false, attempt: newest.attempt, sandboxId: newest.id };
  return { changed: true, attempt: newest.attempt + 1, sandboxId: newest.id };
}
