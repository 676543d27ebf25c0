/** While the kubelet runs and the API server is up, the kubelet renews the node lease before it expires. */
import type { SimChecker } from "../simChecker.ts";

const MS_PER_SECOND = 1_000;
/** Lease duration until a lease with another duration is observed. */
const USUAL_DURATION_MS = 40_000;

export function leaseGap(): SimChecker {
  let durationMs = USUAL_DURATION_MS;
  let isRunning = false;
  let isUp = false;
  /** The last renewal, or the instant since which a renewal is possible. */
  let sinceMs = 0;
  let isReported = false;
  return {
    name: "leaseGap",
    check(observation) {
      const { kind, atMs } = observation;
      const gapMs = atMs - sinceMs;
      const isBroken = isRunning && isUp && gapMs >= durationMs && !isReported;
      if (kind === "kubelet") isRunning = observation.what === "started";
      if (kind === "apiServer") isUp = observation.isUp;
      if (kind === "lease") durationMs = observation.durationSeconds * MS_PER_SECOND;
      if (kind === "kubelet" || kind === "apiServer" || kind === "lease") {
        sinceMs = atMs;
        isReported = false;
      }
      if (!isBroken) return undefined;
      isReported = kind !== "lease";
      return `the lease was not renewed for ${Math.round(gapMs / MS_PER_SECOND)} s`;
    },
  };
}
