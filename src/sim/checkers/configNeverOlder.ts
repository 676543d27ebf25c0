/**
 * No container of a pod is created from an older version of its ConfigMap than an earlier container of the pod: the
 * object cache only moves forward, across broken watches, kubelet restarts and recreated objects.
 */
import type { SimChecker } from "../simChecker.ts";

export function configNeverOlder(): SimChecker {
  /** Newest ConfigMap revision used, by pod UID. */
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
        ? `${subject} is created from revision ${configRevision} of its ConfigMap after revision ${before}`
        : undefined;
    },
  };
}
