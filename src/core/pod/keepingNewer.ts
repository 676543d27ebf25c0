/**
 * Keeps facts of a pod that the API server has not heard of: its end, and restarts of its containers. The kubelet alone
 * writes them, and may have them from disk. Upstream: none, since its pods have no status but the server's.
 */
import type { ApiContainerStatus, Pod } from "../api.ts";
import { isTerminalPhase } from "./phase.ts";

type Statuses = readonly ApiContainerStatus[] | undefined;
type ListName = "containerStatuses" | "initContainerStatuses" | "ephemeralContainerStatuses";

const LISTS: readonly ListName[] = ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"];

/** Returns the reported pod, with the facts of the known one of the same UID that its status lacks. */
export function keepingNewer(known: Pod | undefined, reported: Pod): Pod {
  const before = known?.status;
  if (before === undefined) return reported;
  if (isTerminalPhase(before.phase) && !isTerminalPhase(reported.status?.phase)) return { ...reported, status: before };
  const newer = LISTS.flatMap((list): readonly (readonly [ListName, Statuses])[] => {
    const merged = newerOf(before[list], reported.status?.[list]);
    return merged === reported.status?.[list] ? [] : [[list, merged]];
  });
  if (newer.length === 0) return reported;
  return { ...reported, status: { ...reported.status, ...Object.fromEntries(newer) } };
}

/** Returns the reported statuses, each replaced by the known one with more restarts; the same list if none is. */
function newerOf(known: Statuses, reported: Statuses): Statuses {
  const isLater = (status: ApiContainerStatus): boolean => {
    const other = reported?.find(({ name }) => name === status.name);
    return status.restartCount > (other?.restartCount ?? 0);
  };
  const later = known?.filter(isLater) ?? [];
  if (later.length === 0) return reported;
  const others = (reported ?? []).filter(({ name }) => !later.some((status) => status.name === name));
  return [...others, ...later];
}
