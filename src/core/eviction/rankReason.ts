/** Why a pod has its place in the order of eviction. */
import type { PodRank } from "./ranking.ts";
import { exceedsRequest } from "./ranking.ts";
import { shortAmount } from "./shortAmount.ts";
import { resourceOf, type Signal } from "./thresholds.ts";

/**
 * Returns a text such as `uses 300Mi, 200Mi over its request; priority 0`. Nothing requests inodes or process IDs.
 */
export const rankReason = (signal: Signal, rank: PodRank): string =>
  `${usageReason(signal, rank)}; ${rank.isCritical ? "critical, never evicted" : `priority ${rank.priority}`}`;

function usageReason(signal: Signal, rank: PodRank): string {
  const { isMeasured, usage, request } = rank;
  if (!isMeasured) return "usage unknown";
  const resource = resourceOf(signal);
  if (resource === "pids" || resource === "inodes") return `uses ${usage} ${resource}`;
  const bytes = (amount: number): string => shortAmount(amount, "bytes");
  if (request === 0) return `uses ${bytes(usage)}, requests nothing`;
  return exceedsRequest(rank)
    ? `uses ${bytes(usage)}, ${bytes(usage - request)} over its request`
    : `uses ${bytes(usage)} of the ${bytes(request)} requested`;
}
