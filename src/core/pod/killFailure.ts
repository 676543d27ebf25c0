/**
 * Errors of stopping a pod, with upstream's texts. Upstream: SyncResult and PodSyncResult
 * (pkg/kubelet/container/sync_result.go).
 */
import type { KubeletError } from "../errors.ts";

/** Wraps the failure to stop a container (target: its name) or the sandboxes (target: the pod's UID). */
export function killFailure(
  action: "KillContainer" | "KillPodSandbox",
  target: string,
  error: KubeletError,
): KubeletError {
  const reason = `${action}Error`;
  const message = `failed to "${action}" for "${target}" with ${reason}: ${JSON.stringify(error.message)}`;
  return { ...error, reason, message };
}

/** Message of the FailedKillPod event: the only failure, or the list of distinct ones in brackets. */
export function killFailuresMessage(errors: readonly KubeletError[]): string {
  const messages = [...new Set(errors.map(({ message }) => message))];
  const [first] = messages;
  return `error killing pod: ${messages.length === 1 ? first : `[${messages.join(", ")}]`}`;
}
