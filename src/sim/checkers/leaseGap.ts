/** While the kubelet runs and the API server is up, the lease of the node never gets as old as it lasts. */
import type { SimChecker } from "../simChecker.ts";

const MS_PER_SECOND = 1_000;
/** Until a lease says otherwise. */
const USUAL_DURATION_MS = 40_000;

export function leaseGap(): SimChecker {
  let durationMs = USUAL_DURATION_MS;
  let isRunning = false;
  let isUp = false;
  /** The last renewal, or since when there could be one. */
  let sinceMs = 0;
  let isTold = false;
  return {
    name: "leaseGap",
    check(observation) {
      const { kind, atMs } = observation;
      const gapMs = atMs - sinceMs;
      const isBroken = isRunning && isUp && gapMs >= durationMs && !isTold;
      if (kind === "kubelet") isRunning = observation.what === "started";
      if (kind === "apiServer") isUp = observation.isUp;
      if (kind === "lease") durationMs = observation.durationSeconds * MS_PER_SECOND;
      if (kind === "kubelet" || kind === "apiServer" || kind === "lease") {
        sinceMs = atMs;
        isTold = false;
      }
      if (!isBroken) return undefined;
      isTold = kind !== "lease";
      return `the lease was not renewed for ${Math.round(gapMs / MS_PER_SECOND)} s`;
    },
  };
}
