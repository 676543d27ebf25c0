/**
 * Whether a pod needs another sandbox than the one it has. Upstream: runtimeutil.PodSandboxChanged.
 */
import type { Pod } from "../api.ts";
import type { SandboxId } from "../ids.ts";
import type { PodRuntimeStatus } from "../runtime/podRuntimeStatus.ts";

/** Verdict on the sandboxes of a pod. */
export interface SandboxChange {
  /** True when a new sandbox has to replace whatever there is. */
  readonly changed: boolean;
  /** Attempt of the sandbox in use, or of the one to create. */
  readonly attempt: number;
  /** The newest sandbox, if there is one. */
  readonly sandboxId: SandboxId | undefined;
}

/** Whether the pod runs in the node's own network namespace. */
export const isHostNetwork = (pod: Pod): boolean => pod.spec.hostNetwork === true;

/**
 * Judges the pod's sandboxes: a new one is needed when there is none, when the newest is not ready or not the only
 * ready one, when it has the wrong network, or when it has a network without an address.
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
