/**
 * The kubelet never asks more of the API server about pods than its rate lets through, also when the server fails and
 * when it comes back: nothing but the turns it takes (`ApiLanes.podTurn`) holds its requests back.
 */
import type { SimChecker } from "../simChecker.ts";

/** Defaults of `kubeAPIQPS` and `kubeAPIBurst`. */
const QPS = 50;
const BURST = 100;
const MS_PER_SECOND = 1000;
/** A turn that found nothing to say is kept for the next request; and rounding. */
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
