/** Decides whether a node under pressure admits a pod. Upstream: Admit of pkg/kubelet/eviction. */
import type { Pod } from "../api.ts";
import type { NodePressures } from "../node/nodeFacts.ts";
import { isCriticalPod } from "../pod/criticalPod.ts";
import { podQosClass } from "../pod/qos.ts";
import { type Taint, toleratesTaint } from "./nodeSelection.ts";

const MEMORY_TAINT: Taint = { key: "node.kubernetes.io/memory-pressure", effect: "NoSchedule" };

/**
 * Returns upstream's message of the rejection, including the blank at its end; undefined when the pod is admitted.
 * Critical pods are always admitted; under memory pressure alone, so are pods that are not BestEffort and pods that
 * tolerate it.
 */
export function pressureFault(pod: Pod, { memory, disk, pid }: NodePressures): string | undefined {
  if (!(memory || disk || pid) || isCriticalPod(pod)) return undefined;
  if (!disk && !pid && (podQosClass(pod) !== "BestEffort" || toleratesTaint(pod, MEMORY_TAINT))) return undefined;
  const conditions = [
    ...(memory ? ["MemoryPressure"] : []),
    ...(disk ? ["DiskPressure"] : []),
    ...(pid ? ["PIDPressure"] : []),
  ];
  return `The node had condition: [${conditions.join(" ")}]. `;
}
