/** Keeps a pod that has ended from running again. */
import type { Pod } from "../api.ts";
import { isTerminalPhase } from "./phase.ts";

/**
 * Returns the reported pod, with the status of the known one if that has ended. The server's status may be older: the
 * node ended the pod while the server was away, and has kept the end on disk.
 */
export function keepingEnd(known: Pod | undefined, reported: Pod): Pod {
  if (!isTerminalPhase(known?.status?.phase) || isTerminalPhase(reported.status?.phase)) return reported;
  return { ...reported, status: known?.status } as Pod;
}
