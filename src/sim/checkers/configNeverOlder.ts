/**
 * No container of a pod is made from an older writing of its ConfigMap than one before it: what the node keeps of the
 * API server only moves forward, over watches that break, kubelets that start anew and objects made again.
 */
import type { SimChecker } from "../simChecker.ts";

export function configNeverOlder(): SimChecker {
  /** Newest writing seen, by pod UID. */
  const newest = new Map<string, number>();
  return {
    name: "configNeverOlder",
    sees: ["call"],
    check(observation) {
      if (observation.kind !== "call" || observation.configRevision === undefined) return undefined;
      const { podUid, configRevision, subject } = observation;
      const before = newest.get(podUid) ?? 0;
      newest.set(podUid, Math.max(before, configRevision));
      return configRevision < before
        ? `${subject} is made from writing ${configRevision} of its ConfigMap after writing ${before}`
        : undefined;
    },
  };
}
