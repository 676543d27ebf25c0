/**
 * The kubelet's pod requests to the API server stay within the rate limit, also while the server fails and after it
 * recovers: only the turns of `ApiLanes.podTurn` delay them.
 */
import type { SimChecker } from "../simChecker.ts";

/** Defaults of `kubeAPIQPS` and `kubeAPIBurst`. */
const QPS = 50;
const BURST = 100;
const MS_PER_SECOND = 1000;
/** Tolerance for one unused turn, which stays valid for the next request, and for rounding. */
const TOLERANCE = 1.001;

export function writesInBounds(): SimChecker {
  /** Requests the bucket would still let through at `atMs`. */
  let left = BURST;
  let lastMs = 0;
  return {
    name: "writesInBounds",
    sees: ["request"],
    check({ kind, atMs }) {
      if (kind !== "request") return undefined;
      left = Math.min(BURST, left + ((atMs - lastMs) * QPS) / MS_PER_SECOND) - 1;
      lastMs = atMs;
      return left < -TOLERANCE ? `more than ${BURST} requests at once, or ${QPS} a second` : undefined;
    },
  };
}
