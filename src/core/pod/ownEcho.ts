/**
 * Recognizes the API server's answer to a status that this kubelet has written. Upstream: HandlePodReconcile, which wakes no
 * pod worker for a change of the status alone.
 */
import { sameForeignStatus } from "../api/podStatusMerge.ts";
import type { Pod } from "../api.ts";
import { sameValue } from "../sameValue.ts";
import { isTerminalPhase } from "./phase.ts";
import type { PodCommand } from "./podRegistryTypes.ts";

/**
 * Returns whether a command repeats the one before: only the version of the object has changed, and fields of its status that
 * kubelets write. A worker that has reported a status of its own needs none of them.
 */
export function isOwnEcho(before: PodCommand | undefined, command: PodCommand): boolean {
  if (before?.phase !== "sync" || command.phase !== "sync" || command.restoredSize !== undefined) return false;
  const { pod: known, hardware, refused } = before;
  return (
    known.spec === command.pod.spec &&
    isTerminalPhase(known.status?.phase) === isTerminalPhase(command.pod.status?.phase) &&
    sameForeignStatus(known.status, command.pod.status) &&
    sameValue(unversioned(known), unversioned(command.pod)) &&
    sameValue([hardware, refused], [command.hardware, command.refused])
  );
}

const unversioned = ({ metadata: { resourceVersion: _ofWrites, ...rest } }: Pod): unknown => rest;
