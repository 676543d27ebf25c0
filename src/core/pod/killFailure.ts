/** What could not be stopped, in upstream's words. Counterpart: SyncResult and PodSyncResult (container/sync_result.go). */
import type { KubeletError } from "../errors.ts";

/** The failure to stop one thing of a pod: a container by its name, or the sandboxes by the uid of the pod. */
export function killFailure(
  action: "KillContainer" | "KillPodSandbox",
  target: string,
  error: KubeletError,
): KubeletError {
  const reason = `${action}Error`;
  const message = `failed to "${action}" for "${target}" with ${reason}: ${JSON.stringify(error.message)}`;
  return { ...error, reason, message };
}

/** Message of the event FailedKillPod: the one failure, or all that differ, in brackets. */
export function killFailuresMessage(errors: readonly KubeletError[]): string {
  const messages = [...new Set(errors.map(({ message }) => message))];
  const [first] = messages;
  return `error killing pod: ${messages.length === 1 ? first : `[${messages.join(", ")}]`}`;
}
