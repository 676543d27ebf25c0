/**
 * The kubelet evicts a pod only after the containers of the last evicted pod have ended, or after it has waited for
 * them for half a minute. A hard threshold does not wait for a pod that was evicted at a soft one.
 */
import { amountText } from "../../core/eviction/thresholds.ts";
import type { KubeletConfig } from "../../core/kubeletConfig.ts";
import type { SimChecker } from "../simChecker.ts";
import type { liveContainers } from "./liveContainers.ts";
import { type NodeEviction, nodeEvictionOf } from "./nodeEvictions.ts";

/** Upstream: podCleanupTimeout. */
const WAIT_MS = 30_000;

export function oneEvictionAtATime(
  live: ReturnType<typeof liveContainers>,
  { evictionThresholds }: Pick<KubeletConfig, "evictionThresholds">,
): SimChecker {
  const soft = evictionThresholds.filter(({ graceMs }) => graceMs > 0);
  const isSoft = ({ threshold }: NodeEviction): boolean =>
    soft.some(({ least }) => "units" in least && amountText(least, 0) === threshold);
  let last: NodeEviction | undefined;
  return {
    name: "oneEvictionAtATime",
    sees: ["event", "kubelet", "wanted", "change"],
    check(observation) {
      live.look(observation);
      if (observation.kind === "kubelet") last = undefined;
      const eviction = nodeEvictionOf(observation);
      if (eviction === undefined) return undefined;
      const before = last;
      last = eviction;
      if (before === undefined || eviction.atMs - before.atMs >= WAIT_MS) return undefined;
      if (isSoft(before) && !isSoft(eviction)) return undefined;
      const [running] = live.ofPod(before.podUid);
      return running && `${eviction.subject} was evicted while ${running.subject} of the last evicted pod runs`;
    },
  };
}
